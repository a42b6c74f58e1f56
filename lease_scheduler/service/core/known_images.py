"""Facts of the image service about the disk images that servers of managed leases boot from."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.facts import ImageFacts
from lease_scheduler.model.nodes import Boot, DiskImage

LOG = logging.getLogger(__name__)

#: Maximum number of images that are remembered.
_MOST = 10_000

#: Real seconds after which the facts of an image are read again: its size never changes, but its requirements can be
#: edited. An image that did not exist is looked up each time, as it may just have been uploaded.
_FRESH = 60.0


class KnownImages:
    """Cache of the facts about images.

    :param fallback_mb: size in MB to assume for images of unknown size
    :param steady: returns seconds from a clock that cannot be set
    """

    def __init__(self, driver: Driver, fallback_mb: int, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._driver = driver
        self._fallback_mb = fallback_mb
        self._known: dict[str, tuple[ImageFacts, float]] = {}

    def learn(self, servers: Iterable[Mapping[str, Any]]) -> None:
        """Read the facts that are missing or too old from the image service.

        Do not call this while the plan is locked, as the image service may take long.

        :param servers: templates of servers
        """
        for image_id in sorted({str(server["image_id"]) for server in servers if server.get("image_id")}):
            known = self._known.get(image_id)
            if known is not None and known[0].exists and self._steady() - known[1] < _FRESH:
                continue
            if known is not None and not known[0].exists:
                # If the image service does not answer now, the image counts as unknown, not as missing.
                self._known.pop(image_id, None)
            try:
                facts = self._driver.images.facts(image_id)
            except Exception as error:
                LOG.warning("image %s is not known; %d MB is assumed: %s", image_id, self._fallback_mb, error)
                continue
            if facts is not None:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[image_id] = (facts, self._steady())

    def facts(self, image_id: str) -> ImageFacts:
        """Return the facts about an image, or empty ones if it is not known."""
        known = self._known.get(image_id)
        return ImageFacts() if known is None else known[0]

    def boots(self, servers: Sequence[Mapping[str, Any]], node_set: int) -> tuple[Boot, ...]:
        """Return what the servers on the nodes of a node set boot from.

        :param servers: templates of servers
        :param node_set: number of the node set
        """
        return tuple(
            Boot(self._image(server), server.get("count"))
            for server in servers
            if server.get("node_set", 0) == node_set
        )

    def _image(self, server: Mapping[str, Any]) -> DiskImage | None:
        """Return the image that the hosts of a template's servers need, or None for servers that boot from volumes."""
        image_id: str | None = None if server.get("volume") else server.get("image_id")
        return None if image_id is None else DiskImage(image_id, self.facts(image_id).size_mb or self._fallback_mb)
