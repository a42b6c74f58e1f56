"""The REST interface of Glance, on top of the image service that Nova's fixture provides."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from keystoneauth1.exceptions.http import NotFound

#: Fields of an image that are not properties.
_ATTRIBUTES = frozenset({"id", "name", "status", "size", "min_disk", "protected", "virtual_size"})


class _Answer:
    def __init__(self, body: Any) -> None:
        self._body = body

    def json(self) -> Any:
        return self._body


class ImageService:
    """Answers the driver's requests with what is in Nova's fixture.

    :param fixture: Nova's
    :param project_id: of the service itself
    """

    def __init__(self, fixture: Any, project_id: str) -> None:
        self._fixture = fixture
        self._project_id = project_id
        self._made: dict[str, str] = {}

    def get_project_id(self) -> str:
        return self._project_id

    def get(self, path: str, **_: Any) -> _Answer:
        parts = urlsplit(path)
        if parts.path != "/v2/images":
            return _Answer(self._shown(self._image(parts.path)))
        query = {key: value for key, (value,) in parse_qs(parts.query).items() if key != "limit"}
        listed = [self._shown(image) for image in self._fixture.images.values()]
        return _Answer({"images": [each for each in listed if _fits(each, query)]})

    def request(self, path: str, method: str, data: str = "", **_: Any) -> None:
        image = self._image(path)
        if method == "DELETE":
            assert not image["protected"]
            del self._fixture.images[image["id"]]
            return
        for change in json.loads(data):
            name = change["path"].removeprefix("/")
            (image if name in _ATTRIBUTES else image["properties"])[name] = change["value"]

    def all(self) -> list[dict[str, Any]]:
        """Return every image as Glance shows it."""
        return [self._shown(image) for image in self._fixture.images.values()]

    def set_status(self, image_id: str, status: str) -> None:
        """Set the status of an image's upload."""
        self._fixture.images[image_id]["status"] = status

    def _image(self, path: str) -> Any:
        image = self._fixture.images.get(path.rpartition("/")[2])
        if image is None:
            raise NotFound(path)
        return image

    def _shown(self, image: Any) -> dict[str, Any]:
        made = self._made.setdefault(image["id"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        image.setdefault("protected", False)
        return {
            "owner": None,
            **image["properties"],
            **{key: image.get(key) for key in _ATTRIBUTES},
            "created_at": made,
        }


def _fits(image: dict[str, Any], query: dict[str, str]) -> bool:
    return all(str(image.get(key)).lower() == value.lower() for key, value in query.items())
