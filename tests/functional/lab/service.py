"""The reservation service on the lab: API and engine as processes, used over REST by users of two projects."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1.exceptions import ClientException, InternalServerError, NotFound

from tests.functional.service.programs import Programs
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.keystone import PASSWORD, User
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.identity import SERVICE_PROJECT
from tests.servers.openstack.lab import OUR_USER, Lab

Document = dict[str, Any]

LIMIT = 120.0

#: Seconds before the start of a reservation at which its hosts are vacated and its servers are booted.
PREPARATION = 15

#: Resources of a node such that four nodes fill a host of 8 VCPUs, which Nova counts as 32, and 16 GiB less Nova's
#: share.
QUARTER = {"VCPU": 8, "MEMORY_MB": 3_900, "DISK_GB": 1}

_BIN = Path(sys.executable).parent
_OVER = frozenset({"done", "cancelled", "rejected", "rejected-by-user", "failed"})


class Service:
    """API and engine on the lab, with users of two projects and an administrator.

    :param folder: for their files
    :param settings: further options, by group; they override the defaults
    :ivar ada: a member of one project
    :ivar bob: a member of another project
    :ivar transport_url: message bus of API, engine and agents
    """

    def __init__(self, folder: Path, lab: Lab, settings: Mapping[str, Mapping[str, object]]) -> None:
        self.lab = lab
        self.admin = lab.admin
        self.port = free_port()
        self._name = f"lease_{uuid.uuid4().hex}"
        self.transport_url = lab.rabbitmq.create_virtual_host(self._name)
        self.programs = Programs(
            folder,
            lab.mariadb.create_database(self._name),
            self.transport_url,
            lines=self._lines(settings),
        )
        self._api_log = folder / "api.log"
        self.engine = self.programs.engine()
        self.api = self._start_api()
        physics, biology = lab.keystone.project("physics"), lab.keystone.project("biology")
        self.ada = lab.keystone.user("ada", physics, "member")
        self.bob = lab.keystone.user("bob", biology, "member")
        self.operator = lab.keystone.user("operator", physics, "admin")
        self._tokens: dict[str, str] = {}

    def _lines(self, settings: Mapping[str, Mapping[str, object]]) -> str:
        login = {
            "auth_type": "password",
            "auth_url": self.lab.keystone.url,
            "username": OUR_USER,
            "password": PASSWORD,
            "project_name": SERVICE_PROJECT,
            "user_domain_id": "default",
            "project_domain_id": "default",
        }
        notifications = {"notification_transport_url": self.lab.transport_url}
        groups: dict[str, dict[str, object]] = {
            "DEFAULT": {"default_log_levels": "lease_scheduler=DEBUG"},
            "api": {"port": self.port},
            "service": {"cloud": "nova"},
            "nova": {
                "watch_interval": 1,
                # If a message is lost with the broker, its sender waits 30 s for the reply. A host is not considered
                # down for the first 15 s of that, and the broker is back within some 10 s.
                "down_grace": 35,
                "preparation_time": PREPARATION,
                # There are no images to copy.
                **dict.fromkeys(("lost_after", "stalled_after", "hung_after"), 15),
                **notifications,
                **login,
            },
            "keystone_authtoken": {"www_authenticate_uri": self.lab.keystone.url, **login},
            # No memory is really saved, so suspension is quick even if many leases are suspended one after the other.
            "scheduling": {"suspend_rate": 20_000, "resume_rate": 20_000},
        }
        for group, options in settings.items():
            groups.setdefault(group, {}).update(options)
        return "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in options.items())
            for group, options in groups.items()
        )

    def _start_api(self) -> OwnProcess:
        program = [str(_BIN / "lease-scheduler-api"), "--config-file", str(self.programs.configuration_file)]
        return OwnProcess("lease-scheduler-api", program, self._api_log)

    def begin(self, hosts: Sequence[str]) -> None:
        """Wait until API and engine answer, and add hosts to the pool."""
        assert wait_until(self._is_healthy, LIMIT), self._api_log.read_text()
        for name in hosts:
            # The engine may not lead yet.
            assert wait_until(lambda name=name: self._takes(name), LIMIT), self.said()  # type: ignore[misc]

    def _takes(self, host: str) -> bool:
        return self.ask(self.operator, "POST", "os-hosts", {"name": host}).ok

    def _is_healthy(self) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/healthcheck", timeout=5).ok
        except requests.RequestException:
            return False

    def end_engine(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Stop the engine, with SIGKILL unless another signal is given."""
        if number == signal.SIGKILL:
            self.engine.kill()
        else:
            self.engine.end(number, 60)

    def start_engine(self) -> None:
        """Start the engine again on what it has stored."""
        self.engine = self.programs.engine()

    def said(self) -> str:
        """Return the end of the engine's log."""
        return self.programs.log(self.engine)[-8_000:]

    def close(self) -> None:
        """End all processes, and remove what they left in the lab, except for users."""
        self.api.kill()
        self.programs.close()
        with suppress(Exception):
            # The pool's host aggregate outlives the service, and the next service has a pool of its own.
            self._remove_pool()

    def _remove_pool(self) -> None:
        for each in self.admin.compute("GET", "/os-aggregates")["aggregates"]:
            if each["name"] == "freepool":
                for host in each["hosts"]:
                    path = f"/os-aggregates/{each['id']}/action"
                    self.admin.compute("POST", path, {"remove_host": {"host": host}})
                self.admin.compute("DELETE", f"/os-aggregates/{each['id']}")

    # -- asking ----------------------------------------------------------------------------------------------

    def ask(self, user: User, method: str, path: str, body: Document | None = None) -> requests.Response:
        """Send a user's request to a path below ``/v1/`` and return the answer."""
        if user.id not in self._tokens:
            self._tokens[user.id] = self.lab.keystone.token(user)
        headers = {"X-Auth-Token": self._tokens[user.id], "OpenStack-API-Version": "reservation latest"}
        url = f"http://127.0.0.1:{self.port}/v1/{path}"
        return requests.request(method, url, json=body, headers=headers, timeout=LIMIT)

    def request(self, user: User, **terms: Any) -> requests.Response:
        """Request a lease and return the answer, which may be a refusal."""
        return self.ask(user, "POST", "leases", {"name": f"lease-{uuid.uuid4()}", **terms})

    def lease(self, user: User, **terms: Any) -> Document:
        """Create a lease."""
        answer = self.request(user, **terms)
        assert answer.status_code == 201, answer.text
        made: Document = answer.json()["lease"]
        return made

    def show(self, lease: Document) -> Document:
        """Return a lease as it is now, even if it is over."""
        answer = self.ask(self.operator, "GET", f"leases/{lease['id']}?deleted=true")
        assert answer.ok, answer.text
        found: Document = answer.json()["lease"]
        return found

    def state(self, lease: Document) -> str:
        """Return the state of a lease."""
        return str(self.show(lease)["state"])

    def history(self, lease: Document) -> list[Document]:
        """Return the history of a lease: instants, states and reasons."""
        found: list[Document] = self.ask(self.operator, "GET", f"leases/{lease['id']}/history").json()["history"]
        return found

    def became(self, lease: Document, state: str) -> float:
        """Return when a lease last entered a state, in seconds since the epoch."""
        return max(in_epoch(entry["time"]) for entry in self.history(lease) if entry["to"] == state)

    def becomes(self, lease: Document, state: str, limit: float = LIMIT) -> None:
        """Wait until a lease is in a state. Fail at once if it is over in another state."""

        found = ""

        def is_so() -> bool:
            nonlocal found
            # Ask again while the API's database or broker is away.
            with suppress(requests.RequestException, AssertionError):
                found = self.state(lease)
            return found == state or found in _OVER

        if not wait_until(is_so, limit) or found != state:
            pytest.fail(f"the lease is {found} and not {state}: {self.history(lease)}\n{self.said()}")

    def is_cancelled(self, lease: Document) -> None:
        """End a lease before its time, unless it is over."""
        self.ask(self.operator, "DELETE", f"leases/{lease['id']}")

    # -- the cloud -------------------------------------------------------------------------------------------

    def servers(self, user: User) -> list[Document]:
        """Return the servers of a user's project, with all details that Nova shows to its administrator."""
        path = f"/servers/detail?all_tenants=1&project_id={user.project_id}"
        found: list[Document] = self.admin.compute("GET", path)["servers"]
        return found

    def client(self, user: User) -> CloudClient:
        """Return a client that talks to Nova as a user."""
        return self.lab.client(user)

    def settled(self, servers: Sequence[str], limit: float = LIMIT) -> dict[str, str]:
        """Wait until Nova has finished with some servers, and return the status of each by its id."""

        def all_rest() -> bool:
            found.update({each: self.admin.server(each) for each in servers})
            return all(is_at_rest(server) for server in found.values())

        found: dict[str, Document] = {}
        assert wait_until(all_rest, limit), found
        return {each: str(found[each]["status"]) for each in servers}

    def remove_servers(self, servers: Sequence[str]) -> None:
        """Delete servers of any project; some may be gone already."""
        for each in servers:
            self._remove(each)
        for each in servers:
            assert wait_until(partial(self._remove, each), LIMIT)

    def _remove(self, server: str) -> bool:
        """Have a server deleted and return whether it is gone."""
        # Nova gives these answers if another deletion is under way, or if a boot has just failed.
        with suppress(NotFound, InternalServerError):
            self.admin.compute("DELETE", f"/servers/{server}")
        return not self.exists(server)

    def exists(self, server: str) -> bool:
        """Return whether Nova still knows a server."""
        try:
            self.admin.server(server)
        except NotFound:
            return False
        return True

    def template(self) -> Document:
        """Return a template for the servers of a managed lease."""
        (image,) = self.admin.image("GET", "/v2/images?status=active&visibility=public")["images"]
        return {"name": "web", "image_id": image["id"], "networks": "none"}

    def left(self) -> list[str]:
        """Return what the leases of the two projects have left in Nova, Placement and Keystone."""
        aggregates = [each["name"] for each in self.admin.compute("GET", "/os-aggregates")["aggregates"]]
        flavors = [each["name"] for each in self.admin.compute("GET", "/flavors?is_public=None")["flavors"]]
        groups = [
            each["name"] for each in self.admin.compute("GET", "/os-server-groups?all_projects=1")["server_groups"]
        ]
        providers = self.admin.placement("GET", "/resource_providers")["resource_providers"]
        classes = self.admin.placement("GET", "/resource_classes")["resource_classes"]
        consumers = {self.ada.id, self.bob.id}
        names = (*aggregates, *flavors, *groups, *(each["name"] for each in providers))
        found = [str(name) for name in names if name.startswith("lease-")]
        found += [
            each["name"]
            for each in classes
            if each["name"].startswith("CUSTOM_LEASE_") and "ANCHOR" not in each["name"]
        ]
        found += [f"a server of {user.name}" for user in (self.ada, self.bob) for _ in self.servers(user)]
        found += [f"trust {each['id']}" for each in self.trusts() if each["trustor_user_id"] in consumers]
        found += [f"{name}: {used}" for name, used in self.usages().items() if any(used.values())]
        return found

    def trusts(self) -> list[Document]:
        """Return all trusts in Keystone."""
        found: list[Document] = self.lab.keystone.ask("GET", "OS-TRUST/trusts")["trusts"]
        return found

    def nothing_left(self) -> None:
        """Wait until no trace of leases is left anywhere."""
        assert wait_until(lambda: self.left() == [], LIMIT), (self.left(), self.said())

    def usages(self) -> dict[str, dict[str, int]]:
        """Return the usage of each compute host by resource class, as Placement counts it."""
        return {name: of_host[0] for name, of_host in usages(self.admin, [h.name for h in self.lab.hosts]).items()}


def usages(admin: CloudClient, hosts: Sequence[str]) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Return the usage and the capacity of hosts by resource class, as Placement counts them."""
    found = {}
    for provider in admin.placement("GET", "/resource_providers")["resource_providers"]:
        if provider["name"] in hosts:
            path = f"/resource_providers/{provider['uuid']}"
            used = admin.placement("GET", f"{path}/usages")["usages"]
            inventories = admin.placement("GET", f"{path}/inventories")["inventories"]
            most = {
                name: int((each["total"] - each["reserved"]) * each["allocation_ratio"])
                for name, each in inventories.items()
            }
            found[provider["name"]] = ({name: int(amount) for name, amount in used.items()}, most)
    return found


@contextmanager
def running_service(
    lab: Lab, hosts: Sequence[str] | None = None, settings: Mapping[str, Mapping[str, object]] | None = None
) -> Iterator[Service]:
    """Run the service on the lab, and end it in any case.

    :param hosts: the pool; by default all hosts of the lab
    :param settings: options of the service, by group
    """
    lab.ensure_running()
    with tempfile.TemporaryDirectory(prefix="lease-scheduler-") as name:
        started = Service(Path(name), lab, settings or {})
        try:
            started.begin([host.name for host in lab.hosts] if hosts is None else hosts)
            yield started
        finally:
            started.close()


@contextmanager
def preemptible_flavor(admin: CloudClient, memory_mb: int, specs: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the id of a flavor of preemptible servers with 2 VCPUs, which is deleted afterwards.

    :param specs: further extra specs
    """
    body: Document = {"flavor": {"name": f"guest-{uuid.uuid4()}", "vcpus": 2, "ram": memory_mb, "disk": 1}}
    flavor = str(admin.compute("POST", "/flavors", body)["flavor"]["id"])
    extra = {"lease:preemptible": "true", **(specs or {})}
    admin.compute("POST", f"/flavors/{flavor}/os-extra_specs", {"extra_specs": extra})
    try:
        yield flavor
    finally:
        admin.compute("DELETE", f"/flavors/{flavor}")


def is_at_rest(server: Document) -> bool:
    """Return whether Nova is doing nothing with a server at present."""
    if server["status"] == "ERROR":
        return True
    return server["status"] != "BUILD" and server["OS-EXT-STS:task_state"] is None


def host_of(server: Document) -> str | None:
    """Return the compute host of a server, or None."""
    found: str | None = server["OS-EXT-SRV-ATTR:host"]
    return found


def in_seconds(seconds: float) -> tuple[str, int]:
    """Return an instant some seconds from now, at a full second: in the API's format, and in epoch seconds."""
    instant = int(time.time() + seconds)
    return as_date(instant), instant


def as_date(instant: int) -> str:
    """Return an instant in the API's format."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%d %H:%M:%S")


def in_epoch(text: str) -> float:
    """Return the seconds since the epoch of an instant in the API's format."""
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def insist(call: Callable[[], Any], limit: float = LIMIT) -> Any:
    """Repeat a call while a service is away, and return its result."""
    found: list[Any] = []

    def answered() -> bool:
        with suppress(ClientException, requests.RequestException):
            found.append(call())
        return bool(found)

    assert wait_until(answered, limit)
    return found[0]
