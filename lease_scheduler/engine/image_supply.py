"""Interface of the ways in which disk images get to hosts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from lease_scheduler.engine.interfaces import CloudEvent
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage


class ImageSupply(Protocol):
    """A way in which disk images get to hosts.

    ``Transfers`` carries out planned transfers, for which leases wait (as in Haizea). ``AheadTransfers`` brings images
    ahead of boots, which would bring them anyway.
    """

    def restore(self, leases: Iterable[Lease], cached: Iterable[CachedImage], now: int) -> None:
        """Take over from an engine that has stopped.

        :param leases: the live leases
        :param cached: images in the caches of hosts
        """
        ...

    def next_due(self) -> int | None:
        """Return the instant at which the next transfer begins; None if none is planned, or one is in progress."""
        ...

    def begin_due(self, now: int) -> None:
        """Begin the transfer that is due, if none is in progress."""
        ...

    def handle(self, event: CloudEvent, now: int) -> None:
        """Continue after a report of the cloud on a transfer."""
        ...

    def host_lost(self, host: int, now: int) -> None:
        """Forget the images of a failed host."""
        ...
