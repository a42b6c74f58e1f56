"""The lab works as a cloud does, and can fail as a cloud does."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1.exceptions import Forbidden

from tests.servers.base import ServerError, wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("whole_lab")]

_LIMIT = 180.0
_HOSTS = {host.name for host in LAB_HOSTS}


def _host(admin: CloudClient, server: str) -> str | None:
    found: str | None = admin.server(server)["OS-EXT-SRV-ATTR:host"]
    return found


def _state(admin: CloudClient, host: str) -> str:
    """Return the state of a host's compute service according to Nova: up or down."""
    (found,) = admin.compute("GET", f"/os-services?binary=nova-compute&host={host}")["services"]
    return str(found["state"])


@contextmanager
def _aggregate(admin: CloudClient, host: str, metadata: dict[str, str]) -> Iterator[None]:
    body: dict[str, Any] = {"aggregate": {"name": f"test-{uuid.uuid4()}"}}
    aggregate = admin.compute("POST", "/os-aggregates", body)["aggregate"]["id"]

    def act(action: str, **terms: Any) -> None:
        admin.compute("POST", f"/os-aggregates/{aggregate}/action", {action: terms})

    act("set_metadata", metadata=metadata)
    act("add_host", host=host)
    yield
    act("remove_host", host=host)
    admin.compute("DELETE", f"/os-aggregates/{aggregate}")


@contextmanager
def _flavor(admin: CloudClient, extra_specs: dict[str, str]) -> Iterator[str]:
    body: dict[str, Any] = {"flavor": {"name": f"test-{uuid.uuid4()}", "vcpus": 1, "ram": 64, "disk": 0}}
    flavor = admin.compute("POST", "/flavors", body)["flavor"]["id"]
    admin.compute("POST", f"/flavors/{flavor}/os-extra_specs", {"extra_specs": extra_specs})
    yield str(flavor)
    admin.compute("DELETE", f"/flavors/{flavor}")


def _sockets(sessions: set[int]) -> set[str]:
    """Return the numbers of the sockets of some sessions' processes."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int((process / "stat").read_text().rpartition(")")[2].split()[3]) in sessions:
                found |= {os.readlink(entry) for entry in (process / "fd").iterdir()}
        except (FileNotFoundError, ProcessLookupError):
            continue
    return {target.removeprefix("socket:[").rstrip("]") for target in found if target.startswith("socket:[")}


def test_nothing_listens_beyond_loopback(lab: Lab) -> None:
    """All services listen on this machine's loopback addresses only."""
    ours = _sockets({process.pid for server in lab.servers.values() for process in server._processes})
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    addresses = {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in ours}
    assert addresses
    # 127.0.0.1 and ::1, as the kernel writes them.
    assert addresses <= {"0100007F", "00000000000000000000000001000000"}


def test_part_that_does_not_start(request: pytest.FixtureRequest) -> None:
    """The error names it, with the end of its log, and nothing is left running."""
    folder = Path(tempfile.mkdtemp(prefix="lease-scheduler-"))
    lines = "[filter_scheduler]\navailable_filters = no.such.Filter\n"
    broken = Lab(folder, request.config.cache.mkdir("openstack"), LAB_HOSTS[:1], nova_lines=lines)
    with pytest.raises(ServerError, match=r"nova-scheduler ended .*\n(.*\n)*.*No module named 'no'"):
        broken.start()
    assert not any(server.is_running() for server in broken.servers.values())
    shutil.rmtree(folder)


def test_life_of_a_server(lab: Lab, admin: CloudClient, tenant: CloudClient) -> None:
    """A tenant's server is booted, shelved off its host, unshelved, suspended, resumed and deleted."""
    server = tenant.boot("life", lab.flavors["medium"])
    tenant.wait_for(server, "ACTIVE")
    assert _host(admin, server) in _HOSTS
    tenant.act(server, "shelve")
    tenant.wait_for(server, "SHELVED_OFFLOADED")
    # Nova removes the server from the host a little later than it reports this.
    assert wait_until(lambda: _host(admin, server) is None, _LIMIT)
    tenant.act(server, "unshelve")
    tenant.wait_for(server, "ACTIVE")
    assert _host(admin, server) in _HOSTS
    tenant.act(server, "suspend")
    tenant.wait_for(server, "SUSPENDED")
    tenant.act(server, "resume")
    tenant.wait_for(server, "ACTIVE")
    tenant.delete(server)


def test_where_a_server_is_unshelved(lab: Lab, admin: CloudClient) -> None:
    """The administrator chooses the host on which a server boots, and the one on which it is unshelved."""
    server = admin.boot("there", lab.flavors["small"], host="node2")
    admin.wait_for(server, "ACTIVE")
    assert _host(admin, server) == "node2"
    admin.act(server, "shelve")
    admin.wait_for(server, "SHELVED_OFFLOADED")
    admin.act(server, "unshelve", host="node3")
    admin.wait_for(server, "ACTIVE")
    assert _host(admin, server) == "node3"
    admin.delete(server)


def test_steps_take_as_long_as_a_test_says(lab: Lab, admin: CloudClient) -> None:
    """The delay of a step on one host can be changed while it runs."""
    server = admin.boot("slow", lab.flavors["small"], host="node1")
    admin.wait_for(server, "ACTIVE")
    lab.set_delays("node1", {"suspend": 3})
    begun = time.monotonic()
    admin.act(server, "suspend")
    admin.wait_for(server, "SUSPENDED")
    assert time.monotonic() - begun >= 3
    lab.set_delays("node1", {})
    admin.delete(server)


def test_tenant_may_not_choose_a_host(lab: Lab, tenant: CloudClient) -> None:
    """Nova's policies hold, and its tokens are Keystone's."""
    with pytest.raises(Forbidden):
        tenant.boot("chosen", lab.flavors["small"], host="node1")
    with pytest.raises(Forbidden):
        tenant.compute("GET", "/os-hypervisors")
    assert requests.get(f"{lab.urls['compute']}/servers", timeout=60).status_code == 401


def test_our_filter_is_asked(lab: Lab, admin: CloudClient) -> None:
    """A server without a lease does not boot on a host of the pool, but does once the host has left the pool."""
    with _aggregate(admin, "node3", {"lease:pool": "true"}):
        refused = admin.boot("refused", lab.flavors["small"], host="node3")
        with pytest.raises(ServerError, match="No valid host"):
            admin.wait_for(refused, "ACTIVE")
        admin.delete(refused)
    accepted = admin.boot("accepted", lab.flavors["small"], host="node3")
    admin.wait_for(accepted, "ACTIVE")
    admin.delete(accepted)


def test_our_weigher_is_asked(lab: Lab, admin: CloudClient) -> None:
    """Of otherwise equal hosts, the scheduler takes the one whose next lease starts last."""
    now = int(time.time())
    with ExitStack() as stack:
        flavor = stack.enter_context(_flavor(admin, {"lease:preemptible": "true"}))
        for number, host in enumerate(sorted(_HOSTS - {"node2"}), 1):
            metadata = {"lease:id": str(uuid.uuid4()), "lease:vacated_from": str(now + number * 3_600)}
            stack.enter_context(_aggregate(admin, host, metadata))
        server = admin.boot("weighed", flavor)
        admin.wait_for(server, "ACTIVE")
        assert _host(admin, server) == "node2"
        admin.delete(server)


def test_anchors(admin: CloudClient) -> None:
    """Every host has the inventory of which each server of a lease takes one unit."""
    providers = admin.placement("GET", "/resource_providers")["resource_providers"]
    hosts = {each["name"]: each["uuid"] for each in providers if each["name"] in _HOSTS}
    assert set(hosts) == _HOSTS
    for provider in hosts.values():
        inventories = admin.placement("GET", f"/resource_providers/{provider}/inventories")["inventories"]
        assert inventories["CUSTOM_LEASE_ANCHOR"]["total"] == 100_000
        assert inventories["VCPU"]["total"] == 8


def test_a_host_dies(lab: Lab, admin: CloudClient) -> None:
    """A host whose process is killed is down, and the others are up; its servers are there when it is back."""
    server = admin.boot("survivor", lab.flavors["small"], host="node4")
    admin.wait_for(server, "ACTIVE")
    lab.computes_of("node4").kill()
    assert wait_until(lambda: _state(admin, "node4") == "down", _LIMIT)
    assert _state(admin, "node1") == "up"
    lab.computes_of("node4").start()
    assert wait_until(lambda: _state(admin, "node4") == "up", _LIMIT)
    admin.act(server, "shelve")
    admin.wait_for(server, "SHELVED_OFFLOADED")
    admin.delete(server)


@pytest.mark.parametrize("names", [("nova-api", "nova-conductor", "nova-scheduler"), ("rabbitmq",), ("mariadb",)])
def test_a_service_dies(lab: Lab, admin: CloudClient, names: tuple[str, ...]) -> None:
    """Servers can be booted again when a killed service is back."""
    for name in names:
        lab.servers[name].kill()
    assert not any(lab.servers[name].is_running() for name in names)
    lab.ensure_running()
    server = admin.boot("afterwards", lab.flavors["small"])
    admin.wait_for(server, "ACTIVE")
    admin.delete(server)
