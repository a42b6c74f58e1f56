"""What a site has done in some time, as far as a simulation has to know it in order to do the same."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease


@dataclass(frozen=True)
class RecordedUse:
    """Hosts that a lease held in ``[start, end)``.

    :ivar phase: what it did with them: ``run``, ``suspend``, ``resume`` or ``shutdown``
    :ivar hosts: number of the host of each node
    """

    lease_id: str
    phase: str
    start: int
    end: int
    hosts: tuple[int, ...]


@dataclass(frozen=True)
class RunRecord:
    """What a site did in ``[start, end)``. Instants are seconds since the epoch.

    :ivar site: its hosts and floating IPs
    :ivar leases: all that were submitted in this time, in the order of submission, as they are now
    :ivar uses: what leases held, including those that were submitted before
    :ivar boots: seconds that each start of a lease took whose hosts were not prepared ahead
    """

    start: int
    end: int
    site: Site
    leases: tuple[Lease, ...]
    uses: tuple[RecordedUse, ...]
    boots: tuple[int, ...]
