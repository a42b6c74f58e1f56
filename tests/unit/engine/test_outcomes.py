"""What policies that learn are told of the life of leases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.outcomes import Outcomes, outcomes_of
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.admission.accept_all import AcceptAll
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import MakeWorld, request


class _Diary(AcceptAll):
    """Accepts everything and writes down what it is told."""

    def __init__(self) -> None:
        super().__init__(PolicyOptions())
        self.entries: list[tuple[int, str, str]] = []

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        self.entries.append((now, lease.lease_id, outcome.value))


def test_only_policies_that_override_observe_are_told() -> None:
    """A policy needs no declaration besides its method."""
    assert _Diary.observes and not AcceptAll.observes


def test_the_life_of_a_preempted_lease(make_world: MakeWorld) -> None:
    """A best-effort lease is suspended for a reservation, resumes, and its servers end before its time."""
    world = make_world(
        WorkloadLease(request("batch", LeaseKind.BEST_EFFORT, duration=1000), real_duration=900),
        request("meeting", LeaseKind.RESERVATION, duration=100, submitted=50, start=500),
        request("refused", LeaseKind.RESERVATION, nodes=2, duration=100, submitted=60, start=500),
        hosts=1,
    )
    diary = _Diary()
    world.run.engine._state.outcomes = Outcomes(lambda: [AcceptAll(PolicyOptions()), diary])
    world.end()

    assert diary.entries == [
        (0, "batch", "queued"),
        (0, "batch", "placed"),
        (0, "batch", "started"),
        (50, "meeting", "placed"),
        (50, "batch", "preempted"),
        (60, "refused", "refused"),
        (500, "batch", "queued"),
        (500, "meeting", "started"),
        (500, "batch", "placed"),
        (600, "meeting", "done"),
        (632, "batch", "started"),
        (1064, "batch", "done"),
    ]


_RUN = Holding((0,), 0, 0, 100, 100)
_CUT = Holding((0,), 0, 0, 50, 80, Closing.SUSPEND)
_KILLED = Holding((0,), 0, 0, 80, 80, Closing.KILL)
_READY = Lease(request("1", LeaseKind.BEST_EFFORT), 1, LeaseState.READY, holdings=(_RUN,))
_LONGER = replace(_READY.request, duration=7_200)


def _lease(state: LeaseState, *holdings: Holding, since: int | None = None, started: int | None = None) -> Lease:
    return Lease(_READY.request, 1, state, holdings=holdings, active_since=since, started=started)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, _lease(LeaseState.QUEUED), [Outcome.QUEUED]),
        (None, _lease(LeaseState.READY, _RUN), [Outcome.PLACED]),
        (_lease(LeaseState.QUEUED), _lease(LeaseState.QUEUED), []),
        (_lease(LeaseState.QUEUED), replace(_lease(LeaseState.QUEUED), request=_LONGER), [Outcome.CHANGED]),
        (_lease(LeaseState.QUEUED), _lease(LeaseState.READY, _CUT), [Outcome.PLACED]),
        (_READY, _lease(LeaseState.QUEUED), [Outcome.PREEMPTED, Outcome.QUEUED]),
        (_READY, _lease(LeaseState.READY, Holding((1,), 9, 9, 109, 109)), [Outcome.PLACED]),
        (_READY, _lease(LeaseState.READY, _CUT), [Outcome.PREEMPTED]),
        (_READY, _lease(LeaseState.ACTIVE, _RUN, since=0, started=0), [Outcome.STARTED]),
        (_lease(LeaseState.SUSPENDING, _CUT), _lease(LeaseState.SUSPENDED_QUEUED), [Outcome.QUEUED]),
        (_lease(LeaseState.ACTIVE, _KILLED, since=0), _lease(LeaseState.QUEUED), [Outcome.QUEUED]),
        (_READY, _lease(LeaseState.QUEUED, started=5), [Outcome.STARTED, Outcome.PREEMPTED, Outcome.QUEUED]),
        (_lease(LeaseState.ACTIVE, _RUN, since=0, started=0), _lease(LeaseState.DONE, started=0), [Outcome.DONE]),
        (_READY, _lease(LeaseState.FAILED, started=5), [Outcome.STARTED, Outcome.FAILED]),
        (_READY, _lease(LeaseState.REJECTED_BY_USER), [Outcome.DECLINED]),
        (_READY, _lease(LeaseState.CANCELLED), [Outcome.CANCELLED]),
    ],
)
def test_what_a_change_amounts_to(before: Lease | None, after: Lease, expected: list[Outcome]) -> None:
    """A suspension or an end that was planned is no preemption; a place that is lost or cut is one."""
    assert outcomes_of(before, after) == expected
