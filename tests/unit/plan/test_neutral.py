"""The order of the queue: what a queueing policy may say, and what the planner does when none says anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.plan.neutral import FIFO, REQUESTED
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.policy.queueing.base import QueueingPolicy

from .conftest import MakeLease, MakePlanner


class _Told(QueueingPolicy):
    """A queueing policy made from a function."""

    def __init__(self, turns: Callable[[QueueRound], Iterable[Turn]]) -> None:
        super().__init__(PolicyOptions())
        self._turns = turns

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        return self._turns(queue)


def _served(planner: Planner, turns: Callable[[QueueRound], Iterable[Turn]], *leases: Lease, now: int = 0) -> list[str]:
    """Queue leases, serve the queue once, and return the ids of those that have a place, in the order of starts."""
    planner.use(PolicySet(queueing=_Told(turns)))
    for lease in leases:
        planner.enqueue(lease)
    planner.process_queue(now)
    placed = [each for each in planner.plan.leases.values() if each.holdings]
    return [each.lease_id for each in sorted(placed, key=lambda each: (each.holdings[0].start, each.lease_id))]


def test_without_policies_leases_are_served_in_order_and_planned_as_requested(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F46: without a policy, leases are served first in, first out, and planned as requested."""
    first, second = make_lease(LeaseKind.BEST_EFFORT), make_lease(LeaseKind.BEST_EFFORT)

    assert [turn.lease for turn in FIFO.turns(QueueRound(0, lambda: [first, second]))] == [first, second]
    assert REQUESTED.expected(first) == first.request.duration
    assert not REQUESTED.shortens


def test_leases_get_places_in_the_order_of_the_policy(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The last one that was submitted is served first and runs first; one that is left out gets no place."""
    leases = [make_lease(LeaseKind.BEST_EFFORT) for _ in range(3)]
    planner = make_planner(1, backfilling_limit=None)

    served = _served(planner, lambda queue: [Turn(queue.queued[2]), Turn(queue.queued[0])], *leases)

    assert served == ["3", "1"]


def test_a_lease_may_be_limited_to_start_now(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Only what fits at once gets a place, although the backfilling options let leases wait."""
    wide, narrow = make_lease(LeaseKind.BEST_EFFORT, nodes=2), make_lease(LeaseKind.BEST_EFFORT)
    planner = make_planner(2, backfilling_limit=None)
    planner.place(make_lease(LeaseKind.IMMEDIATE), 0)

    assert _served(planner, lambda queue: [Turn(lease, queue.now) for lease in queue.queued], wide, narrow) == [
        "2",
        "3",
    ]


def test_a_lease_may_be_limited_to_start_within_a_window(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A host is free after an hour: soon enough for the window that ends then, too late for a shorter one."""
    for window, expected in ((3599, ["1"]), (3600, ["1", "2"])):
        planner = make_planner(1, backfilling_limit=None)
        planner.place(_numbered(make_lease(LeaseKind.IMMEDIATE), "1"), 0)
        waiting = _numbered(make_lease(LeaseKind.BEST_EFFORT), "2")

        assert _served(planner, lambda queue, w=window: [Turn(queue.queued[0], w)], waiting) == expected  # type: ignore[misc]


def test_backfilling_options_hold_beside_a_window(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Without backfilling nothing waits with a place, however far ahead the policy looks."""
    planner = make_planner(1, backfilling_limit=0)
    planner.place(make_lease(LeaseKind.IMMEDIATE), 0)

    assert _served(planner, lambda queue: [Turn(queue.queued[0], 9_999)], make_lease(LeaseKind.BEST_EFFORT)) == ["1"]


def test_a_policy_may_decline_a_place_and_sees_what_was_placed(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """A share that is used up: the second place of a project is declined, and the next project is served."""
    leases = [make_lease(LeaseKind.BEST_EFFORT, user=user) for user in ("red", "red", "blue")]
    planner = make_planner(3, backfilling_limit=None)
    seen: list[tuple[str, ...]] = []
    offered: list[Holding] = []

    def turns(queue: QueueRound) -> Iterable[Turn]:
        for lease in queue.queued:
            seen.append(tuple(queue.placed))
            users = [placed.request.user for placed in queue.placed.values()]
            yield Turn(lease, accepts=lambda holding, lease=lease, users=users: _unless_in(lease, users, holding))  # type: ignore[misc]

    def _unless_in(lease: Lease, users: list[str | None], holding: Holding) -> bool:
        offered.append(holding)
        return lease.request.user not in users

    assert _served(planner, turns, *leases) == ["1", "3"]
    assert seen == [(), ("1",), ("1",)]
    assert [holding.start for holding in offered] == [0, 0, 0]
    assert planner.plan.leases["2"].state is LeaseState.QUEUED


def test_a_second_turn_changes_nothing_for_a_lease_with_a_place(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """A policy that asks twice for the same lease neither moves it nor stops the pass."""
    leases = [make_lease(LeaseKind.BEST_EFFORT) for _ in range(2)]
    planner = make_planner(2)

    served = _served(planner, lambda queue: [Turn(queue.queued[index]) for index in (0, 0, 1)], *leases)

    assert served == ["1", "2"]


def _numbered(lease: Lease, lease_id: str) -> Lease:
    return replace(lease, request=replace(lease.request, lease_id=lease_id))
