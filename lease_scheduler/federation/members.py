"""Members: what can be asked for capacity, how they describe themselves, and what they tell of their leases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Protocol

from lease_scheduler.federation.answers import Bid, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState

#: Arrivals per second below which there are none.
_LEAST_RATE = 1e-12


class Verb(StrEnum):
    """What a member may be asked to do; the value is the word in its description."""

    QUOTE = "quote"
    HOLD = "hold"
    ACCEPT = "accept"
    REJECT = "reject"
    SUBMIT = "submit"
    CHANGE = "change"
    END = "end"
    SHOW = "show"
    EVENTS = "events"


@dataclass(frozen=True)
class Arrivals:
    """What requests of one sort bring to a member, as it has learnt.

    :ivar rate: arrivals per second
    :ivar work: resource class -> mean of amount times seconds of a request
    :ivar squares: resource class -> mean of the squares of the same
    :raises InvalidValueError: a figure is negative or not finite, or the classes differ
    """

    rate: float = 0.0
    work: Mapping[str, float] = field(default_factory=dict)
    squares: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.work.keys() != self.squares.keys():
            raise InvalidValueError("squares", f"must have the classes of work: {', '.join(self.work) or 'none'}")
        for name, figures in (("rate", [self.rate]), ("work", self.work.values()), ("squares", self.squares.values())):
            for figure in figures:
                if not isfinite(figure) or figure < 0:
                    raise InvalidValueError(name, f"must be finite and at least 0, not {figure}")


def together(parts: Collection[Arrivals]) -> Arrivals:
    """Return several sorts of requests as one; their means count by their rates.

    Less than one request in some thousand years counts as none.
    """
    rate = sum(each.rate for each in parts)
    if rate < _LEAST_RATE:
        return Arrivals()
    names = dict.fromkeys(name for each in parts for name in each.work)
    return Arrivals(
        rate,
        {name: sum(each.rate * each.work.get(name, 0.0) for each in parts) / rate for name in names},
        {name: sum(each.rate * each.squares.get(name, 0.0) for each in parts) / rate for name in names},
    )


@dataclass(frozen=True)
class PublishedLoad:
    """The load of a member, as it publishes it.

    :ivar local: requests of its own projects
    :ivar external: requests of peers by request type; None is the key of requests of no type
    """

    local: Arrivals = Arrivals()
    external: Mapping[RequestType | None, Arrivals] = field(default_factory=dict)

    @cached_property
    def all_external(self) -> Arrivals:
        """Requests of peers of all types."""
        return together(self.external.values())


@dataclass(frozen=True)
class MemberDescription:
    """What a member says of itself.

    :ivar capacity: amounts of its hosts in service; empty if it does not show them to the caller
    :ivar verbs: what it can be asked to do
    :ivar load: its load; None if it publishes none
    :ivar speed: work that it does in a second, relative to other members with the same capacity
    :raises InvalidValueError: the speed is not a positive number
    """

    capacity: Resources
    verbs: frozenset[Verb] = frozenset(Verb)
    load: PublishedLoad | None = None
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not isfinite(self.speed) or self.speed <= 0:
            raise InvalidValueError("speed", f"must be more than 0, not {self.speed}")

    @property
    def can_hold(self) -> bool:
        """Whether it can hold a lease until it is accepted."""
        return {Verb.HOLD, Verb.ACCEPT, Verb.REJECT} <= self.verbs


@dataclass(frozen=True)
class MemberTransition:
    """A change of the state of a lease at a member.

    :ivar sequence: number of the transition; a member gives later transitions larger numbers. 0 if it has none
    :ivar lease_id: id of the lease at the member
    :ivar instant: when, by the clock of the member
    :ivar state: the new state
    :ivar reason: the reason for people
    """

    sequence: int
    lease_id: str
    instant: int
    state: LeaseState
    reason: str = ""


@dataclass(frozen=True)
class Events:
    """Transitions after a sequence number.

    :ivar since: that number; less than what the caller gave if the member has lost transitions, for example because its
        database was restored from a backup; the caller then asks for each of its leases
    :ivar transitions: in the order of their numbers
    :ivar up_to: number up to which the member has looked, if that is more than the number of the last transition; the
        numbers between are those of leases of others
    :raises InvalidValueError: the numbers do not increase, or begin too early
    """

    since: int
    transitions: tuple[MemberTransition, ...] = ()
    up_to: int | None = None

    def __post_init__(self) -> None:
        numbers = (self.since, *(each.sequence for each in self.transitions))
        for before, after in pairwise(numbers):
            if after <= before:
                raise InvalidValueError("events", f"have {after} after {before}; sequence numbers must increase")
        if self.up_to is not None and self.up_to < numbers[-1]:
            raise InvalidValueError("up_to", f"must be at least {numbers[-1]}, not {self.up_to}")

    @property
    def latest(self) -> int:
        """The number to ask with next time."""
        if self.up_to is not None:
            return self.up_to
        return self.transitions[-1].sequence if self.transitions else self.since


class Member(Protocol):
    """What can be asked for capacity: a pool, another site, a gateway or a broker.

    Every call names its lease by the id in the terms, and may be repeated: a member that has done it answers again as
    it did. A lease that was rejected or ended cannot be held, accepted or submitted with the same id again, also if the
    request for it arrives only afterwards. None of the calls raises because a member is out of reach; the outcome is
    then ``Unanswered``.
    """

    @property
    def name(self) -> str:
        """Its name, which is unique among the members of a federation."""

    def describe(self) -> MemberDescription | Unanswered:
        """Return what it says of itself."""

    def quote(self, ask: Ask) -> Bid | Refusal | Unanswered:
        """Return what it would grant. Nothing is held."""

    def hold(self, ask: Ask, until: int) -> Bid | Refusal | Unanswered:
        """Hold a lease.

        :param until: instant at which the hold ends at the latest
        """

    def accept(self, lease_id: str) -> Bid | Refusal | Unanswered:
        """Turn a held lease into an ordinary one, for at most the price of the hold."""

    def reject(self, lease_id: str) -> Released | Refusal | Unanswered:
        """Give a hold back."""

    def submit(self, ask: Ask) -> Bid | Refusal | Unanswered:
        """Request a lease without a hold."""

    def change(self, lease_id: str, terms: LeaseRequest) -> Bid | Refusal | Unanswered:
        """Give a lease new terms."""

    def end(self, lease_id: str) -> Released | Refusal | Unanswered:
        """End a lease, in whatever state it is; a hold is given back."""

    def show(self, lease_id: str) -> MemberTransition | Refusal | Unanswered:
        """Return the latest transition of a lease."""

    def events(self, since: int) -> Events | Unanswered:
        """Return the transitions of the caller's leases after a sequence number."""
