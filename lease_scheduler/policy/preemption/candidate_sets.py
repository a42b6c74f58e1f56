"""The base class of policies that look for the best set of victims (Amini Salehi 2012, section 3.2.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.fitting.candidates import Gains, greedy_set, members, minimal_sets
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.overheads import OverheadPolicy
from lease_scheduler.random_streams import random_stream

#: Number of sets that are tried, best first, before the planner takes leases one by one.
_MOST_TRIED = 16


@dataclass(frozen=True)
class CandidateSets:
    """Sets of victims, each of which makes enough room; no victim of a set could stay.

    :ivar sets: bit masks of numbers of victims
    :ivar victims: victims by their numbers
    :ivar overheads: seconds that preempting each victim costs
    """

    sets: Sequence[int]
    victims: Sequence[Victim]
    overheads: Sequence[float]

    def overhead(self, chosen: int) -> float:
        """Return the seconds that preempting a set costs."""
        # Rounded, so that the order of the terms decides nothing.
        return round(sum(self.overheads[number] for number in members(chosen)), 6)

    def submissions(self, chosen: int) -> list[int]:
        """Return the places of a set's leases in the order of submission, which break ties."""
        return sorted(self.victims[number].lease.sequence for number in members(chosen))

    def nodes(self, chosen: int) -> list[int]:
        """Return the numbers of nodes of a set's leases, largest first."""
        return sorted((self.victims[number].lease.request.node_count for number in members(chosen)), reverse=True)


class CandidateSetPolicy(OverheadPolicy):
    """Preempts the set of leases that is the best by some measure.

    Up to a number of leases all sets are compared. Among more leases the policy compares the sets that greedy searches
    find: by least overhead, by most places freed, and in random orders.

    Options:

    * ``preemption_set_limit`` (16): maximum number of leases of which all sets are compared. The time grows
      exponentially with it.
    * ``preemption_random_orders`` (32): number of random orders; they are the same in every decision.
    * those of ``OverheadPolicy``.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._limit = options.integer("preemption_set_limit", 16)
        self._orders = options.integer("preemption_random_orders", 32)

    @abstractmethod
    def best(self, found: CandidateSets) -> int:
        """Return the set of victims to preempt, one of ``found.sets``. There is at least one."""

    def choose(self, preemptor: LeaseRequest, candidates: Sequence[Victim], shortage: Shortage) -> Sequence[Victim]:
        """See ``Preemption.choose``. The best set comes first, and the others follow.

        Leases that would find no place by their deadlines are in no set (section 3.1; contention 4.2.2). The leases of
        one set may find none together, so each set is tried before it is chosen; if it fails, the next best one is
        tried.
        """
        movable = [victim for victim in candidates if shortage.can_leave(victim.lease)]
        victims = sorted(movable, key=lambda victim: -victim.lease.request.node_count)
        gains = shortage.gains([victim.lease for victim in victims])
        if gains is None:
            return candidates
        overheads = self.overheads(victims, shortage)
        sets = self._sets(gains, overheads)
        for _ in range(_MOST_TRIED):
            if not sets:
                break
            best = self.best(CandidateSets(sets, victims, overheads))
            chosen = sorted(
                (victims[number] for number in members(best)),
                # The planner tries leases without a deadline together, and moves those with one after the other.
                key=lambda victim: (victim.lease.kind is LeaseKind.DEADLINE, victim.lease.sequence),
            )
            if shortage.is_met_by([victim.lease for victim in chosen]):
                ids = {victim.lease.lease_id for victim in chosen}
                return [*chosen, *(victim for victim in candidates if victim.lease.lease_id not in ids)]
            sets.remove(best)
        return candidates

    def _sets(self, gains: Gains, overheads: Sequence[float]) -> list[int]:
        if len(gains.useful) <= self._limit:
            return minimal_sets(gains)
        by_room = sorted(gains.useful, key=lambda number: -gains.of(number, 0))
        by_overhead = sorted(by_room, key=lambda number: overheads[number])
        orders = [by_overhead, by_room]
        orders += [[gains.useful[place] for place in order] for order in _orders(len(gains.useful), self._orders)]
        found = (greedy_set(gains, order) for order in orders)
        return list(dict.fromkeys(each for each in found if each is not None))


@lru_cache(maxsize=64)
def _orders(count: int, orders: int) -> tuple[tuple[int, ...], ...]:
    """Return random orders of a number of things, always the same ones."""
    stream = random_stream(0, "orders of victims")
    return tuple(tuple(stream.permutation(count).tolist()) for _ in range(orders))
