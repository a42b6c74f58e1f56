"""Waits of leases, and which of them are too long (contention F51, F69)."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CollectorRegistry

from lease_scheduler.model.delays import AcceptableWait
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.history import Transition
from lease_scheduler.service.core.metrics.delays import DelayMetrics

S = LeaseState


class Counting:
    """The metrics of a site without pools, and their values."""

    def __init__(self, acceptable: AcceptableWait) -> None:
        self.registry = CollectorRegistry()
        self.metrics = DelayMetrics(self.registry, (None,), acceptable)

    def changed(self, lease: Lease, before: LeaseState, instant: int) -> None:
        transition = Transition(lease.lease_id, instant, before.value, lease.state.value, "")
        self.metrics.changed(lease, transition)

    def waits(self, kind: LeaseKind = LeaseKind.BEST_EFFORT, origin: str = "") -> tuple[float | None, float | None]:
        """Return the numbers of acceptable and of too long waits."""
        values = [
            self.registry.get_sample_value(
                "lease_scheduler_lease_waits_total", {"kind": kind.value, "result": result, "origin": origin}
            )
            for result in ("acceptable", "too-long")
        ]
        return values[0], values[1]


def waiting(kind: LeaseKind = LeaseKind.BEST_EFFORT, start: int | None = None, origin: str | None = None) -> Lease:
    """Return a lease of 60 s that was submitted at 100."""
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    deadline = 5_000 if kind is LeaseKind.DEADLINE else None
    request = LeaseRequest("a", kind, nodes, 100, 60, start=start, deadline=deadline, origin=origin)
    return Lease(request, 0, S.READY)


def running(lease: Lease, since: int) -> Lease:
    return replace(lease, state=S.ACTIVE, started=since)


def test_a_wait_is_judged_at_the_first_run_only() -> None:
    counting = Counting(AcceptableWait(factor=2.0))
    lease = waiting()
    counting.changed(running(lease, 220), S.READY, 220)
    counting.changed(running(lease, 221), S.READY, 221)
    assert counting.waits() == (1, 1)
    counting.changed(running(lease, 221), S.RESUMED_READY, 900)
    counting.changed(running(lease, 221), S.ACTIVE, 221)
    counting.changed(replace(running(lease, 221), state=S.DONE, ended=1_000), S.ACTIVE, 1_000)
    assert counting.waits() == (1, 1)


def test_a_limit_in_seconds_is_the_same_for_all() -> None:
    counting = Counting(AcceptableWait(seconds=10, factor=1_000.0))
    counting.changed(running(waiting(), 110), S.READY, 110)
    counting.changed(running(waiting(), 111), S.READY, 111)
    assert counting.waits() == (1, 1)


def test_a_lease_that_never_ran_counts_if_it_has_waited_too_long() -> None:
    counting = Counting(AcceptableWait(seconds=10))
    ended = replace(waiting(), state=S.CANCELLED)
    counting.changed(ended, S.QUEUED, 110)
    assert counting.waits() == (0, 0)
    counting.changed(ended, S.QUEUED, 111)
    assert counting.waits() == (0, 1)
    counting.changed(ended, S.CANCELLED, 500)
    assert counting.waits() == (0, 1)


def test_the_wait_of_a_deadline_lease_begins_with_its_earliest_start() -> None:
    counting = Counting(AcceptableWait(seconds=10))
    kind = LeaseKind.DEADLINE
    counting.changed(running(waiting(kind, start=1_000), 1_010), S.READY, 1_010)
    counting.changed(replace(waiting(kind, start=1_000), state=S.CANCELLED), S.QUEUED, 500)
    assert counting.waits(kind) == (1, 0)


def test_reservations_do_not_wait() -> None:
    counting = Counting(AcceptableWait(seconds=10))
    counting.changed(running(waiting(LeaseKind.RESERVATION, start=1_000), 2_000), S.READY, 2_000)
    counting.changed(replace(waiting(LeaseKind.RESERVATION, start=1_000), state=S.FAILED), S.READY, 2_000)
    assert counting.waits(LeaseKind.RESERVATION) == (None, None)


def test_leases_of_peers_are_counted_by_their_origin() -> None:
    counting = Counting(AcceptableWait(seconds=10))
    counting.changed(running(waiting(origin="north"), 111), S.READY, 111)
    assert counting.waits() == (0, 0)
    assert counting.waits(origin="north") == (None, 1)
