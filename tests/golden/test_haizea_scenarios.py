"""The golden scenarios of the specification, on exact instants (haizea, section 9.6).

Four hosts of one core and 1,024 MB; a suspension or resumption of one VM takes 32 s.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import pytest

from lease_scheduler.engine.interfaces import Operation
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Migration, PlanningOptions
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.metrics import all_best_effort, waiting_times
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_ONE_CORE = Resources({VCPU: 100, MEMORY_MB: 1024})


def _seconds(clock: str) -> int:
    """Return ``H:MM`` or ``H:MM:SS`` in seconds."""
    hours, minutes, seconds = (*map(int, clock.split(":")), 0)[:3]
    return hours * 3600 + minutes * 60 + seconds


def _clock(instant: int) -> str:
    return f"{instant // 3600}:{instant // 60 % 60:02}:{instant % 60:02}"


def _best_effort(arrival: str, nodes: int, duration: str, real: str | None = None) -> WorkloadLease:
    return _lease(LeaseKind.BEST_EFFORT, arrival, nodes, None, duration, None, real)


def _reservation(arrival: str, nodes: int, start: str, duration: str, real: str | None = None) -> WorkloadLease:
    return _lease(LeaseKind.RESERVATION, arrival, nodes, start, duration, None, real)


def _deadline(arrival: str, nodes: int, start: str, duration: str, deadline: str) -> WorkloadLease:
    return _lease(LeaseKind.DEADLINE, arrival, nodes, start, duration, deadline, None)


def _lease(
    kind: LeaseKind,
    arrival: str,
    nodes: int,
    start: str | None,
    duration: str,
    deadline: str | None,
    real: str | None,
) -> WorkloadLease:
    request = LeaseRequest(
        "",
        kind,
        (NodeSet(nodes, _ONE_CORE),),
        _seconds(arrival),
        _seconds(duration),
        None if start is None else _seconds(start),
        None if deadline is None else _seconds(deadline),
        preemptible=kind is not LeaseKind.RESERVATION,
    )
    return WorkloadLease(request, None if real is None else _seconds(real))


@dataclass(frozen=True)
class Scenario:
    """A workload and the expected schedule.

    :ivar leases: L1, L2 and so on
    :ivar expected: for each lease every phase as ``phase start-end hosts``, hosts from 1; nothing for a rejected lease
    :ivar preemption: preemption policy
    :ivar migration: whether saved memory may move
    """

    leases: tuple[WorkloadLease, ...]
    expected: tuple[tuple[str, ...], ...]
    preemption: str = "ar-preempts-everything"
    migration: Migration = Migration.YES


_G1 = (_best_effort("0:00", 1, "1:00"), _reservation("0:15", 4, "0:30", "0:30"))
_G2 = (_best_effort("0:00", 1, "1:00", real="0:45"), _reservation("0:15", 4, "0:30", "0:15"))
_G3 = (_best_effort("0:00", 1, "1:00", real="0:45"), _reservation("0:15", 4, "0:30", "0:15", real="0:10"))
_G10 = (
    _reservation("0:00", 2, "0:01:30", "1:00"),
    _reservation("0:00", 2, "0:30", "1:00"),
    _best_effort("0:00", 2, "1:00"),
)
_AFTER_G3 = (
    (
        "run 0:00:00-0:29:28 1",
        "suspend 0:29:28-0:30:00 1",
        "resume 0:40:00-0:40:32 1",
        "run 0:40:32-0:56:04 1",
    ),
    ("run 0:30:00-0:40:00 1,2,3,4",),
)

SCENARIOS = {
    "G1 preemption": Scenario(
        _G1,
        (
            (
                "run 0:00:00-0:29:28 1",
                "suspend 0:29:28-0:30:00 1",
                "resume 1:00:00-1:00:32 1",
                "run 1:00:32-1:31:04 1",
            ),
            ("run 0:30:00-1:00:00 1,2,3,4",),
        ),
    ),
    "G2 early end": Scenario(
        _G2,
        (
            (
                "run 0:00:00-0:29:28 1",
                "suspend 0:29:28-0:30:00 1",
                "resume 0:45:00-0:45:32 1",
                "run 0:45:32-1:01:04 1",
            ),
            ("run 0:30:00-0:45:00 1,2,3,4",),
        ),
    ),
    "G3 early end of both, migration no": Scenario(_G3, _AFTER_G3, migration=Migration.NO),
    # The lease stays where its memory is, so it does not have to wait for a migration.
    "G3 early end of both, migration yes": Scenario(_G3, _AFTER_G3),
    "G4 reservation of the queue's head": Scenario(
        (_best_effort("0:00", 1, "1:00"), _best_effort("0:15", 4, "0:15")),
        (("run 0:00:00-1:00:00 1",), ("run 1:00:00-1:15:00 1,2,3,4",)),
    ),
    "G5 the head comes forward after an early end": Scenario(
        (_best_effort("0:00", 1, "1:00", real="0:30"), _best_effort("0:15", 4, "0:15")),
        (("run 0:00:00-0:30:00 1",), ("run 0:30:00-0:45:00 1,2,3,4",)),
    ),
    "G6 queue": Scenario(
        (_best_effort("0:00", 4, "0:15"),) * 8,
        tuple((f"run {_clock(position * 900)}-{_clock((position + 1) * 900)} 1,2,3,4",) for position in range(8)),
    ),
    "G10 migration yes": Scenario(
        _G10,
        (
            ("run 0:01:30-1:01:30 1,2",),
            ("run 0:30:00-1:30:00 3,4",),
            (
                "run 0:00:00-0:29:28 3,4",
                "suspend 0:29:28-0:30:00 3,4",
                "migrate 0:30:00-0:31:22 3>1,4>2",
                "resume 1:01:30-1:02:02 1,2",
                "run 1:02:02-1:32:34 1,2",
            ),
        ),
    ),
    "G10 migration no": Scenario(
        _G10,
        (
            ("run 0:01:30-1:01:30 1,2",),
            ("run 0:30:00-1:30:00 3,4",),
            (
                "run 0:00:00-0:29:28 3,4",
                "suspend 0:29:28-0:30:00 3,4",
                "resume 1:30:00-1:30:32 3,4",
                "run 1:30:32-2:01:04 3,4",
            ),
        ),
        migration=Migration.NO,
    ),
    "D1 moved to the back": Scenario(
        (_deadline("0:00", 4, "0:30", "0:30", "1:45"), _deadline("0:15", 4, "0:30", "0:30", "1:00")),
        (("run 1:00:00-1:30:00 1,2,3,4",), ("run 0:30:00-1:00:00 1,2,3,4",)),
        preemption="deadline",
    ),
    "D2 suspended for one with less slack": Scenario(
        (_deadline("0:00", 4, "0:30", "1:00", "3:00"), _deadline("0:20", 4, "1:00", "0:30", "1:30")),
        (
            (
                "run 0:30:00-0:59:28 1,2,3,4",
                "suspend 0:59:28-1:00:00 1,2,3,4",
                "resume 1:30:00-1:30:32 1,2,3,4",
                "run 1:30:32-2:01:04 1,2,3,4",
            ),
            ("run 1:00:00-1:30:00 1,2,3,4",),
        ),
        preemption="deadline",
    ),
    "D3 both fit as asked": Scenario(
        (_deadline("0:00", 4, "1:00", "0:30", "1:30"), _deadline("0:15", 4, "0:30", "0:30", "1:30")),
        (("run 1:00:00-1:30:00 1,2,3,4",), ("run 0:30:00-1:00:00 1,2,3,4",)),
        preemption="deadline",
    ),
    "D4 rejected": Scenario(
        (_deadline("0:00", 4, "1:00", "0:30", "1:30"), _deadline("0:15", 4, "1:00", "0:30", "1:40")),
        (("run 1:00:00-1:30:00 1,2,3,4",), ()),
        preemption="deadline",
    ),
    "D5 suspended while it runs": Scenario(
        (_deadline("0:00", 4, "0:30", "1:00", "2:15"), _deadline("0:45", 4, "1:00", "0:30", "1:30")),
        (
            (
                "run 0:30:00-0:59:28 1,2,3,4",
                "suspend 0:59:28-1:00:00 1,2,3,4",
                "resume 1:30:00-1:30:32 1,2,3,4",
                "run 1:30:32-2:01:04 1,2,3,4",
            ),
            ("run 1:00:00-1:30:00 1,2,3,4",),
        ),
        preemption="deadline",
    ),
    "D6 the one with most slack gives way": Scenario(
        (
            _deadline("0:00", 4, "0:30", "0:30", "1:30"),
            _deadline("0:15", 4, "0:30", "1:00", "3:00"),
            _deadline("0:45", 4, "1:00", "0:30", "2:00"),
        ),
        (
            ("run 0:30:00-1:00:00 1,2,3,4",),
            ("run 1:30:00-2:30:00 1,2,3,4",),
            ("run 1:00:00-1:30:00 1,2,3,4",),
        ),
        preemption="deadline",
    ),
    "D7 a late one among two": Scenario(
        (
            _deadline("0:00", 4, "1:00", "0:30", "1:30"),
            _deadline("0:15", 4, "0:30", "1:00", "3:00"),
            _deadline("1:15", 4, "1:45", "0:15", "2:00"),
        ),
        (
            ("run 1:00:00-1:30:00 1,2,3,4",),
            (
                "run 1:30:00-1:44:28 1,2,3,4",
                "suspend 1:44:28-1:45:00 1,2,3,4",
                "resume 2:00:00-2:00:32 1,2,3,4",
                "run 2:00:32-2:46:04 1,2,3,4",
            ),
            ("run 1:45:00-2:00:00 1,2,3,4",),
        ),
        preemption="deadline",
    ),
    "D9 the victim with large slack": Scenario(
        (
            _deadline("0:00", 2, "0:30", "1:00", "10:00"),
            _deadline("0:00", 2, "0:30", "1:00", "2:00"),
            _deadline("0:15", 2, "0:45", "0:30", "1:15"),
        ),
        (
            (
                "run 0:30:00-0:44:28 1,2",
                "suspend 0:44:28-0:45:00 1,2",
                "resume 1:15:00-1:15:32 1,2",
                "run 1:15:32-2:01:04 1,2",
            ),
            ("run 0:30:00-1:30:00 3,4",),
            ("run 0:45:00-1:15:00 1,2",),
        ),
        preemption="deadline",
    ),
    "D13 least slack first": Scenario(
        (
            _deadline("0:00", 4, "0:30", "2:00", "10:00"),
            _deadline("0:35", 4, "0:45", "0:15", "1:00"),
            _deadline("0:40", 4, "1:15", "0:15", "2:00"),
        ),
        (
            (
                "run 0:30:00-0:44:28 1,2,3,4",
                "suspend 0:44:28-0:45:00 1,2,3,4",
                "resume 1:30:00-1:30:32 1,2,3,4",
                "run 1:30:32-3:16:04 1,2,3,4",
            ),
            ("run 0:45:00-1:00:00 1,2,3,4",),
            ("run 1:15:00-1:30:00 1,2,3,4",),
        ),
        preemption="deadline",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_phase_is_at_its_instant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """haizea F46-F59, section 9.6: every run, suspension, migration and resumption, to the second and on its hosts."""
    scenario = SCENARIOS[name]
    workload = _workload(scenario)
    planning = PlanningOptions(suspend_rate=32, resume_rate=32, migration=scenario.migration, migration_bandwidth=100)
    run = Run(
        workload, RunSettings(policies={"preemption": scenario.preemption}, planning=planning, check_invariants=True)
    )
    operations: list[Operation] = []
    begin = run.cloud.begin

    def recorded(operation: Operation) -> None:
        operations.append(operation)
        begin(operation)

    monkeypatch.setattr(run.cloud, "begin", recorded)

    result = run.execute()

    check_result(result, workload)
    assert _phases(result, operations) == {
        f"L{number}": phases for number, phases in enumerate(scenario.expected, start=1)
    }
    for lease in result.leases:
        if phases := scenario.expected[int(lease.lease_id[1:]) - 1]:
            first, last = (_instants(phase) for phase in (phases[0], phases[-1]))
            assert (lease.state, lease.started, lease.ended) == (LeaseState.DONE, first[0], last[1])
        else:
            assert (lease.state, lease.started) == (LeaseState.REJECTED, None)
            assert lease.ended == lease.request.submitted


def test_queue_is_over_after_two_hours_and_waits_add_up() -> None:
    """haizea F83, G6: the metrics of the queue scenario."""
    result = Run(_workload(SCENARIOS["G6 queue"]), RunSettings()).execute()

    assert all_best_effort(result) == _seconds("2:00")
    assert waiting_times(result.leases).tolist() == [position * 900 for position in range(8)]


@pytest.mark.parametrize(
    ("rate", "users_rate", "price", "state"),
    [("0.10", 1.0, 0.40, LeaseState.DONE), ("1.00", 0.5, 4.00, LeaseState.REJECTED_BY_USER)],
    ids=["P1", "P2"],
)
def test_a_lease_is_done_or_rejected_by_its_user(rate: str, users_rate: float, price: float, state: LeaseState) -> None:
    """haizea F77, F78, P1 and P2: four node-hours for a user with a highest price per node-hour."""
    lease = _reservation("0:00", 4, "0:30", "1:00")
    asked = replace(lease.request, lease_id="L1", extras={"simul_userrate": str(users_rate)})
    workload = Workload("scenario", (replace(lease, request=asked),), Site.homogeneous(4, _ONE_CORE))
    settings = RunSettings(
        policies={"pricing": "constant"}, policy_options={"pricing_rate": rate}, check_invariants=True
    )
    (found,) = Run(workload, settings).execute().leases

    assert (found.state, found.grant.price) == (state, price)


def test_the_adaptive_rate_of_one_user() -> None:
    """haizea F80, A1: up until the user rejects a rate, then the middle."""
    hours = [_reservation("0:00", 1, f"{hour}:00", "1:00") for hour in range(6)]
    asked = [
        replace(lease.request, lease_id=f"L{number}", user="one", extras={"simul_userrate": "3"})
        for number, lease in enumerate(hours)
    ]
    leases = tuple(WorkloadLease(request) for request in asked)
    workload = Workload("scenario", leases, Site.homogeneous(4, _ONE_CORE))
    result = Run(workload, RunSettings(policies={"pricing": "adaptive"})).execute()

    assert [lease.grant.price for lease in result.leases] == [1, 1.5, 2.25, 3.375, 2.8125, 2.8125]
    assert result.leases[3].state is LeaseState.REJECTED_BY_USER


def _workload(scenario: Scenario) -> Workload:
    named = [
        replace(lease, request=replace(lease.request, lease_id=f"L{number}"))
        for number, lease in enumerate(scenario.leases, start=1)
    ]
    named.sort(key=lambda lease: lease.request.submitted)
    return Workload("scenario", tuple(named), Site.homogeneous(4, _ONE_CORE))


def _phases(result: RunResult, operations: list[Operation]) -> dict[str, tuple[str, ...]]:
    """Return the phases of each lease, in the form of ``Scenario.expected``."""
    found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for o in result.occupations:
        hosts = ",".join(str(host + 1) for host in o.assignment)
        found[o.lease_id].append((o.start, f"{o.phase.value} {_clock(o.start)}-{_clock(o.end)} {hosts}"))
    for operation in operations:
        if operation.migration is not None:
            moves = ",".join(f"{origin + 1}>{target + 1}" for _, origin, target in operation.migration.moves)
            instants = f"{_clock(operation.begun)}-{_clock(operation.due)}"
            found[operation.lease_id].append((operation.begun, f"migrate {instants} {moves}"))
    return {lease.lease_id: tuple(text for _, text in sorted(found[lease.lease_id])) for lease in result.leases}


def _instants(phase: str) -> tuple[int, int]:
    start, end = phase.split()[1].split("-")
    return _seconds(start), _seconds(end)
