"""The cloud, shared by the engines of several pools: each gets only reports on its own leases, hosts and transfers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from lease_scheduler.engine.interfaces import Cloud, CloudEvent, ImageCarrier, Operation
from lease_scheduler.model.transfer import Transfer


class CloudShares:
    """Distributor of the reports of the cloud to the engines.

    :param cloud: the cloud of the site
    :param carrier: brings images to hosts of the site
    :param pools: names of the pools
    :param pool_of_lease: returns the pool of a live lease, or None for any other lease
    :param pool_of_host: returns the pool of a host by its number, or None if it has never been in one
    """

    def __init__(
        self,
        cloud: Cloud,
        carrier: ImageCarrier,
        pools: Iterable[str],
        pool_of_lease: Callable[[str], str | None],
        pool_of_host: Callable[[int], str | None],
    ) -> None:
        self._cloud = cloud
        self._carrier = carrier
        self._pool_of_lease = pool_of_lease
        self._pool_of_host = pool_of_host
        self._events: dict[str, deque[CloudEvent]] = {pool: deque() for pool in pools}
        # Number of a transfer in the cloud -> (pool, number in the pool): every engine numbers its transfers from 1 on.
        self._transfers: dict[int, tuple[str, int]] = {}
        self._last_transfer = 0

    def share(self, pool: str) -> CloudShare:
        """Return the share of the cloud for the engine of a pool."""
        return CloudShare(self, self._cloud, pool)

    def waiting(self) -> list[str]:
        """Return the pools whose engines have not taken all of their events."""
        return [pool for pool, events in self._events.items() if events]

    def take(self, pool: str, now: int) -> list[CloudEvent]:
        """Return the events of a pool that were not taken yet, in the order in which they happened."""
        for event in self._cloud.take_events(now):
            self._deliver(event)
        found = list(self._events[pool])
        self._events[pool].clear()
        return found

    def bring(self, pool: str, transfer: Transfer, now: int) -> None:
        """Bring an image to hosts of a pool, under a number that no transfer of another pool has."""
        self._last_transfer += 1
        self._transfers[self._last_transfer] = (pool, transfer.number)
        self._carrier.bring(replace(transfer, number=self._last_transfer), now)

    def _deliver(self, event: CloudEvent) -> None:
        pool: str | None = None
        if event.transfer is not None:
            pool, number = self._transfers.get(event.transfer, (None, 0))
            if event.host is None:
                # The transfer is over.
                self._transfers.pop(event.transfer, None)
            event = replace(event, transfer=number)
        elif event.lease_id is not None:
            pool = self._pool_of_lease(event.lease_id)
        elif event.host is not None:
            pool = self._pool_of_host(event.host)
        if pool is not None:
            self._events[pool].append(event)


class CloudShare:
    """The cloud and the image carrier for the engine of one pool (``engine.interfaces``)."""

    def __init__(self, shares: CloudShares, cloud: Cloud, pool: str) -> None:
        self._shares = shares
        self._cloud = cloud
        self._pool = pool

    def begin(self, operation: Operation) -> None:
        """Begin an operation."""
        self._cloud.begin(operation)

    def discard(self, lease_id: str, now: int) -> None:
        """Destroy everything of a lease in the cloud."""
        self._cloud.discard(lease_id, now)

    def take_events(self, now: int) -> list[CloudEvent]:
        """Return the events of the pool that were not taken yet."""
        return self._shares.take(self._pool, now)

    def bring(self, transfer: Transfer, now: int) -> None:
        """Begin to bring an image to hosts."""
        self._shares.bring(self._pool, transfer, now)
