"""Record of what a site did in an interval, from which a simulation can repeat it."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease


@dataclass(frozen=True)
class RecordedUse:
    """Hosts that a lease held in ``[start, end)``.

    :ivar phase: what it used them for: ``run``, ``suspend``, ``resume`` or ``shutdown``
    :ivar hosts: number of the host of each node
    """

    lease_id: str
    phase: str
    start: int
    end: int
    hosts: tuple[int, ...]


@dataclass(frozen=True)
class RunRecord:
    """Record of what a site did in ``[start, end)``. Instants are seconds since the epoch.

    :ivar site: its hosts and floating IPs
    :ivar leases: present values of the leases that were submitted in this time, in the order of submission
    :ivar uses: hosts that leases held, including leases that were submitted before
    :ivar boots: durations in seconds of starts of leases that were not booted ahead
    """

    start: int
    end: int
    site: Site
    leases: tuple[Lease, ...]
    uses: tuple[RecordedUse, ...]
    boots: tuple[int, ...]
