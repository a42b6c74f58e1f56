"""A client of the lab's services, which acts as one user."""

from __future__ import annotations

from typing import Any

from keystoneauth1.exceptions import NotFound
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from tests.servers.base import ServerError, wait_until
from tests.servers.keystone import PASSWORD, REGION

Document = dict[str, Any]

#: Microversions of the interfaces.
COMPUTE_VERSION, PLACEMENT_VERSION = "2.93", "1.39"

_LIMIT_SECONDS = 180.0


class CloudClient:
    """Nova, Placement and Glance, found in Keystone's catalogue.

    :ivar session: for other clients
    :param image: id of the image of new servers
    """

    def __init__(self, keystone_url: str, user: str, project: str, image: str = "") -> None:
        login = v3.Password(
            auth_url=keystone_url,
            username=user,
            password=PASSWORD,
            user_domain_id="default",
            project_name=project,
            project_domain_id="default",
        )
        self.session = Session(auth=login)
        self._image = image

    def compute(self, method: str, path: str, body: Document | None = None) -> Any:
        """Send a request to Nova and return the answer.

        :raises keystoneauth1.exceptions.ClientException: it refused, or does not answer
        """
        return self._ask("compute", method, path, body, COMPUTE_VERSION)

    def placement(self, method: str, path: str, body: Document | None = None) -> Any:
        """Send a request to Placement and return the answer."""
        return self._ask("placement", method, path, body, PLACEMENT_VERSION)

    def image(self, method: str, path: str, body: Document | None = None) -> Any:
        """Send a request to Glance and return the answer."""
        return self._ask("image", method, path, body)

    def upload(self, image: str, content: bytes) -> None:
        """Upload the content of an image."""
        self.session.put(
            f"/v2/images/{image}/file",
            data=content,
            headers={"Content-Type": "application/octet-stream"},
            endpoint_filter={"service_type": "image", "region_name": REGION},
        )

    def boot(self, name: str, flavor: str, hints: Document | None = None, **terms: Any) -> str:
        """Boot a server without a network and return its id without waiting.

        :param flavor: id of the flavor
        :param hints: for the scheduler
        :param terms: further keys of the request, such as ``host``
        """
        server = {"name": name, "flavorRef": flavor, "imageRef": self._image, "networks": "none", **terms}
        body: Document = {"server": server}
        if hints is not None:
            body["os:scheduler_hints"] = hints
        return str(self.compute("POST", "/servers", body)["server"]["id"])

    def server(self, server_id: str) -> Document:
        """Return Nova's description of a server."""
        found: Document = self.compute("GET", f"/servers/{server_id}")["server"]
        return found

    def act(self, server_id: str, action: str, **terms: Any) -> None:
        """Request an action on a server, such as ``shelve``."""
        self.compute("POST", f"/servers/{server_id}/action", {action: terms or None})

    def wait_for(self, server_id: str, status: str, limit: float = _LIMIT_SECONDS) -> Document:
        """Wait until a server is in a status without a task in progress, and return the server.

        :raises ServerError: it is in ERROR instead, or not there in time
        """

        def rests() -> bool:
            found.update(self.server(server_id))
            # The fault is recorded a little later than the status.
            failed = found["status"] == "ERROR" and "fault" in found
            return failed or (found["status"] == status and found["OS-EXT-STS:task_state"] is None)

        found: Document = {}
        if not wait_until(rests, limit) or found["status"] != status:
            what = found.get("fault", {}).get("message", found["OS-EXT-STS:task_state"])
            raise ServerError(f"server {found['name']} is {found['status']} and not {status}: {what}")
        return found

    def delete(self, server_id: str, limit: float = _LIMIT_SECONDS) -> None:
        """Delete a server and wait until it is gone.

        :raises ServerError: it is not gone in time
        """

        def gone() -> bool:
            try:
                self.server(server_id)
            except NotFound:
                return True
            return False

        self.compute("DELETE", f"/servers/{server_id}")
        if not wait_until(gone, limit):
            raise ServerError(f"server {server_id} is still there after its deletion")

    def _ask(self, service: str, method: str, path: str, body: Document | None, version: str | None = None) -> Any:
        answer = self.session.request(
            path,
            method,
            json=body,
            microversion=version,
            endpoint_filter={"service_type": service, "region_name": REGION},
            headers={"Accept": "application/json"},
        )
        return answer.json() if answer.content else None
