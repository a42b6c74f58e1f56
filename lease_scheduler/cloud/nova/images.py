"""Disk images in Glance."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any
from urllib.parse import quote

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import NotFound

_MB = 1024 * 1024
_MB_PER_GB = 1024

#: Real seconds that Glance may take; a lease that is asked for waits for it.
_PATIENCE = 10.0


class Images:
    """See the module.

    :param glance: gives what asks Glance, as an administrator
    """

    def __init__(self, glance: Callable[[], Adapter]) -> None:
        self._glance = glance

    def size_mb(self, image_id: str) -> int | None:
        """MB that have to be copied to have an image on a host; none if there is none, or nothing is said of it.

        That is the size of what is stored, or else that of the disk that comes of it.
        """
        try:
            found: dict[str, Any] = (
                self._glance().get(f"/v2/images/{quote(image_id, safe='')}", timeout=_PATIENCE).json()
            )
        except NotFound:
            return None
        size: int | None = found.get("size") or found.get("virtual_size")
        if size:
            return ceil(size / _MB)
        min_disk: int | None = found.get("min_disk")
        return min_disk * _MB_PER_GB if min_disk else None
