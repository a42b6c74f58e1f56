"""Lease terms and outcomes of leases."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import IllegalTransitionError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import FINAL_STATES, TRANSITIONS, LeaseState

VM = Resources({VCPU: 1, MEMORY_MB: 1024})
HOUR = 3600


def request(kind: LeaseKind = LeaseKind.BEST_EFFORT, **terms: Any) -> LeaseRequest:
    """Return a request of two VMs for an hour, with the terms that its kind needs."""
    needed: dict[LeaseKind, dict[str, Any]] = {
        LeaseKind.RESERVATION: {"start": 10},
        LeaseKind.DEADLINE: {"start": 10, "deadline": 10 + 2 * HOUR},
        LeaseKind.IMMEDIATE: {},
        LeaseKind.BEST_EFFORT: {},
    }
    common = {"lease_id": "1", "kind": kind, "nodes": (NodeSet(2, VM),), "submitted": 0, "duration": HOUR}
    return LeaseRequest(**{**common, **needed[kind], **terms})


@pytest.mark.parametrize("kind", LeaseKind)
def test_each_kind_can_be_asked_for(kind: LeaseKind) -> None:
    """haizea F9, F10, F11, F12."""
    made = request(kind)
    assert made.kind is kind
    assert not made.preemptible
    assert made.preemption_mode is PreemptionMode.SUSPEND


def test_a_lease_without_duration_has_no_end() -> None:
    """haizea F21: 100 years stand for no end."""
    made = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, VM),), 0)
    assert made.duration == UNLIMITED == 100 * 365 * 24 * 3600


@pytest.mark.parametrize(
    ("kind", "terms", "field", "problem"),
    [
        (LeaseKind.BEST_EFFORT, {"nodes": ()}, "nodes", "at least one node"),
        (LeaseKind.BEST_EFFORT, {"duration": 0}, "duration", "at least 1 s, not 0"),
        (LeaseKind.BEST_EFFORT, {"duration": -5}, "duration", "not -5"),
        (LeaseKind.BEST_EFFORT, {"submitted": -1}, "submitted", "not be negative, not -1"),
        (LeaseKind.RESERVATION, {"start": -1}, "start", "not be negative, not -1"),
        (LeaseKind.RESERVATION, {"start": None}, "start", "reservations and deadline leases need a start"),
        (LeaseKind.DEADLINE, {"start": None}, "start", "reservations and deadline leases need a start"),
        (LeaseKind.IMMEDIATE, {"start": 10}, "start", "immediate and best-effort leases have no start; leave it out"),
        (LeaseKind.BEST_EFFORT, {"start": 10}, "start", "immediate and best-effort leases have no start; leave it out"),
        (LeaseKind.DEADLINE, {"deadline": None}, "deadline", "deadline leases need a deadline"),
        (LeaseKind.RESERVATION, {"deadline": 9 * HOUR}, "deadline", "other kinds must not have one"),
        (LeaseKind.BEST_EFFORT, {"deadline": 9 * HOUR}, "deadline", "other kinds must not have one"),
        (LeaseKind.DEADLINE, {"deadline": HOUR + 9}, "deadline", "at least 1 h after the start, not 59 min 59 s"),
    ],
)
def test_bad_terms_are_refused_with_their_field(
    kind: LeaseKind, terms: dict[str, Any], field: str, problem: str
) -> None:
    """haizea F6: and the error says what would be right."""
    with pytest.raises(InvalidValueError, match=problem) as caught:
        request(kind, **terms)
    assert caught.value.field == field


def test_a_deadline_without_any_slack_is_accepted() -> None:
    """haizea F10: the full duration just fits."""
    assert request(LeaseKind.DEADLINE, deadline=10 + HOUR).deadline == 10 + HOUR


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 64)), min_size=1, max_size=6))
def test_counts_and_totals_are_over_all_node_sets(sets: list[tuple[int, int]]) -> None:
    """haizea F5: node sets of one lease may differ."""
    made = request(nodes=tuple(NodeSet(count, Resources({VCPU: cpus})) for count, cpus in sets))
    assert made.node_count == sum(count for count, _ in sets)
    assert made.total(VCPU) == sum(count * cpus for count, cpus in sets)
    assert made.total(MEMORY_MB) == 0


def test_a_new_lease_has_run_nothing() -> None:
    """haizea F14."""
    lease = Lease(request(), sequence=3)
    assert (lease.state, lease.accumulated, lease.remaining) == (LeaseState.NEW, 0, HOUR)
    assert (lease.started, lease.ended, lease.active_since, lease.saved_on, lease.holdings) == (None,) * 4 + ((),)
    assert (lease.lease_id, lease.kind, lease.is_final) == ("1", LeaseKind.BEST_EFFORT, False)


def test_what_remains_is_what_has_not_been_accumulated() -> None:
    """haizea F14: lost work is not included."""
    assert Lease(request(), 0, accumulated=600).remaining == HOUR - 600


@pytest.mark.parametrize("state", LeaseState)
def test_only_final_states_are_final(state: LeaseState) -> None:
    """haizea F15."""
    assert Lease(request(), 0, state=state).is_final == (state in FINAL_STATES)


def test_a_lease_goes_through_several_states_at_once() -> None:
    """haizea F15: each step is checked, the reason is that of the last one."""
    lease = Lease(request(), 0)
    ready = lease.to(LeaseState.PENDING, LeaseState.SCHEDULED, LeaseState.READY, reason="a place at 40")
    assert (ready.state, ready.reason) == (LeaseState.READY, "a place at 40")
    assert ready.to(LeaseState.ACTIVE).reason == ""
    assert lease.state is LeaseState.NEW


def test_a_step_that_the_machine_does_not_have_changes_nothing() -> None:
    """haizea F15: not even the legal steps before it are taken."""
    lease = Lease(request(lease_id="9"), 0)
    with pytest.raises(IllegalTransitionError, match=r"^lease 9: a lease that is pending cannot become active$"):
        lease.to(LeaseState.PENDING, LeaseState.ACTIVE)
    assert lease.state is LeaseState.NEW


@given(st.sampled_from(LeaseState), st.lists(st.sampled_from(LeaseState), min_size=1, max_size=5))
def test_a_lease_obeys_the_state_machine(first: LeaseState, path: list[LeaseState]) -> None:
    """haizea F15: ``to`` takes a path exactly if every step of it is a transition."""
    lease = Lease(request(), 0, state=first)
    legal = all(after in TRANSITIONS[before] for before, after in zip([first, *path], path, strict=False))
    if legal:
        assert lease.to(*path).state is path[-1]
    else:
        with pytest.raises(IllegalTransitionError):
            lease.to(*path)


def test_requests_are_frozen_hashable_values() -> None:
    """haizea F6: agreed terms cannot change."""
    first, second = request(extras={"SWF_queue": "3"}), request(extras={"SWF_queue": "3"})
    assert first == second
    assert hash(first) == hash(second)
    assert first != replace(first, extras={"SWF_queue": "4"})
    with pytest.raises(FrozenInstanceError):
        first.duration = 5  # type: ignore[misc]
