"""What a gateway of a Grid passes requests on to: a site, or another gateway, at the end of a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from lease_scheduler.federation.answers import Answer, Bid, Refusal, Unanswered
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import MemberDescription, MemberTransition, Verb
from lease_scheduler.federation.negotiation.calls import Call
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.grid.learning import LearntLoad
from lease_scheduler.simulation.member import SimulatedMember

#: Verbs that a member needs for holds.
_HOLDING = frozenset({Verb.HOLD, Verb.ACCEPT, Verb.REJECT})

Answered = Callable[[Answer], None]


class Peer(Protocol):
    """A site or a gateway. Unlike a ``federation.members.Member`` it may answer a call later."""

    @property
    def name(self) -> str:
        """Its name, which is unique in the Grid."""

    def describe(self) -> MemberDescription:
        """Return what it says of itself. This takes no time, as descriptions are fetched ahead."""

    def quote(self, ask: Ask, answered: Answered) -> None:
        """Tell what it would grant."""

    def receive(self, call: Call, answered: Answered) -> None:
        """Do what a call says, and tell the outcome once."""

    def follow(self, told: Callable[[MemberTransition], None]) -> None:
        """Have a function told of each transition of leases that gateways have asked for."""

    def place(self, lease_id: str) -> tuple[str, str] | None:
        """Return the site that has a lease, and the id of the lease there; None if no site has it."""


@dataclass(frozen=True)
class Link:
    """The way to a peer.

    :ivar peer: the site or gateway
    :ivar delay: seconds that a message takes in each direction
    :raises InvalidValueError: the delay is negative
    """

    peer: Peer
    delay: int = 0

    def __post_init__(self) -> None:
        if self.delay < 0:
            raise InvalidValueError("delay", f"must be at least 0 s, not {self.delay}")


class SitePeer:
    """A site. To it, all that gateways ask for is external: its origin is the gateway that asks.

    :param member: the site as a member
    :param learnt: the load that it learns and publishes; None for that of the member
    :param can_hold: whether it can hold leases
    """

    def __init__(self, member: SimulatedMember, learnt: LearntLoad | None = None, *, can_hold: bool = True) -> None:
        self._member = member
        self._learnt = learnt
        self._can_hold = can_hold

    @property
    def name(self) -> str:
        """See ``Peer``."""
        return self._member.name

    def describe(self) -> MemberDescription:
        """See ``Peer``."""
        found = self._member.describe()
        load = found.load if self._learnt is None else self._learnt.load()
        return replace(found, load=load, verbs=found.verbs if self._can_hold else found.verbs - _HOLDING)

    def quote(self, ask: Ask, answered: Answered) -> None:
        """See ``Peer``."""
        answered(self._member.quote(_external(ask)))

    def receive(self, call: Call, answered: Answered) -> None:
        """See ``Peer``."""
        answered(replace(call, ask=None if call.ask is None else _external(call.ask)).made_to(self._member))

    def follow(self, told: Callable[[MemberTransition], None]) -> None:
        """See ``Peer``."""
        self._member.follow(told)

    def place(self, lease_id: str) -> tuple[str, str] | None:
        """See ``Peer``."""
        return None if isinstance(self._member.show(lease_id), Refusal) else (self.name, lease_id)


def _external(ask: Ask) -> Ask:
    return replace(ask, terms=replace(ask.terms, origin=ask.path[-1])) if ask.path else ask


def bid_or_none(answer: Answer) -> Bid | None:
    """Return the bid of an answer to a quote; a refusal and silence are none."""
    assert isinstance(answer, Bid | Refusal | Unanswered)
    return answer if isinstance(answer, Bid) else None
