"""What controllers are, and the rules that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from lease_scheduler.guest.values import Action, End, Extend, Holding, Job, Limits


class Controller(Protocol):
    """Decides what to ask for. Constructed with ``Limits``."""

    #: Whether nodes of the queue take part as soon as a lease has them, without a job that waits for them.
    leads: bool

    def decide(self, waiting: Sequence[Job], holdings: Sequence[Holding], now: int) -> list[Action]:
        """Return what to do now.

        :param waiting: jobs without all of their nodes, in the order of the queue
        :param holdings: leases that have not ended
        """
        ...


def renewals(holdings: Iterable[Holding], needed: frozenset[str], limits: Limits, now: int) -> Iterator[Extend]:
    """Yield the extensions of leases whose end is near: each by its own term.

    Algorithm A5 of the sources.

    :param needed: ids of the leases that are needed after their end
    """
    for each in holdings:
        is_near = each.end is not None and each.end - now <= limits.lookahead
        if limits.is_renewable and is_near and each.lease_id in needed and not each.is_leaving:
            yield Extend(each.lease_id, each.seconds + each.term)


def unused(holdings: Iterable[Holding], needed: frozenset[str]) -> Iterator[End]:
    """Yield the end of each lease that is not needed and none of whose nodes is in use."""
    for each in holdings:
        if each.free == each.units and each.lease_id not in needed and not each.is_leaving:
            yield End(each.lease_id)
