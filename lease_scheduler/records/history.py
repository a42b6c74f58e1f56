"""History of leases: transitions, usage, revenue and breaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.model.breach import Breach


@dataclass(frozen=True)
class Actor:
    """User who asked for something.

    :ivar project_id: project in which the user acted
    """

    user_id: str
    project_id: str


@dataclass(frozen=True)
class Transition:
    """An entry in the history of a lease: a change of its state, or something else that happened to it.

    :ivar before: state before the event
    :ivar after: state after the event, which may be the same
    :ivar actor: user who asked for it; None if nobody did
    """

    lease_id: str
    instant: int
    before: str
    after: str
    reason: str
    actor: Actor | None = None


@dataclass(frozen=True)
class Event:
    """A transition in the sequence of all transitions of a site.

    :ivar sequence: its number; those of later transitions are larger, and there may be gaps
    :ivar project_id: project of the lease
    :ivar transition: what happened; its actor is left out
    """

    sequence: int
    project_id: str
    transition: Transition


@dataclass(frozen=True)
class EventPage:
    """Some events, oldest first.

    :ivar next: number after which the next page begins
    :ivar more: whether there are more events already
    """

    events: tuple[Event, ...]
    next: int
    more: bool


@dataclass(frozen=True)
class UsageRecord:
    """Hosts that a lease occupied in ``[start, end)``.

    :ivar resources: total amount that its nodes held, by resource class
    :ivar hosts: number of the host of each node
    :ivar pool: pool of the lease, for metrics; None if the site has only one
    """

    lease_id: str
    project_id: str
    kind: str
    phase: str
    start: int
    end: int
    nodes: int
    resources: Mapping[str, int]
    hosts: tuple[int, ...]
    pool: str | None = None


@dataclass(frozen=True)
class RevenueRecord:
    """Revenue of an ended lease, or revenue missed because a request did not become a lease (haizea F82).

    :ivar outcome: ``earned``; ``rejected`` if there was no place; ``rejected_by_user`` if the project declined
    :ivar price: the price; None if nothing was quoted
    :ivar max_price: most the project would have paid; None if unknown
    :ivar pool: pool of the lease, for metrics; None if the site has only one
    """

    lease_id: str
    project_id: str
    instant: int
    outcome: str
    price: float | None
    max_price: float | None
    pool: str | None = None


@dataclass(frozen=True)
class BreachRecord:
    """A term of a lease that was not kept (see ``model.breach.Breach``)."""

    project_id: str
    breach: Breach
