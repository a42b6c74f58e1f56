"""Our own scenario files, in which kinds of leases compete, under all suspension and migration settings (haizea F57).

They resemble Haizea's scenario files: four hosts of one core and 1,024 MB; a suspension or resumption of one VM takes
32 s. Each file describes its conflict.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Migration, PlanningOptions, RoomLead, Suspension
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings

_FOLDER = Path(__file__).parent / "data" / "meeting"
_NOBODY: frozenset[str] = frozenset()
#: Leases refused under all settings, because accepting them would break a promise.
_REFUSED = {
    "before-it-begins": _NOBODY,
    "beside": frozenset({"4"}),
    "best-effort-too": _NOBODY,
    "chain": _NOBODY,
    "deadline-meets-deadline": frozenset({"3"}),
    "deadline-waits-for-deadline": _NOBODY,
    "no-slack": frozenset({"2"}),
    "short-notice": _NOBODY,
    "slack": _NOBODY,
    "slack-but-a-second": frozenset({"2"}),
    "two": _NOBODY,
    "two-of-which-one-stays": frozenset({"4"}),
}
#: Leases refused where the deadline lease in their way cannot be suspended: starting over, it would be too late.
_REFUSED_WITHOUT_SUSPENSION = {
    "chain-until-the-slack-is-used-up": (frozenset({"5"}), frozenset({"4"})),
    "slack-of-one-node": (_NOBODY, frozenset({"2"})),
    "slack-to-the-second": (_NOBODY, frozenset({"2"})),
}
_SUSPENDS_ONE_NODE = frozenset({"slack-of-one-node"})
_SETTINGS = list(product(Suspension, Migration, ("deadline", "by-kind"), RoomLead))


def _refused(name: str, suspension: Suspension) -> frozenset[str]:
    if name in _REFUSED:
        return _REFUSED[name]
    suspended, starts_over = _REFUSED_WITHOUT_SUSPENSION[name]
    saves = suspension is Suspension.ALL or (suspension is Suspension.SERIAL_ONLY and name in _SUSPENDS_ONE_NODE)
    return suspended if saves else starts_over


def test_every_file_has_its_expectation() -> None:
    """No file is left out."""
    assert sorted(path.stem for path in _FOLDER.glob("*.lwf")) == sorted(_REFUSED | _REFUSED_WITHOUT_SUSPENSION)


@pytest.mark.parametrize("name", sorted(_REFUSED | _REFUSED_WITHOUT_SUSPENSION))
def test_promises_are_kept_and_all_that_fits_is_accepted(name: str) -> None:
    """Every accepted lease gets what was promised, and only those leases are refused that have to be."""
    workload = read_lwf(_FOLDER / f"{name}.lwf")
    for suspension, migration, policy, room_lead in _SETTINGS:
        planning = PlanningOptions(
            suspend_rate=32,
            resume_rate=32,
            suspension=suspension,
            migration=migration,
            room_lead=room_lead,
            backfilling_limit=1,
            slack_threshold=1.2,
            least_slack_first=True,
        )
        settings = RunSettings(
            policies={"preemption": policy}, planning=planning, deadline_preemption=True, check_invariants=True
        )
        result = Run(workload, settings).execute()
        check_result(result, workload)
        ended = {lease.lease_id: lease for lease in result.leases}
        told = (name, suspension.value, migration.value, policy, room_lead.value)
        refused = {key for key, lease in ended.items() if lease.state is LeaseState.REJECTED}
        assert refused == _refused(name, suspension), told
        for lease in workload.leases:
            asked, found = lease.request, ended[lease.request.lease_id]
            if found.lease_id in refused:
                continue
            assert found.state is LeaseState.DONE, told
            if asked.kind is LeaseKind.DEADLINE:
                assert asked.deadline is not None and found.ended is not None
                assert found.ended <= asked.deadline, told
            elif asked.kind is LeaseKind.RESERVATION and room_lead is not RoomLead.STRICT:
                assert found.started == asked.start, told
