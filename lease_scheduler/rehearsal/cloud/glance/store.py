"""Images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.rehearsal.cloud.timing import Timing

ACTIVE, QUEUED, SAVING = "active", "queued", "saving"
PUBLIC, PRIVATE, SHARED, COMMUNITY = "public", "private", "shared", "community"


@dataclass
class Image:
    """An image.

    :ivar size: bytes, or None while it has no content
    :ivar members: projects that it is shared with -> whether they have accepted it
    """

    id: str
    name: str
    owner: str | None
    created_at: str
    visibility: str = SHARED
    status: str = QUEUED
    size: int | None = None
    min_disk: int = 0
    min_ram: int = 0
    protected: bool = False
    properties: dict[str, Any] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            **self.properties,
            "id": self.id,
            "name": self.name,
            "owner": self.owner,
            "status": self.status,
            "visibility": self.visibility,
            "size": self.size,
            "virtual_size": None,
            "min_disk": self.min_disk,
            "min_ram": self.min_ram,
            "protected": self.protected,
            "created_at": self.created_at,
            "updated_at": self.created_at,
            "tags": [],
            "os_hidden": False,
            "container_format": "bare",
            "disk_format": "qcow2",
            "file": f"/v2/images/{self.id}/file",
            "self": f"/v2/images/{self.id}",
        }


#: Attributes that a client may set; all other names are properties.
ATTRIBUTES = frozenset({"name", "owner", "visibility", "min_disk", "min_ram", "protected"})


@dataclass
class Store:
    """What Glance knows."""

    timing: Timing
    images: dict[str, Image] = field(default_factory=dict)

    def add(self, name: str, owner: str | None, said: Mapping[str, Any], image_id: str | None = None) -> Image:
        """Create an image without content.

        :param said: attributes and properties
        """
        found = image_id or said.get("id") or self.timing.new_id()
        made = Image(found, name, owner, self.timing.stamp())
        for key, value in said.items():
            if key not in ("id", "name"):
                self.set(made, key, value)
        self.images[made.id] = made
        return made

    @staticmethod
    def set(image: Image, name: str, value: Any) -> None:
        """Set an attribute or a property."""
        if name in ATTRIBUTES:
            setattr(image, name, value)
        else:
            image.properties[name] = value

    def may_see(self, image: Image, project_id: str, *, is_admin: bool) -> bool:
        """Return whether a project may see and boot an image."""
        if is_admin or image.visibility in (PUBLIC, COMMUNITY) or image.owner in (None, project_id):
            return True
        return image.visibility == SHARED and project_id in image.members
