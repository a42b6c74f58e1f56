"""Disk images on the hosts of the simulated cloud, and how long their transfers take."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from random import Random
from threading import Lock

from lease_scheduler.cloud.orders import ImageOrder, ImageProgress, Order
from lease_scheduler.engine.behaviour import CloudBehaviour

_TABLE = "CREATE TABLE IF NOT EXISTS images (host TEXT, image TEXT, since INTEGER NOT NULL, PRIMARY KEY (host, image))"


class SimulatedImages:
    """The caches of images on hosts, and the transfers to them (see ``cloud.capabilities.ImageCaches``).

    :param database: database of the cloud, which also has the images
    :param lock: lock that every user of the database must hold
    :param behaviour: bandwidth at which hosts fetch images for boots, and how long transfers really take
    """

    def __init__(
        self, database: sqlite3.Connection, lock: Lock, now: Callable[[], int], behaviour: CloudBehaviour
    ) -> None:
        self._database = database
        self._lock = lock
        self._now = now
        self._behaviour = behaviour
        # A separate stream, so that transfers do not change the random times of operations.
        self._random = Random(behaviour.seed)
        self._over: dict[int, tuple[int, bool]] = {}
        database.execute(_TABLE)

    def seconds_to_boot(self, order: Order) -> float:
        """Return the seconds until each host of a boot has the images of its servers; called with the lock held."""
        bandwidth = self._behaviour.image_bandwidth
        if bandwidth is None:
            return 0
        now, longest = self._now(), 0.0
        for image, hosts in order.request.images_on(order.hosts).items():
            fetched = now + image.size_mb * 8 / bandwidth
            self._put(hosts, image.image_id, round(fetched))
            # A boot during a transfer of the same image waits for the transfer if that ends earlier.
            there = max(self._since(host, image.image_id) for host in hosts)
            longest = max(longest, min(fetched, there) - now)
        return longest

    def carry(self, order: ImageOrder) -> ImageProgress:
        """See ``ImageCaches.carry``."""
        now = self._now()
        with self._lock:
            if order.number not in self._over:
                seconds = self._behaviour.transfer_seconds(order.due - order.begun, self._random)
                fails = self._behaviour.transfer_fails(self._random)
                self._over[order.number] = (now + seconds, fails)
                if not fails:
                    self._put(order.hosts, order.image_id, now + seconds)
            over, fails = self._over[order.number]
            if over > now:
                return ImageProgress()
            del self._over[order.number]
            if fails:
                return ImageProgress(failed=dict.fromkeys(sorted(order.hosts), "it broke off"), is_over=True)
        return ImageProgress(there=order.hosts, is_over=True)

    def clear(self) -> None:
        """See ``ImageCaches.clear``."""
        with self._lock:
            self._over.clear()

    def hosts_with(self, image_id: str) -> frozenset[str]:
        """Return the hosts that have an image now."""
        with self._lock:
            query = "SELECT host FROM images WHERE image = ? AND since <= ?"
            return frozenset(row[0] for row in self._database.execute(query, (image_id, self._now())).fetchall())

    def _since(self, host: str, image_id: str) -> int:
        """Return the instant at which an image is complete on a host that has it or is getting it."""
        query = "SELECT since FROM images WHERE host = ? AND image = ?"
        (since,) = self._database.execute(query, (host, image_id)).fetchone()
        return int(since)

    def _put(self, hosts: frozenset[str], image_id: str, since: int) -> None:
        self._database.executemany(
            "INSERT INTO images VALUES (?, ?, ?)"
            " ON CONFLICT (host, image) DO UPDATE SET since = MIN(since, excluded.since)",
            [(host, image_id, since) for host in sorted(hosts)],
        )
