"""How large disk images are: asked once of the image service, because an image never changes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.model.lease import Boot, DiskImage

LOG = logging.getLogger(__name__)

#: Images whose sizes are remembered at most.
_MOST = 10_000


class ImageSizes:
    """Sizes of the images that servers of managed leases boot from.

    :param fallback_mb: what an image is thought to have of which nobody knows the size
    """

    def __init__(self, driver: Driver, fallback_mb: int) -> None:
        self._driver = driver
        self._fallback_mb = fallback_mb
        self._known: dict[str, int] = {}

    def learn(self, servers: Iterable[Mapping[str, Any]]) -> None:
        """Ask for what is not known yet; not to be called while the plan waits, as the image service may take long.

        :param servers: templates
        """
        for image_id in sorted({found for server in servers if (found := _image_of(server)) is not None}):
            if image_id in self._known:
                continue
            try:
                size = self._driver.image_size_mb(image_id)
            except Exception as error:
                LOG.warning("the size of image %s is not known, %d MB is taken: %s", image_id, self._fallback_mb, error)
                continue
            if size is not None:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[image_id] = size

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
        image_id = _image_of(server)
        return None if image_id is None else DiskImage(image_id, self._known.get(image_id, self._fallback_mb))


def _image_of(server: Mapping[str, Any]) -> str | None:
    """The image that the hosts of a template's servers need; the volume service fetches those of volumes."""
    image_id: str | None = None if server.get("volume") else server.get("image_id")
    return image_id
