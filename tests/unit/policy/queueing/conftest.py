"""Leases and outcomes for queueing policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from lease_scheduler.engine.outcomes import outcomes_of
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.interfaces import QueueRound
from lease_scheduler.policy.queueing.base import QueueingPolicy

_HOST = Resources({VCPU: 100})


class Book:
    """A site of four hosts whose leases are moved by hand, and a policy that is told of it.

    :param policy: the policy
    """

    def __init__(self, policy: QueueingPolicy) -> None:
        self.policy = policy
        self.site = Site.homogeneous(4, _HOST)
        self.weights: dict[str, float] = {}
        self.leases: dict[str, Lease] = {}
        self._numbers = count(1)

    def set(self, lease: Lease, now: int) -> Lease:
        """Give a lease a value, and tell the policy."""
        before = self.leases.get(lease.lease_id)
        self.policy.follow(self.site, self.weights)
        for outcome in outcomes_of(before, lease):
            self.policy.observe(outcome, lease, before, now)
        if lease.is_final:
            del self.leases[lease.lease_id]
        else:
            self.leases[lease.lease_id] = lease
        return lease

    def queue(self, user: str, now: int = 0, nodes: int = 1, duration: int = 100, **others: Any) -> Lease:
        """Queue a best-effort lease."""
        number = next(self._numbers)
        request = LeaseRequest(
            str(number), LeaseKind.BEST_EFFORT, (NodeSet(nodes, _HOST),), now, duration, user=user, **others
        )
        return self.set(Lease(request, number, LeaseState.QUEUED), now)

    def place(self, lease: Lease, now: int, start: int | None = None, state: LeaseState = LeaseState.READY) -> Lease:
        """Give a lease hosts."""
        at = now if start is None else start
        end = at + lease.remaining
        holding = Holding(tuple(range(lease.request.node_count)), at, at, end, end)
        return self.set(replace(lease, state=state, holdings=(holding,)), now)

    def start(self, lease: Lease, now: int) -> Lease:
        """Let a lease run."""
        return self.set(replace(lease, state=LeaseState.ACTIVE, started=now, active_since=now), now)

    def finish(self, lease: Lease, now: int, ran: int, state: LeaseState = LeaseState.DONE) -> None:
        """End a lease."""
        self.set(replace(lease, state=state, holdings=(), ended=now, active_since=None, accumulated=ran), now)

    def turns(self, now: int) -> list[str]:
        """Return the order in which the policy would serve the queue if everything fitted."""
        return self._round(now)[0]

    def accepted(self, now: int) -> list[str]:
        """Return which of them the policy would let start now."""
        return self._round(now)[1]

    def _round(self, now: int) -> tuple[list[str], list[str]]:
        self.policy.follow(self.site, self.weights)
        waiting = {each.lease_id: each for each in self.leases.values() if "queued" in each.state.value}
        queue = QueueRound(now, lambda: list(waiting.values()), waiting, self.leases)
        found = []
        for turn in self.policy.turns(queue):
            found.append(turn.lease.lease_id)
            holding = Holding((0,), now, now, now + turn.lease.remaining, now + turn.lease.remaining)
            if turn.accepts is None or turn.accepts(holding):
                queue.placed[turn.lease.lease_id] = replace(turn.lease, holdings=(holding,))
        return found, list(queue.placed)


@pytest.fixture
def make_book() -> Callable[[QueueingPolicy], Book]:
    """Return a function that makes a book for a policy."""
    return Book
