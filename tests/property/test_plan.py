"""The plan keeps its availability consistent with its leases, and undoes failed attempts (haizea F28, F58)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block, unblock
from lease_scheduler.plan.plan import NotPlannableError, Plan

_SITE = Site.of(Host(f"host-{number}", Resources({VCPU: 4, MEMORY_MB: 8})) for number in range(3))
_STATES = st.sampled_from([LeaseState.QUEUED, LeaseState.READY, LeaseState.ACTIVE, LeaseState.SUSPENDED_SCHEDULED])
_IDS = st.integers(0, 4)


@st.composite
def _values(draw: st.DrawFn, number: int) -> Lease:
    """Draw a value of one of five leases; its terms are always the same, its holdings are not."""
    nodes = (NodeSet(1 + number % 2, Resources({VCPU: 1, MEMORY_MB: 1 + number})), NodeSet(1, Resources({VCPU: 2})))
    request = LeaseRequest(str(number), LeaseKind.BEST_EFFORT, nodes, 0, duration=100)
    state = draw(_STATES)
    reservations = []
    start = draw(st.integers(0, 20))
    for _ in range(0 if state is LeaseState.QUEUED else draw(st.integers(1, 3))):
        end = start + draw(st.integers(1, 20))
        assignment = tuple(draw(st.lists(st.integers(0, 2), min_size=request.node_count, max_size=request.node_count)))
        reservations.append(Holding(assignment, start, start, end, end))
        start = end + draw(st.integers(0, 5))
    return Lease(request, number, state=state, holdings=tuple(reservations))


@dataclass(frozen=True)
class _Tentative:
    """A block of actions that is kept or undone."""

    actions: tuple[Any, ...]
    fails: bool


#: An action is one lease to put, several to put at once, or a block of actions.
_ACTIONS = st.recursive(
    st.one_of(
        _IDS.flatmap(_values),
        st.sets(_IDS).flatmap(lambda ids: st.tuples(*(_values(number) for number in sorted(ids)))),
    ),
    lambda inner: st.builds(_Tentative, st.lists(inner, max_size=4).map(tuple), st.booleans()),
    max_leaves=8,
)


def _do(plan: Plan, action: Any) -> None:
    if isinstance(action, Lease):
        assert plan.put(action) is action
    elif isinstance(action, tuple):
        plan.put_all(action)
    elif action.fails:
        before = _snapshot(plan)
        with pytest.raises(NotPlannableError):
            _do_in_vain(plan, action.actions)
        assert _snapshot(plan) == before
    else:
        with plan.tentative():
            for inner in action.actions:
                _do(plan, inner)


def _do_in_vain(plan: Plan, actions: tuple[Any, ...]) -> None:
    with plan.tentative():
        for action in actions:
            _do(plan, action)
        raise NotPlannableError("nothing of this is wanted")


def _snapshot(plan: Plan) -> tuple[object, ...]:
    """Return everything that is visible of a plan, for exact comparison."""
    availability = plan.availability
    return (
        availability,
        availability._steps.key.tobytes(),
        availability._used.tobytes(),
        dict(plan.leases),
        plan.queue.in_order(),
        dict(plan.queue.waiting),
        plan.future_best_effort(-1),
        dict(plan._before),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(_ACTIONS, max_size=12))
def test_the_availability_is_what_the_leases_hold(actions: list[Any]) -> None:
    """haizea F28: after any sequence of changes, kept or undone; undone changes leave no trace."""
    plan = Plan(_SITE)
    for action in actions:
        _do(plan, action)

        assert plan.rebuilt(0).equals(plan.availability)
        queued = [lease for lease in plan.leases.values() if lease.state is LeaseState.QUEUED]
        assert plan.queue.in_order() == sorted(queued, key=lambda lease: lease.sequence)
        assert plan.queue.waiting == {lease.lease_id: lease for lease in queued}


@settings(max_examples=100, deadline=None)
@given(st.lists(_ACTIONS, max_size=8), st.integers(0, 2), st.integers(0, 30), st.integers(1, 30), st.integers(1, 30))
def test_an_outage_takes_the_whole_host_and_gives_it_back(
    actions: list[Any], host: int, start: int, first: int, longer: int
) -> None:
    """haizea F95: a host out of service has nothing free, until the instant given by the last call."""
    plan = Plan(_SITE)
    for action in actions:
        _do(plan, action)
    before = plan.availability

    block(plan, host, start, start + first)
    block(plan, host, start, start + first + longer)

    assert plan.outages.keys() == {host}
    assert plan.outages[host][1] == start + first + longer
    assert (plan.availability.free(start, start + first + longer)[:, host] <= 0).all()
    unblock(plan, host)
    assert plan.outages == {}
    assert plan.availability.equals(before)


@settings(max_examples=100, deadline=None)
@given(st.lists(_ACTIONS, max_size=8))
def test_changes_are_reported_once_with_the_value_before(actions: list[Any]) -> None:
    """The engine stores and acts on the differences since its last query."""
    plan = Plan(_SITE)
    for action in actions:
        before = dict(plan.leases)
        _do(plan, action)

        after = plan.leases
        changed = {lease_id for lease_id in after if after[lease_id] != before.get(lease_id)}
        reported = {new.lease_id: (old, new) for old, new in plan.take_changes()}
        assert reported == {lease_id: (before.get(lease_id), after[lease_id]) for lease_id in changed}
        assert plan.take_changes() == []


@settings(max_examples=100, deadline=None)
@given(st.lists(_ACTIONS, max_size=12), st.integers(0, 40))
def test_forgetting_the_past_changes_nothing_of_the_future(actions: list[Any], now: int) -> None:
    """What is free from now on does not depend on how much of the past is kept."""
    plan = Plan(_SITE)
    for action in actions:
        _do(plan, action)
    free = [plan.availability.free(instant, instant + 1) for instant in range(now, now + 60)]

    plan.forget(now)

    for instant, expected in enumerate(free, start=now):
        np.testing.assert_array_equal(plan.availability.free(instant, instant + 1), expected)
    assert plan.rebuilt(now).equals(plan.availability)
