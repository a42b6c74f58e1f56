"""What can happen in a negotiation."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.federation.answers import Answer
from lease_scheduler.federation.members import MemberTransition, Verb
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class Answered:
    """The outcome of a call.

    :ivar member: name of the member
    :ivar verb: what it was asked to do
    :ivar answer: the outcome
    """

    member: str
    verb: Verb
    answer: Answer


@dataclass(frozen=True)
class Chosen:
    """The choice of a router.

    :ivar member: name of the member
    """

    member: str


@dataclass(frozen=True)
class TimePassed:
    """An instant has come at which something is due; see ``advance.next_instant``."""


@dataclass(frozen=True)
class EndWanted:
    """The client ends the lease, or withdraws what was asked for."""


@dataclass(frozen=True)
class ChangeWanted:
    """The client wants other terms for the granted lease.

    :ivar terms: the terms, with the id of the ask
    """

    terms: LeaseRequest


@dataclass(frozen=True)
class Reported:
    """A member has told of a transition of the granted lease.

    :ivar member: name of the member
    :ivar transition: the transition
    """

    member: str
    transition: MemberTransition


Event = Answered | Chosen | TimePassed | EndWanted | ChangeWanted | Reported
