"""What the engine needs of each way in which disk images come to hosts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from lease_scheduler.engine.interfaces import CloudEvent
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage


class ImageSupply(Protocol):
    """Has disk images brought to hosts.

    ``Transfers`` brings what is planned before leases start (Haizea's way). ``AheadTransfers`` brings images ahead of
    boots that would bring them anyway.
    """

    def restore(self, leases: Iterable[Lease], cached: Iterable[CachedImage], now: int) -> None:
        """Go on where an engine stopped.

        :param leases: the live ones
        :param cached: what hosts have in their caches
        """
        ...

    def next_due(self) -> int | None:
        """Return when the next transfer is to begin, or None if none is planned or one is in progress."""
        ...

    def begin_due(self, now: int) -> None:
        """Begin the transfer that is due, if none is in progress."""
        ...

    def handle(self, event: CloudEvent, now: int) -> None:
        """Go on after the cloud reported on a transfer."""
        ...

    def host_lost(self, host: int, now: int) -> None:
        """Forget the images of a host that died."""
        ...
