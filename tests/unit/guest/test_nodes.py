from __future__ import annotations

import pytest

from lease_scheduler.guest.nodes import (
    Lease,
    LeaseState,
    Margins,
    Node,
    NodeState,
    Offer,
    Power,
    QueueNode,
    Step,
    due,
    pairs,
)

_MARGINS = Margins(drain=100, requeue=20, force=30)
_LEASE = Lease("a", LeaseState.ACTIVE, 600, 1_000, 1_000)
_LOST = Lease("a", LeaseState.LOST, 600)


def _node(state: NodeState, **values: object) -> Node:
    return Node("c1", state, 0, None if state is NodeState.WANTED else "a", **values)  # type: ignore[arg-type]


def _seen(power: Power, **values: object) -> QueueNode:
    return QueueNode("c1", power, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("node", "seen", "lease", "now", "expected"),
    [
        (NodeState.WANTED, Power.POWERING_UP, None, 0, None),
        (NodeState.WANTED, Power.DOWN, None, 0, Step.FORGET),
        (NodeState.JOINING, Power.POWERING_UP, _LEASE, 0, Step.JOIN),
        (NodeState.JOINING, Power.DOWN, _LEASE, 0, Step.RELEASE),
        (NodeState.JOINING, Power.POWERING_UP, _LOST, 0, Step.RELEASE),
        (NodeState.JOINED, Power.UP, _LEASE, 899, None),
        (NodeState.JOINED, Power.UP, _LEASE, 900, Step.DRAIN),
        (NodeState.JOINED, Power.UP, _LEASE, 980, Step.RELEASE),
        (NodeState.JOINED, Power.POWERING_DOWN, _LEASE, 0, Step.RELEASE),
        (NodeState.JOINED, Power.UP, _LOST, 0, Step.RELEASE),
        (NodeState.JOINED, Power.UP, None, 0, Step.RELEASE),
        (NodeState.LEAVING, Power.UP, _LEASE, 29, Step.POWER_DOWN),
        (NodeState.LEAVING, Power.UP, _LEASE, 30, Step.POWER_DOWN_NOW),
        (NodeState.LEAVING, Power.POWERING_DOWN, _LEASE, 0, Step.LEAVE),
        (NodeState.LEAVING, Power.DOWN, None, 0, Step.LEAVE),
    ],
)
def test_what_is_due(node: NodeState, seen: Power, lease: Lease | None, now: int, expected: Step | None) -> None:
    assert due(_node(node), _seen(seen), lease, now, _MARGINS) is expected


def test_a_node_that_drains_is_not_drained_again() -> None:
    assert due(_node(NodeState.JOINED), _seen(Power.UP, is_draining=True), _LEASE, 950, _MARGINS) is None


def test_a_node_leaves_at_once_if_it_is_wanted_again_or_has_failed() -> None:
    again = _node(NodeState.LEAVING, is_wanted_again=True)
    assert due(again, _seen(Power.POWERING_UP), _LEASE, 0, _MARGINS) is Step.LEAVE
    failed = _seen(Power.UP, has_failed=True)
    assert due(_node(NodeState.LEAVING), failed, _LEASE, 0, _MARGINS) is Step.POWER_DOWN_NOW


def test_a_node_that_the_queue_does_not_know_any_more_leaves() -> None:
    assert due(_node(NodeState.JOINED), None, _LEASE, 0, _MARGINS) is Step.RELEASE
    assert due(_node(NodeState.LEAVING), None, _LEASE, 0, _MARGINS) is Step.LEAVE
    assert due(_node(NodeState.WANTED), None, None, 0, _MARGINS) is Step.FORGET


def test_nodes_of_a_job_get_the_lease_of_the_job() -> None:
    offers = [Offer("a", 1, "1"), Offer("b", 2, "2"), Offer("c", 1, None)]
    jobs = {"c1": "2", "c2": "2", "c3": "1", "c4": "3"}
    expected = [("c1", "b"), ("c2", "b"), ("c3", "a"), ("c4", "c")]
    assert pairs(["c1", "c2", "c3", "c4"], offers, jobs) == expected


def test_a_lease_whose_job_waits_is_not_given_to_other_jobs() -> None:
    """The lease of a job is for others only when no node of this job waits."""
    offers = [Offer("a", 1, "1"), Offer("b", 1, "2")]
    assert pairs(["c1", "c2"], offers, {"c1": "1", "c2": "1"}) == [("c1", "a"), ("c2", "b")]
    assert pairs(["c3", "c1"], offers[:1], {"c3": "3", "c1": "1"}) == [("c1", "a")]
    assert pairs(["c3"], [Offer("a", 2, "1")], {"c3": "3"}) == [("c3", "a")]


def test_no_node_of_a_lease_is_given_twice() -> None:
    assert pairs(["c1", "c2", "c3"], [Offer("a", 2)], {}) == [("c1", "a"), ("c2", "a")]
