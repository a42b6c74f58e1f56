"""The question that a router answers: which member is to get a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.members import MemberDescription
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class Question:
    """A request for which a member is to be chosen.

    :ivar terms: the terms of the request
    :ivar members: all members by name, in the configured order, also those that have refused it
    :ivar among: names of the members of which one is to be chosen
    :ivar bids: bids by member; those that have not been asked, or cannot tell, are left out
    :ivar home: name of the member that is the client's own site; None if there is none
    :raises InvalidValueError: there is no member to choose, or one that is not described
    """

    terms: LeaseRequest
    members: Mapping[str, MemberDescription]
    among: tuple[str, ...]
    bids: Mapping[str, Bid] = field(default_factory=dict)
    home: str | None = None

    def __post_init__(self) -> None:
        if not self.among:
            raise InvalidValueError("among", "names no member; give at least one to choose from")
        for name in self.among:
            if name not in self.members:
                raise InvalidValueError("among", f"has {name!r}; the members are: {', '.join(self.members)}")

    @cached_property
    def sizes(self) -> dict[str, float]:
        """How many requests with these terms each member could serve at once, times its speed."""
        terms = self.terms
        totals = {name: terms.total(name) for node_set in terms.nodes for name in node_set.needs}
        needed = {name: total for name, total in totals.items() if total}
        return {name: _size(member, needed) for name, member in self.members.items()}

    @cached_property
    def fastest(self) -> str:
        """The member that serves such requests fastest; the first one of several."""
        return max(self.sizes, key=self.sizes.__getitem__)


def _size(member: MemberDescription, needed: Mapping[str, int]) -> float:
    return member.speed * min((member.capacity.get(name, 0) / amount for name, amount in needed.items()), default=1.0)
