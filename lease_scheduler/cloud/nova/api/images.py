"""Disk images in Glance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Any
from urllib.parse import quote, urlencode

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import NotFound

from lease_scheduler.cloud.facts import ImageFacts

_MB = 1024 * 1024
_MB_PER_GB = 1024

#: Longest wait for Glance in real seconds. Requests of tenants wait meanwhile.
_PATIENCE = 10.0

#: Headers of a change of an image.
_PATCH = {"Content-Type": "application/openstack-images-v2.1-json-patch"}

#: Page size of a list of images with the owner and properties of one server. One page is always enough.
_PAGE = 25


@dataclass(frozen=True)
class Image:
    """An image as Glance lists it.

    :ivar owner: id of its project, or None
    :ivar age: seconds since it was created
    """

    image_id: str
    status: str
    owner: str | None
    age: float

    @property
    def is_complete(self) -> bool:
        """Whether all of its content is stored."""
        return self.status == "active"


class GlanceImages:
    """The images in Glance.

    :param glance: returns an adapter for Glance with administrator rights
    """

    def __init__(self, glance: Callable[[], Adapter]) -> None:
        self._glance = glance

    def facts(self, image_id: str) -> ImageFacts:
        """Return what Glance says about an image.

        The size to copy is the stored size, or the size of the disk if that is not known.
        """
        try:
            found: dict[str, Any] = self._glance().get(_path(image_id), timeout=_PATIENCE).json()
        except NotFound:
            return ImageFacts(exists=False)
        stored, min_disk = found.get("size") or 0, found.get("min_disk") or 0
        size = stored or found.get("virtual_size") or 0
        return ImageFacts(
            size_mb=(ceil(size / _MB) or min_disk * _MB_PER_GB) or None,
            stored_mb=ceil(stored / _MB),
            min_disk_gb=min_disk,
            min_memory_mb=found.get("min_ram") or 0,
            private_to=self._private_to(image_id, found),
        )

    def _private_to(self, image_id: str, found: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the only projects that may boot from an image, or None if all may."""
        visibility, owner = found.get("visibility"), found.get("owner")
        if visibility not in ("private", "shared") or owner is None:
            return None
        if visibility == "private":
            return frozenset({owner})
        # Shared is Glance's default visibility, so most shared images have no members.
        listed = self._glance().get(f"{_path(image_id)}/members", timeout=_PATIENCE).json()["members"]
        return frozenset({owner, *(each["member_id"] for each in listed)})

    @property
    def own_project(self) -> str | None:
        """Id of the service's own project, which owns the images that the service makes."""
        found: str | None = self._glance().get_project_id()
        return found

    def find(self, owner: str, **properties: str) -> list[Image]:
        """Return the images of a project that have all of these properties."""
        query = urlencode({"owner": owner, "limit": _PAGE, **properties})
        listed = self._glance().get(f"/v2/images?{query}", timeout=_PATIENCE).json()["images"]
        now = datetime.now(UTC)
        return [
            Image(
                each["id"],
                each["status"],
                each.get("owner"),
                (now - datetime.fromisoformat(each["created_at"])).total_seconds(),
            )
            for each in listed
        ]

    def change(self, image_id: str, **values: Any) -> None:
        """Set attributes and properties of an image, if it exists."""
        changes = [{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()]
        self._unless_gone("PATCH", image_id, data=json.dumps(changes), headers=_PATCH)

    def delete(self, image_id: str) -> None:
        """Delete an image, if it exists."""
        self._unless_gone("DELETE", image_id)

    def _unless_gone(self, method: str, image_id: str, **options: Any) -> None:
        try:
            self._glance().request(_path(image_id), method, timeout=_PATIENCE, **options)
        except NotFound:
            return


def _path(image_id: str) -> str:
    return f"/v2/images/{quote(image_id, safe='')}"
