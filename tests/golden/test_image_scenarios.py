"""The golden scenarios with disk images, on exact instants (haizea G7-G9, section 9.6).

Four hosts of one core and 1,024 MB; an image has 1,024 MB and takes 82 s at 100 Mb/s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_ONE_CORE = Resources({VCPU: 100, MEMORY_MB: 1024})
_POOLS = TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES)
_NO_POOLS = TransferOptions(bandwidth=100)


def _seconds(clock: str) -> int:
    """Return ``H:MM`` or ``H:MM:SS`` in seconds."""
    hours, minutes, seconds = (*map(int, clock.split(":")), 0)[:3]
    return hours * 3600 + minutes * 60 + seconds


def _clock(instant: int) -> str:
    return f"{instant // 3600}:{instant // 60 % 60:02}:{instant % 60:02}"


def _lease(
    kind: LeaseKind, arrival: str, nodes: int, duration: str, image: str, start: str | None = None
) -> WorkloadLease:
    return WorkloadLease(
        LeaseRequest(
            "",
            kind,
            (NodeSet(nodes, _ONE_CORE),),
            _seconds(arrival),
            _seconds(duration),
            None if start is None else _seconds(start),
            preemptible=kind is LeaseKind.BEST_EFFORT,
            software=DiskImage(image, 1024),
        )
    )


def _best_effort(arrival: str, nodes: int, duration: str, image: str) -> WorkloadLease:
    return _lease(LeaseKind.BEST_EFFORT, arrival, nodes, duration, image)


def _reservation(arrival: str, nodes: int, start: str, duration: str, image: str) -> WorkloadLease:
    return _lease(LeaseKind.RESERVATION, arrival, nodes, duration, image, start)


@dataclass(frozen=True)
class Scenario:
    """A workload and the expected schedule.

    :ivar leases: L1, L2 and so on
    :ivar transfers: ``image start-end hosts``, hosts from 1
    :ivar runs: the run of each lease as ``start-end hosts``
    :ivar options: how images are transferred
    """

    leases: tuple[WorkloadLease, ...]
    transfers: tuple[str, ...]
    runs: tuple[str, ...]
    options: TransferOptions = _POOLS


_G9 = (_reservation("0:00", 4, "0:02", "0:13", "X"), _best_effort("0:00", 4, "0:15", "X"))

SCENARIOS = {
    "G7 reuse": Scenario(
        (_reservation("0:00", 1, "0:15", "0:15", "X"), _best_effort("0:45", 1, "0:15", "X")),
        ("X 0:13:38-0:15:00 1",),
        ("0:15:00-0:30:00 1", "0:45:00-1:00:00 1"),
    ),
    "G7 without pools": Scenario(
        (_reservation("0:00", 1, "0:15", "0:15", "X"), _best_effort("0:45", 1, "0:15", "X")),
        ("X 0:13:38-0:15:00 1", "X 0:45:00-0:46:22 1"),
        ("0:15:00-0:30:00 1", "0:46:22-1:01:22 1"),
        _NO_POOLS,
    ),
    "G8 image preference": Scenario(
        (
            _reservation("0:00", 2, "0:15", "0:15", "A"),
            _reservation("0:00", 2, "0:15", "0:15", "B"),
            _best_effort("0:45", 1, "0:15", "B"),
        ),
        ("A 0:12:16-0:13:38 1,2", "B 0:13:38-0:15:00 3,4"),
        ("0:15:00-0:30:00 1,2", "0:15:00-0:30:00 3,4", "0:45:00-1:00:00 3"),
    ),
    "G9 piggyback": Scenario(
        _G9, ("X 0:00:38-0:02:00 1,2,3,4",), ("0:02:00-0:15:00 1,2,3,4", "0:15:00-0:30:00 1,2,3,4")
    ),
    "G9 without pools": Scenario(
        _G9,
        ("X 0:00:38-0:02:00 1,2,3,4",),
        ("0:02:00-0:15:00 1,2,3,4", "0:15:00-0:30:00 1,2,3,4"),
        _NO_POOLS,
    ),
    "G9 with a transfer for everybody": Scenario(
        _G9,
        ("X 0:00:38-0:02:00 1,2,3,4", "X 0:02:00-0:03:22 1,2,3,4"),
        ("0:02:00-0:15:00 1,2,3,4", "0:15:00-0:30:00 1,2,3,4"),
        replace(_NO_POOLS, avoid_redundant=False),
    ),
    "one host after the other": Scenario(
        (_reservation("0:00", 2, "0:15", "0:15", "X"), _best_effort("0:00", 2, "0:10", "Y")),
        ("Y 0:00:00-0:02:44 1,2", "X 0:12:16-0:15:00 1,2"),
        ("0:15:00-0:30:00 1,2", "0:02:44-0:12:44 1,2"),
        replace(_NO_POOLS, mechanism=Mechanism.UNICAST),
    ),
    "earliest due date first": Scenario(
        (
            _reservation("0:00", 1, "0:16", "0:10", "A"),
            _reservation("0:00", 1, "0:15", "0:10", "B"),
            _reservation("0:01", 1, "0:15:30", "0:10", "C"),
        ),
        ("B 0:11:54-0:13:16 2", "C 0:13:16-0:14:38 3", "A 0:14:38-0:16:00 1"),
        ("0:16:00-0:26:00 1", "0:15:00-0:25:00 2", "0:15:30-0:25:30 3"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_transfer_and_run_is_at_its_instant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """haizea F60-F66: to the second, and on the right hosts."""
    scenario = SCENARIOS[name]
    leases = [
        replace(lease, request=replace(lease.request, lease_id=f"L{number}"))
        for number, lease in enumerate(scenario.leases, start=1)
    ]
    workload = Workload("scenario", tuple(leases), Site.homogeneous(4, _ONE_CORE))
    planning = PlanningOptions(suspend_rate=32, resume_rate=32, migration_bandwidth=100)
    run = Run(workload, RunSettings(planning=planning, transfers=scenario.options, check_invariants=True))
    brought: list[Transfer] = []
    bring = run.cloud.bring

    def recorded(transfer: Transfer, now: int) -> None:
        assert transfer.start == now
        brought.append(transfer)
        bring(transfer, now)

    monkeypatch.setattr(run.cloud, "bring", recorded)

    result = run.execute()

    check_result(result, workload)
    assert tuple(_text(t.image.image_id, t.start, t.end, tuple(sorted(t.hosts))) for t in brought) == scenario.transfers
    runs = {o.lease_id: _text("", o.start, o.end, o.assignment).strip() for o in result.occupations}
    assert tuple(runs[lease.request.lease_id] for lease in leases) == scenario.runs
    assert all(lease.state is LeaseState.DONE for lease in result.leases)
    assert result.counters["image_transfers"] == len(scenario.transfers)


def _text(what: str, start: int, end: int, hosts: tuple[int, ...]) -> str:
    return f"{what} {_clock(start)}-{_clock(end)} {','.join(str(host + 1) for host in hosts)}"
