"""What the image service says of the disk images that servers of managed leases boot from."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lease_scheduler.cloud.driver import Driver, ImageFacts
from lease_scheduler.model.lease import Boot, DiskImage

LOG = logging.getLogger(__name__)

#: Images that are remembered at most.
_MOST = 10_000

#: Real seconds after which an image is asked for again: its size never changes, but what it needs can be edited. One
#: that did not exist is asked for at once, as its owner may just have uploaded it.
_FRESH = 60.0


class KnownImages:
    """See the module.

    :param fallback_mb: the size that an image is thought to have of which nobody knows it
    """

    def __init__(self, driver: Driver, fallback_mb: int) -> None:
        self._driver = driver
        self._fallback_mb = fallback_mb
        self._known: dict[str, tuple[ImageFacts, float]] = {}

    def learn(self, servers: Iterable[Mapping[str, Any]]) -> None:
        """Ask for what is not known yet; not to be called while the plan waits, as the image service may take long.

        :param servers: templates
        """
        for image_id in sorted({str(server["image_id"]) for server in servers if server.get("image_id")}):
            known = self._known.get(image_id)
            if known is not None and known[0].exists and time.monotonic() - known[1] < _FRESH:
                continue
            if known is not None and not known[0].exists:
                # If the image service does not answer, nothing is known of it.
                self._known.pop(image_id, None)
            try:
                facts = self._driver.image_facts(image_id)
            except Exception as error:
                LOG.warning("nothing is known of image %s, %d MB is taken: %s", image_id, self._fallback_mb, error)
                continue
            if facts is not None:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[image_id] = (facts, time.monotonic())

    def facts(self, image_id: str) -> ImageFacts:
        """Return what is known of an image, which may be nothing."""
        known = self._known.get(image_id)
        return ImageFacts() if known is None else known[0]

    def boots(self, servers: Sequence[Mapping[str, Any]], node_set: int) -> tuple[Boot, ...]:
        """What the servers on the VMs of a node set begin from.

        :param servers: templates
        """
        return tuple(
            Boot(self._image(server), server.get("count"))
            for server in servers
            if server.get("node_set", 0) == node_set
        )

    def _image(self, server: Mapping[str, Any]) -> DiskImage | None:
        """The image that the hosts of a template's servers need; the volume service fetches those of volumes."""
        image_id: str | None = None if server.get("volume") else server.get("image_id")
        return None if image_id is None else DiskImage(image_id, self.facts(image_id).size_mb or self._fallback_mb)
