"""What has happened to leases: transitions, usage, revenue and breaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.model.breach import Breach


@dataclass(frozen=True)
class Transition:
    """A change of a lease's state."""

    lease_id: str
    instant: int
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class UsageRecord:
    """Hosts that a lease occupied in ``[start, end)``.

    :ivar resources: what all its VMs together held, by resource class
    :ivar hosts: host of each VM
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


@dataclass(frozen=True)
class RevenueRecord:
    """What a lease that is over has earned, or what was not earned by one that did not come about (haizea F82).

    :ivar outcome: ``earned``; ``rejected``, there was no place; ``rejected_by_user``
    :ivar price: none if nothing was quoted
    :ivar max_price: what its consumer would have paid at most, none if that is not known
    """

    lease_id: str
    project_id: str
    instant: int
    outcome: str
    price: float | None
    max_price: float | None


@dataclass(frozen=True)
class BreachRecord:
    """A term of a lease that was not kept (see ``model.breach.Breach``)."""

    project_id: str
    breach: Breach
