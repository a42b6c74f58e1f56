"""Leases on a real Nova, asked for over REST with tokens of Keystone (haizea 7.5; anchors A.17, no. 9 to 11)."""

from __future__ import annotations

import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1.exceptions import HttpError

from tests.functional.service.programs import Programs
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import PASSWORD, User
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.identity import SERVICE_PROJECT
from tests.servers.openstack.lab import OUR_USER, Lab

Document = dict[str, Any]

pytestmark = pytest.mark.slow

_LIMIT = 120.0
_BIN = Path(sys.executable).parent
_NAMES = [host.name for host in LAB_HOSTS]

#: What a node needs so that four of them fill a host of 8 VCPUs, of which Nova makes 32, and 16 GiB less what it keeps.
_QUARTER = {"VCPU": 8, "MEMORY_MB": 3_900, "DISK_GB": 1}


class Service:
    """API and engine as processes, on the lab, with users of two projects."""

    def __init__(self, folder: Path, lab: Lab) -> None:
        self.lab = lab
        name = f"lease_{uuid.uuid4().hex}"
        self.port = free_port()
        self.programs = Programs(
            folder,
            lab.mariadb.create_database(name),
            lab.rabbitmq.create_virtual_host(name),
            lines=self._lines(),
        )
        self.log = folder / "api.log"
        configuration = str(self.programs.configuration_file)
        self.engine = self.programs.engine()
        program = [str(_BIN / "lease-scheduler-api"), "--config-file", configuration]
        self.api = OwnProcess("lease-scheduler-api", program, self.log)
        physics, biology = lab.keystone.project("physics"), lab.keystone.project("biology")
        self.ada = lab.keystone.user("ada", physics, "member")
        self.bob = lab.keystone.user("bob", biology, "member")
        self.operator = lab.keystone.user("operator", physics, "admin")
        self._tokens: dict[str, str] = {}

    def _lines(self) -> str:
        login = (
            f"auth_type = password\nauth_url = {self.lab.keystone.url}\nusername = {OUR_USER}\npassword = {PASSWORD}\n"
            f"project_name = {SERVICE_PROJECT}\nuser_domain_id = default\nproject_domain_id = default\n"
        )
        return (
            f"[api]\nport = {self.port}\n[service]\ncloud = nova\n[nova]\nwatch_interval = 1\n{login}"
            f"[keystone_authtoken]\nwww_authenticate_uri = {self.lab.keystone.url}\n{login}"
            # Nothing is really saved, so that it is quick, however many are saved one after the other.
            "[scheduling]\nsuspend_rate = 20000\nresume_rate = 20000\n"
        )

    def begin(self) -> None:
        """Wait until both answer, and take all hosts into the pool."""
        assert wait_until(self.is_healthy, _LIMIT), self.log.read_text()
        for name in _NAMES:
            assert wait_until(
                lambda name=name: self.ask(self.operator, "POST", "os-hosts", {"name": name}).ok,  # type: ignore[misc]
                _LIMIT,
            ), self.programs.log(self.engine)

    def is_healthy(self) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/healthcheck", timeout=5).ok
        except requests.RequestException:
            return False

    def close(self) -> None:
        self.api.kill()
        self.programs.close()

    def ask(self, user: User, method: str, path: str, body: Document | None = None) -> requests.Response:
        """The answer to a user's request below ``/v1/``."""
        if user.id not in self._tokens:
            self._tokens[user.id] = self.lab.keystone.token(user)
        headers = {"X-Auth-Token": self._tokens[user.id], "OpenStack-API-Version": "reservation latest"}
        url = f"http://127.0.0.1:{self.port}/v1/{path}"
        return requests.request(method, url, json=body, headers=headers, timeout=_LIMIT)

    def lease(self, user: User, **terms: Any) -> Document:
        """Make a lease."""
        answer = self.ask(user, "POST", "leases", {"name": f"lease-{uuid.uuid4()}", **terms})
        assert answer.status_code == 201, answer.text
        made: Document = answer.json()["lease"]
        return made

    def state(self, lease: Document) -> str:
        """The state of a lease."""
        found = self.ask(self.operator, "GET", f"leases/{lease['id']}?deleted=true").json()["lease"]
        return str(found["state"])

    def becomes(self, lease: Document, state: str, limit: float = _LIMIT) -> None:
        """Wait until a lease is in a state."""
        if not wait_until(lambda: self.state(lease) == state, limit):
            history = self.ask(self.operator, "GET", f"leases/{lease['id']}/history").text
            said = self.programs.log(self.engine)[-5_000:]
            pytest.fail(f"the lease is {self.state(lease)} and not {state}: {history}\n{said}")

    def servers(self, user: User) -> list[Document]:
        """The servers of a user's project, with all that Nova tells its administrator."""
        path = f"/servers/detail?all_tenants=1&project_id={user.project_id}"
        found: list[Document] = self.lab.admin.compute("GET", path)["servers"]
        return found


@pytest.fixture
def leases(service: Service) -> Iterator[list[Document]]:
    """Leases that are deleted after the test, whatever becomes of it."""
    made: list[Document] = []
    yield made
    for lease in made:
        service.ask(service.operator, "DELETE", f"leases/{lease['id']}")


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    lab.ensure_running()
    with tempfile.TemporaryDirectory(prefix="lease-scheduler-") as name:
        started = Service(Path(name), lab)
        try:
            started.begin()
            yield started
        finally:
            started.close()


def _template(lab: Lab) -> Document:
    (image,) = lab.admin.image("GET", "/v2/images?status=active")["images"]
    return {"name": "web", "image_id": image["id"], "networks": "none"}


def _in_seconds(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + seconds))


def test_the_pool_is_for_leases(service: Service, admin: CloudClient) -> None:
    """A.17, no. 9: a host that was taken in is in ``freepool``, and ordinary servers do not get there."""
    aggregates = admin.compute("GET", "/os-aggregates")["aggregates"]
    (pool,) = [each for each in aggregates if each["name"] == "freepool"]
    assert sorted(pool["hosts"]) == sorted(_NAMES)
    server = service.lab.client(service.bob).boot("plain", service.lab.flavors["small"])
    assert wait_until(lambda: admin.server(server)["status"] == "ERROR", _LIMIT)
    admin.compute("DELETE", f"/servers/{server}")


def test_who_may_not_get_in_does_not(service: Service, admin: CloudClient) -> None:
    """Neither with another project's hint, nor with its flavor, nor without anything."""
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 2, "resources": _QUARTER}])
    service.becomes(lease, "active")
    flavors = admin.compute("GET", "/flavors?is_public=None")["flavors"]
    (flavor,) = [each["id"] for each in flavors if lease["id"] in each["name"]]
    bob = service.lab.client(service.bob)
    with pytest.raises(HttpError) as refusal:
        bob.boot("stolen", flavor)
    assert refusal.value.http_status in (400, 403, 404)
    refused = [bob.boot("plain", service.lab.flavors["small"], hints={"lease": lease["id"]}) for _ in range(3)]
    ada = service.lab.client(service.ada)
    mine = [ada.boot("mine", flavor) for _ in range(3)]
    assert wait_until(
        lambda: all(admin.server(each)["status"] in ("ACTIVE", "ERROR") for each in [*refused, *mine]), _LIMIT
    )
    assert [admin.server(each)["status"] for each in refused] == ["ERROR"] * 3
    assert sorted(admin.server(each)["status"] for each in mine) == ["ACTIVE", "ACTIVE", "ERROR"]
    assert service.ask(service.ada, "DELETE", f"leases/{lease['id']}").ok
    for each in refused:
        admin.compute("DELETE", f"/servers/{each}")
    assert wait_until(lambda: service.servers(service.ada) == [], _LIMIT)


@pytest.mark.xfail(reason="the best-effort lease starts over instead of being shelved; see doc/source/admin/nova.rst")
def test_preempted_for_a_reservation_and_back(service: Service, leases: list[Document]) -> None:
    """Haizea 7.5, no. 2: best-effort servers are shelved before a reservation begins on their hosts, and come back."""
    nodes = [{"count": 16, "resources": _QUARTER}]
    servers = [{**_template(service.lab), "count": 4}]
    queued = service.lease(service.ada, kind="best-effort", duration=90, nodes=nodes, servers=servers)
    leases.append(queued)
    service.becomes(queued, "active")
    running = service.servers(service.ada)
    assert [server["status"] for server in running] == ["ACTIVE"] * 4
    # Booted on the consumer's behalf: they are his own.
    assert {server["user_id"] for server in running} == {service.ada.id}
    begin = time.time() + 25
    reserved = service.lease(
        service.bob,
        kind="reservation",
        start_date=_in_seconds(25),
        end_date=_in_seconds(45),
        nodes=[{"count": 4, "exclusive": True}],
    )
    leases.append(reserved)
    service.becomes(reserved, "active")
    late = time.time() - begin
    shelved = service.servers(service.ada)
    assert [server["status"] for server in shelved] == ["SHELVED_OFFLOADED"] * 4
    # The model of suspension has to be calibrated for a cloud; here the operations may be late, but nothing is lost.
    assert late < 60
    mine = service.lab.client(service.bob)
    server = mine.boot("plain", service.lab.flavors["small"], hints={"lease": reserved["id"]})
    assert wait_until(lambda: service.lab.admin.server(server)["status"] == "ACTIVE", _LIMIT)
    service.becomes(reserved, "done")
    assert service.servers(service.bob) == []
    service.becomes(queued, "active")
    assert {server["status"] for server in service.servers(service.ada)} == {"ACTIVE"}
    service.becomes(queued, "done", 240)
    assert service.servers(service.ada) == []


def test_nothing_is_left(service: Service, admin: CloudClient) -> None:
    """In Nova, Placement and Keystone, when all leases are over."""

    def left() -> list[str]:
        aggregates = [each["name"] for each in admin.compute("GET", "/os-aggregates")["aggregates"]]
        flavors = [each["name"] for each in admin.compute("GET", "/flavors?is_public=None")["flavors"]]
        providers = [each["name"] for each in admin.placement("GET", "/resource_providers")["resource_providers"]]
        trusts = service.lab.keystone.ask("GET", "OS-TRUST/trusts")["trusts"]
        found = [str(name) for name in (*aggregates, *flavors, *providers) if name.startswith("lease-")]
        return found + [str(trust) for trust in trusts]

    assert wait_until(lambda: left() == [], _LIMIT), left()
