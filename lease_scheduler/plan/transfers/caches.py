"""What the image caches of hosts are thought to have, where booting brings images (haizea F63, 7.2 "image pool").

Hosts neither tell what they have nor are told what to drop: they keep an image for some time after it was used last. So
this is a model of what they do, fed by boots and transfers and put right by what is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CachedImage:
    """An image in the cache of a host.

    :ivar host: number of the host
    :ivar used: when it was used last, or brought there
    """

    host: int
    image_id: str
    used: int


@dataclass
class ImageCaches:
    """Which host has which image; only what really happened counts, nothing that is planned.

    :ivar age: seconds for which a host keeps an image that nobody uses
    :ivar planned: image id -> hosts, as keys, that use the image or will, by what leases hold
    """

    age: int
    planned: Mapping[str, Mapping[int, object]] = field(default_factory=dict)
    _used: dict[str, dict[int, int]] = field(default_factory=dict)
    _changes: dict[tuple[int, str], CachedImage | None] = field(default_factory=dict)
    _next_look: int = 0

    def restore(self, cached: Iterable[CachedImage]) -> None:
        """Begin with what was kept of an earlier model."""
        for each in cached:
            self._used.setdefault(each.image_id, {})[each.host] = each.used

    # -- questions -------------------------------------------------------------------------------------

    def kept_until(self, image_id: str, host: int) -> int | None:
        """Until when a host keeps an image if nobody uses it any more, none if it does not have it."""
        used = self._used.get(image_id, {}).get(host)
        return None if used is None else used + self.age

    def near(self, image_id: str) -> frozenset[int]:
        """Hosts that have an image, or will have it by what is planned."""
        return frozenset(self.planned.get(image_id, {}).keys() | self._used.get(image_id, {}).keys())

    # -- what happens ------------------------------------------------------------------------------------

    def used(self, image_id: str, hosts: Iterable[int], now: int) -> None:
        """Hosts have an image, because they use it now or it has just come."""
        known = self._used.setdefault(image_id, {})
        for host in hosts:
            known[host] = max(now, known.get(host, now))
            self._changes[host, image_id] = CachedImage(host, image_id, known[host])

    def used_if_there(self, image_id: str, hosts: Iterable[int], now: int) -> None:
        """Hosts have used an image up to now, if they have it."""
        self.used(image_id, self._used.get(image_id, {}).keys() & set(hosts), now)

    def lost(self, image_id: str, host: int) -> None:
        """A host does not have an image."""
        if self._used.get(image_id, {}).pop(host, None) is not None:
            self._changes[host, image_id] = None
            if not self._used[image_id]:
                del self._used[image_id]

    def host_lost(self, host: int) -> frozenset[str]:
        """A host has nothing any more.

        :return: the images that it had
        """
        had = frozenset(image_id for image_id, hosts in self._used.items() if host in hosts)
        for image_id in had:
            self.lost(image_id, host)
        return had

    def hosts(self) -> frozenset[int]:
        """Hosts that have any image."""
        return frozenset[int]().union(*self._used.values())

    def expired(self, now: int) -> list[tuple[str, int]]:
        """Images that were not used for so long, each with a host, that they are removed unless they are used now."""
        if now < self._next_look:
            return []
        oldest = min((used for hosts in self._used.values() for used in hosts.values()), default=now)
        # Nothing that comes meanwhile expires any earlier.
        self._next_look = max(now, oldest + self.age) + 1
        return [
            (image_id, host)
            for image_id, hosts in self._used.items()
            for host, used in hosts.items()
            if used + self.age < now
        ]

    def take_changes(self) -> dict[tuple[int, str], CachedImage | None]:
        """What is to be kept, or not any more, since the last call: by host and image."""
        changes, self._changes = self._changes, {}
        return changes
