"""Answers of members: bids, refusals and releases; and that there was no answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.refusals import RefusalReason


class FederationReason(StrEnum):
    """Reasons of refusals that no site has by itself; the value is the word that programs see."""

    #: The member does not know the lease.
    UNKNOWN = "unknown"
    #: The hold has ended.
    EXPIRED = "expired"
    #: The member does not offer what is asked of it, such as holds or this kind of lease.
    UNSUPPORTED = "unsupported"
    #: An image, flavor or network of the terms has no counterpart at the member.
    UNMAPPED = "unmapped"
    #: The answer contradicts the terms, or what the member answered before.
    CONTRADICTORY = "contradictory"
    #: Any reason that this version does not know.
    OTHER = "other"


#: A reason for programs. The two lists have no word in common.
Reason = RefusalReason | FederationReason

_REASONS: dict[str, Reason] = {each.value: each for each in (*RefusalReason, *FederationReason)}


def reason_of(word: str) -> Reason:
    """Return the reason with this word; ``FederationReason.OTHER`` for a word that only a later version knows."""
    return _REASONS.get(word, FederationReason.OTHER)


@dataclass(frozen=True)
class Alternative:
    """Terms that a member would grant at present instead of those that it refused.

    :ivar member: name of the member
    :ivar start: instant
    :ivar end: instant
    :ivar nodes: number of nodes
    :ivar price: what they would cost; None if the member has no prices
    """

    member: str
    start: int
    end: int
    nodes: int
    price: float | None = None


@dataclass(frozen=True)
class Bid:
    """What a member would grant, holds or has granted.

    :ivar member: name of the member
    :ivar lease_id: id of the lease at the member
    :ivar start: instant of the start; None if the lease would wait in the queue without a place
    :ivar end: instant of the end; None if the start is
    :ivar price: what it costs; None if the member has no prices
    :ivar survival: probability that the lease is not preempted before its end, or for the lifetime that it asks for
    :ivar preempts: number of leases that are preempted for it
    :ivar held_until: instant at which the hold ends by the clock of the member; None if nothing is held
    :raises InvalidValueError: a field has an invalid value
    """

    member: str
    lease_id: str
    start: int | None
    end: int | None
    price: float | None = None
    survival: float = 1.0
    preempts: int = 0
    held_until: int | None = None

    def __post_init__(self) -> None:
        if (self.start is None) != (self.end is None):
            raise InvalidValueError("bid", "must have both start and end, or neither")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise InvalidValueError("bid.end", f"must be after the start {self.start}, not {self.end}")
        if not 0 <= self.survival <= 1:
            raise InvalidValueError("bid.survival", f"must be a probability from 0 to 1, not {self.survival}")


@dataclass(frozen=True)
class Refusal:
    """The answer of a member that does not do what is asked of it.

    :ivar member: name of the member
    :ivar reason: the reason for programs
    :ivar message: the reason for people
    :ivar alternatives: terms that the member would grant; empty if there are none
    """

    member: str
    reason: Reason
    message: str
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Released:
    """The answer of a member that nothing is held and nothing runs there under an id any more, or ever did."""


@dataclass(frozen=True)
class Unanswered:
    """The outcome of a call to which there was no answer. Unlike after a refusal, the member may have done it."""


#: The outcome of a call.
Answer = Bid | Refusal | Released | Unanswered
