"""A model of the image caches of hosts, in clouds that bring images when servers boot (haizea F63).

Hosts do not report which images they have, and cannot be told which to drop: they keep an image for some time after its
last use. So this is a model of their caches. Boots and transfers update it, and observations correct it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CachedImage:
    """An image in the cache of a host.

    :ivar host: number of the host
    :ivar image_id: the image
    :ivar used: when it was last used, or brought there
    """

    host: int
    image_id: str
    used: int


@dataclass
class ImageCaches:
    """Which host has which image, according to what has really happened.

    :ivar age: seconds for which a host keeps an image that is not used
    :ivar planned: image id -> hosts, as keys, on which leases use the image or will
    """

    age: int
    planned: Mapping[str, Mapping[int, object]] = field(default_factory=dict)
    _used: dict[str, dict[int, int]] = field(default_factory=dict)
    _changes: dict[tuple[int, str], CachedImage | None] = field(default_factory=dict)
    _next_look: int = 0

    def restore(self, cached: Iterable[CachedImage]) -> None:
        """Load the images that an earlier model stored."""
        for each in cached:
            self._used.setdefault(each.image_id, {})[each.host] = each.used

    # -- questions -------------------------------------------------------------------------------------

    def kept_until(self, image_id: str, host: int) -> int | None:
        """Return until when a host keeps an image if it is not used again, or None if the host does not have it."""
        used = self._used.get(image_id, {}).get(host)
        return None if used is None else used + self.age

    def near(self, image_id: str) -> frozenset[int]:
        """Return the hosts that have an image, or will have it according to the plan."""
        return frozenset(self.planned.get(image_id, {}).keys() | self._used.get(image_id, {}).keys())

    # -- what happens ------------------------------------------------------------------------------------

    def used(self, image_id: str, hosts: Iterable[int], now: int) -> None:
        """Record that hosts have an image, because they use it now or it has just arrived."""
        known = self._used.setdefault(image_id, {})
        for host in hosts:
            known[host] = max(now, known.get(host, now))
            self._changes[host, image_id] = CachedImage(host, image_id, known[host])

    def used_if_there(self, image_id: str, hosts: Iterable[int], now: int) -> None:
        """Record that hosts have used an image until now, for those that have it."""
        self.used(image_id, self._used.get(image_id, {}).keys() & set(hosts), now)

    def lost(self, image_id: str, host: int) -> None:
        """Record that a host does not have an image."""
        if self._used.get(image_id, {}).pop(host, None) is not None:
            self._changes[host, image_id] = None
            if not self._used[image_id]:
                del self._used[image_id]

    def host_lost(self, host: int) -> frozenset[str]:
        """Record that a host has lost all its images.

        :return: ids of the images that it had
        """
        had = frozenset(image_id for image_id, hosts in self._used.items() if host in hosts)
        for image_id in had:
            self.lost(image_id, host)
        return had

    def hosts(self) -> frozenset[int]:
        """Return the hosts that have any image."""
        return frozenset[int]().union(*self._used.values())

    def expired(self, now: int) -> list[tuple[str, int]]:
        """Return the images, each with a host, whose time in the cache is over unless they are in use now."""
        if now < self._next_look:
            return []
        oldest = min((used for hosts in self._used.values() for used in hosts.values()), default=now)
        # Images that are added meanwhile do not expire earlier.
        self._next_look = max(now, oldest + self.age) + 1
        return [
            (image_id, host)
            for image_id, hosts in self._used.items()
            for host, used in hosts.items()
            if used + self.age < now
        ]

    def take_changes(self) -> dict[tuple[int, str], CachedImage | None]:
        """Return what changed since the last call, by host and image; None means that the image is gone."""
        changes, self._changes = self._changes, {}
        return changes
