"""What allocation policies decide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import isfinite

from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import Policy


@dataclass(frozen=True)
class Ranking:
    """An order of members.

    :ivar names: all members, best first
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class Shares:
    """How many of the requests each member is to get.

    :ivar by_member: part of the requests by member, which add up to 1; a member that is left out, or has 0, gets
        requests only if all others have refused them
    :raises InvalidValueError: they do not add up to 1, or one is negative
    """

    by_member: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, share in self.by_member.items():
            if not isfinite(share) or share < 0:
                raise InvalidValueError(f"shares[{name}]", f"must be a number from 0 to 1, not {share}")
        if abs(sum(self.by_member.values()) - 1) > 1e-9:
            raise InvalidValueError("shares", f"must add up to 1, not {sum(self.by_member.values())}")


def in_proportion(amounts: Mapping[str, float]) -> Shares:
    """Return shares in proportion to amounts of at least 0; equal shares if all of them are 0."""
    whole = sum(amounts.values())
    return Shares({name: amount / whole if whole else 1 / len(amounts) for name, amount in amounts.items()})


class AllocationPolicy(Policy):
    """Divides requests over members. Namespace of entry points: ``lease_scheduler.routing.allocation``."""

    def wanted_bids(self, question: Question, asked: Collection[str]) -> tuple[str, ...]:
        """Return the members to ask for bids before it decides; empty if it can decide.

        It is called again with the bids that were made, until it wants no further one.

        :param asked: members that were asked already; those that refuse, or do not answer, have no bid in the question
        """
        return ()

    @abstractmethod
    def allocate(self, question: Question, state: RoutingState) -> Ranking | Shares:
        """Return the order of the members, or their shares. A dispatch policy then chooses a member by its share."""
