"""Handles to the services of the model, in the form of Nova's fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import requests
import sqlalchemy
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from lease_scheduler.rehearsal.cloud.cloud import Cloud
from lease_scheduler.rehearsal.cloud.http import CloudAdapter, NetworkFaults
from lease_scheduler.rehearsal.cloud.keystone.records import Identity, Project, User
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.store import Store
from tests.functional.rehearsal.virtual_time import CLOCK

#: Seconds that a request takes.
_REQUEST = 0.004

SERVICE_PROJECT = "service-project"


class HeaderAdapter(CloudAdapter):
    """Admits the headers by which clients of Nova's tests say who they are."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud.adapter._services, NetworkFaults(before=self._takes_time))
        self._cloud = cloud
        self._tokens: dict[tuple[str, str, frozenset[str]], str] = {}

    @staticmethod
    def _takes_time(_: Any) -> None:
        CLOCK.sleep(_REQUEST)

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        headers = request.headers
        user, project_id = headers.get("X-Auth-User", "admin"), headers.get("X-Auth-Project-Id", SERVICE_PROJECT)
        roles = frozenset(str(headers.get("X-Roles", "admin")).split(","))
        key = (str(user), str(project_id), roles)
        if key not in self._tokens:
            self._tokens[key] = self._issue(*key)
        headers["X-Auth-Token"] = self._tokens[key]
        return super().send(request, *arguments, **options)

    def _issue(self, user: str, project_id: str, roles: frozenset[str]) -> str:
        keystone = self._cloud.keystone
        keystone.projects.setdefault(project_id, Project(project_id, project_id))
        keystone.users.setdefault(user, User(user, user, "")).roles.setdefault(project_id, set()).update(roles)
        return keystone.issue(Identity(user, project_id, roles))


class PlacementHandle:
    """Placement, as Nova's fixture has it."""

    def __init__(self) -> None:
        self.fixture = SimpleNamespace(endpoint="http://placement", token="admin")
        self._adapter = Adapter(Session(auth=Token(self.fixture.endpoint, self.fixture.token)))

    def get(self, path: str, version: str = "1.38") -> Any:
        """Return an answer."""
        answer = self._adapter.get(path, microversion=version, endpoint_filter={"service_type": "placement"})
        return SimpleNamespace(status=answer.status_code, body=answer.json())


class GlanceHandle:
    """Glance, as Nova's fixture has it."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    def detail(self, _: Any) -> list[dict[str, Any]]:
        """Return all images."""
        return [each.shown() for each in self.cloud.glance.images.values()]

    def create(self, _: Any, said: dict[str, Any]) -> dict[str, Any]:
        """Create an image without content."""
        properties = dict(said["properties"])
        return self.cloud.glance.add(said["name"], properties.pop("owner", None), properties).shown()

    def delete(self, *_: Any) -> None:
        """Do nothing: tests replace it where Nova would delete a protected image, which the model refuses itself."""


class Images(Adapter):
    """The adapter of the driver for Glance, with what tests want to know and change.

    :param handle: as a test has it
    """

    def __init__(self, handle: GlanceHandle, project_id: str) -> None:
        super().__init__(Session(auth=Token("http://image", "unused")), service_type="image")
        self._cloud = handle.cloud
        self._own = project_id

    def get_project_id(self, *_: Any) -> str:
        return self._own

    def all(self) -> list[dict[str, Any]]:
        """Return every image as Glance shows it."""
        return [each.shown() for each in self._cloud.glance.images.values()]

    def set_status(self, image_id: str, status: str) -> None:
        """Set the status of an image's upload."""
        self._cloud.glance.images[image_id].status = status


class PortView(dict[str, Any]):
    """A port of the model that tests give to another project."""

    def __init__(self, port: Any) -> None:
        super().__init__(port.shown())
        self._port = port

    def update(self, *_: Any, **values: Any) -> None:
        self._port.project_id = values["project_id"]


class InstanceRecord:
    """A server in Nova's database."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.task_state = server.task

    def save(self) -> None:
        self._server.task = self.task_state


class Database:
    """Nova's table of servers, as far as a documented repair changes it."""

    _COLUMNS = ("uuid", "vm_state", "task_state", "host", "node")

    def __init__(self, store: Store) -> None:
        self._store = store

    @contextmanager
    def begin(self) -> Iterator[sqlalchemy.Connection]:
        """Yield a connection; what is written is in the model afterwards."""
        engine = sqlalchemy.create_engine("sqlite://")
        with engine.begin() as connection:
            named = ", ".join(self._COLUMNS)
            connection.execute(sqlalchemy.text(f"CREATE TABLE instances ({named}, deleted INTEGER)"))
            for each in self._store.servers.values():
                values = {"u": each.id, "v": each.state, "t": each.task, "h": each.host, "d": int(each.deleted)}
                connection.execute(sqlalchemy.text("INSERT INTO instances VALUES (:u, :v, :t, :h, :h, :d)"), values)
            yield connection
            for row in connection.execute(sqlalchemy.text(f"SELECT {named} FROM instances")):
                server = self._store.servers[row.uuid]
                server.task, server.host = row.task_state, row.host
                assert row.vm_state == server.state or row.vm_state in vars(states).values()
                server.state = row.vm_state
        engine.dispose()
