"""Images that will never be complete, because nova-compute created them to save a server and then died.

The next attempt creates another image, so the incomplete one would stay in the image store forever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import NotFound
from novaclient.exceptions import NotFound as NoServer

from lease_scheduler.cloud.differences import Difference, Kind, Problem
from lease_scheduler.cloud.nova.api import server as of

#: States of an image that has no data yet.
_INCOMPLETE = ("queued", "saving")

#: Suffix that Nova adds to the name of a server for the image that it makes when it shelves the server.
_SHELVED = "-shelved"

_PATIENCE = 30.0


class BrokenImages:
    """Search for broken images, and their removal.

    :param glance: returns an adapter for Glance with administrator rights
    :param nova: novaclient's client with administrator rights
    :param user_id: returns the id of the service's own user; an image names the user who had it made
    :param after: minimum age of an image in seconds
    """

    def __init__(
        self, glance: Callable[[], Adapter], nova: Any, user_id: Callable[[], str | None], after: float
    ) -> None:
        self._glance = glance
        self._nova = nova
        self._user_id = user_id
        self._after = after

    def find(self) -> list[Difference]:
        """Return the images that will never be complete."""
        user_id = self._user_id()
        if user_id is None:
            return []
        return [
            Difference(Kind.IMAGE, Problem.LEFT_OVER, image["id"], None, f"{image['name']}, {image['status']}")
            for status in _INCOMPLETE
            for image in self._list(status=status, image_type="snapshot", user_id=user_id)
            if self._is_broken(image, user_id)
        ]

    def remove(self, image_id: str) -> None:
        """Delete an image, if it exists."""
        try:
            self._glance().delete(f"/v2/images/{quote(image_id, safe='')}", timeout=_PATIENCE)
        except NotFound:
            return

    def _list(self, **query: str) -> Iterable[Mapping[str, Any]]:
        parameters = "&".join(f"{key}={quote(value, safe='')}" for key, value in query.items())
        path: str | None = f"/v2/images?{parameters}"
        while path is not None:
            answer = self._glance().get(path, timeout=_PATIENCE).json()
            yield from answer["images"]
            path = answer.get("next")

    def _is_broken(self, image: Mapping[str, Any], user_id: str) -> bool:
        server_id, name = image.get("instance_uuid"), image.get("name") or ""
        if server_id is None or image.get("user_id") != user_id:
            return False
        if not (name.endswith((_SHELVED, server_id)) and image["status"] in _INCOMPLETE):
            return False
        age = (datetime.now(UTC) - datetime.fromisoformat(image["created_at"])).total_seconds()
        return age >= self._after and not self._is_being_made(server_id)

    def _is_being_made(self, server_id: str) -> bool:
        """Return whether Nova is busy with a server, so that the image may still be completed."""
        try:
            return of.is_busy(self._nova.servers.get(server_id))
        except NoServer:
            return False
