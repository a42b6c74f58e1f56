"""Breaches: terms of a lease that the provider did not keep (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class BreachKind(Enum):
    """Term that was not kept; the value is the word that users see."""

    LATE_START = "late-start"
    FEWER_NODES = "fewer-nodes"
    ENDED_EARLY = "ended-early"
    MISSED_DEADLINE = "missed-deadline"
    OFFER_WITHDRAWN = "offer-withdrawn"
    PREEMPTED = "preempted"
    PREEMPTED_EARLY = "preempted-early"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Breach:
    """A term that was not kept.

    :ivar lease_id: the lease
    :ivar kind: which term was not kept
    :ivar instant: instant at which the breach became certain; the end of a breach that lasted for some time
    :ivar seconds: how long the breach lasted, or how much time is missing
    :ivar node_seconds: nodes times seconds that were promised and not delivered
    :ivar penalty: money that the provider owes for the breach
    """

    lease_id: str
    kind: BreachKind
    instant: int
    seconds: int
    node_seconds: int
    penalty: float = 0.0
