"""Tenants who try to get more than they have: Placement and Nova show that none gets another project's capacity."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from keystoneauth1.exceptions import Forbidden, HttpError

from tests.functional.lab.sampler import Sampler
from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    host_of,
    in_seconds,
    is_at_rest,
    preemptible_flavor,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient

_NAMES = [host.name for host in LAB_HOSTS]

pytestmark = pytest.mark.slow

_BOOTS, _THREADS = 50, 10

#: Seconds by which a reservation may start late while all of Nova shares two cores with so many boots.
_CROWDED = 60


@pytest.fixture(scope="module")
def preemptible(admin: CloudClient) -> Iterator[str]:
    """A flavor of preemptible servers; eight of them fill a host."""
    with preemptible_flavor(admin, 1_900) as flavor:
        yield flavor


@pytest.fixture
def servers(service: Service) -> Iterator[list[str]]:
    """Servers that are deleted after the test, whatever its outcome."""
    made: list[str] = []
    yield made
    service.remove_servers(made)


def _aggregate(admin: CloudClient, lease: Document) -> Document:
    (found,) = [each for each in admin.compute("GET", "/os-aggregates")["aggregates"] if lease["id"] in each["name"]]
    assert isinstance(found, dict)
    return found


def _flavor(admin: CloudClient, lease: Document) -> str:
    found = admin.compute("GET", "/flavors?is_public=None")["flavors"]
    (flavor,) = [each["id"] for each in found if lease["id"] in each["name"]]
    return str(flavor)


def test_who_may_not_get_in_does_not(service: Service, leases: list[Document], servers: list[str]) -> None:
    """Neither with another project's hint, under any name, nor with its flavor, nor without either."""
    admin, bob, ada = service.admin, service.client(service.bob), service.client(service.ada)
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 2, "resources": QUARTER}])
    leases.append(lease)
    service.becomes(lease, "active")
    flavor, aggregate = _flavor(admin, lease), _aggregate(admin, lease)
    with pytest.raises(HttpError) as refusal:
        bob.boot("stolen", flavor)
    # Nova does not reveal that there is such a flavor.
    assert refusal.value.http_status in (400, 403, 404)
    small = service.lab.flavors["small"]
    attempts = [
        {"lease": lease["id"]},
        {"reservation": lease["id"]},
        {"reservation": lease["reservations"][0]["id"]},
        {"lease": aggregate["name"]},
        {"lease": [lease["id"], aggregate["name"]]},
        {"lease:host": aggregate["hosts"][0]},
        {},
    ]
    refused = [bob.boot("intruder", small, hints=hints) for hints in attempts]
    servers += refused
    mine = [ada.boot("mine", flavor) for _ in range(3)]
    servers += mine
    assert service.settled(refused) == dict.fromkeys(refused, "ERROR")
    assert {host_of(admin.server(each)) for each in refused} == {None}
    # Its own project gets the leased capacity, and no more.
    assert sorted(service.settled(mine).values()) == ["ACTIVE", "ACTIVE", "ERROR"]


def test_a_small_shared_lease_opens_nothing_else(
    service: Service, leases: list[Document], servers: list[str], preemptible: str
) -> None:
    """The project boots other flavors with its hint, resizes its servers, and tries again after the lease."""
    ada, admin = service.client(service.ada), service.admin
    small: Document = {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}
    terms: Document = {"kind": "immediate", "nodes": [{"count": 1, "resources": small}]}
    lease = service.lease(service.ada, duration=600, **terms)
    other = service.lease(service.ada, duration=600, **terms)
    leases += [lease, other]
    for each in (lease, other):
        service.becomes(each, "active")
    flavor, large = _flavor(admin, lease), service.lab.flavors["large"]
    hints: list[Document] = [
        {"lease": lease["id"]},
        {"reservation": lease["reservations"][0]["id"]},
        {"lease": _aggregate(admin, lease)["name"]},
        {"lease": [lease["id"], other["id"]]},
        {"lease": lease["id"], "reservation": other["id"]},
    ]
    others = _flavor(admin, other)
    tried = [(each, hint) for hint in hints for each in (large, others)]
    for wanted, hint in [*tried, (preemptible, hints[0])]:
        # One at a time, because a project may have ten.
        server = ada.boot("more", wanted, hints=hint)
        servers.append(server)
        assert service.settled([server]) == {server: "ERROR"}, (wanted, hint)
        service.remove_servers([server])
    mine = ada.boot("mine", flavor, hints=hints[0])
    servers.append(mine)
    assert service.settled([mine]) == {mine: "ACTIVE"}
    host = host_of(admin.server(mine))
    ada.act(mine, "resize", flavorRef=large)
    time.sleep(3)
    assert service.settled([mine]) == {mine: "ACTIVE"}
    assert (host_of(admin.server(mine)), admin.server(mine)["flavor"]["ram"]) == (host, 512)
    ada.act(mine, "shelve")
    assert wait_until(lambda: host_of(admin.server(mine)) is None, LIMIT)
    service.is_cancelled(lease)
    service.is_cancelled(other)
    service.nothing_left()


def test_a_whole_host_is_left_at_the_end(service: Service, leases: list[Document], servers: list[str]) -> None:
    """Tags of another lease of the same project do not keep a server there, nor one that is still being placed."""
    ada, small = service.client(service.ada), service.lab.flavors["small"]
    long = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 1, "resources": QUARTER}])
    whole = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 1, "exclusive": True}])
    leases += [long, whole]
    for each in (long, whole):
        service.becomes(each, "active")
    hint = {"lease": whole["id"]}
    tagged = ada.boot("tagged", small, hints=hint, tags=[f"lease:{long['id']}", "lease-vm:1"])
    servers.append(tagged)
    assert service.settled([tagged]) == {tagged: "ACTIVE"}
    host = host_of(service.admin.server(tagged))
    late = [ada.boot("late", small, hints=hint) for _ in range(4)]
    servers += late
    assert service.ask(service.ada, "DELETE", f"leases/{whole['id']}").ok
    late += [ada.boot("too late", small, hints=hint) for _ in range(4)]
    servers += late[4:]

    def all_rest() -> bool:
        # Servers that got onto a host are deleted, maybe between two checks.
        return all(is_at_rest(each) for each in service.servers(service.ada))

    assert wait_until(all_rest, LIMIT)

    def is_left() -> bool:
        return host not in {host_of(each) for each in service.servers(service.ada)}

    assert wait_until(is_left, LIMIT)
    time.sleep(5)
    assert is_left()


def test_a_reservation_with_a_host_that_is_not_free(
    service: Service, leases: list[Document], servers: list[str]
) -> None:
    """Another host replaces it; if there is none, the rest is delivered in time, and that host once it is free."""
    admin, small = service.admin, service.lab.flavors["small"]
    firm = admin.boot("forced", small, availability_zone="nova:node2")
    servers.append(firm)
    assert service.settled([firm]) == {firm: "ACTIVE"}
    for count in (3, 4):
        # Nothing is planned on a host that is known to be occupied until the next check, a minute later.
        ahead = PREPARATION + (10 if count == 3 else 75)
        (start_date, start), (end_date, _) = in_seconds(ahead), in_seconds(ahead + 390)
        nodes: Document = {"count": count, "exclusive": True, "resources": QUARTER}
        lease = service.lease(
            service.bob,
            kind="reservation",
            start_date=start_date,
            end_date=end_date,
            nodes=[nodes],
            servers=[{**service.template(), "count": count}],
        )
        leases.append(lease)
        service.becomes(lease, "active")
        assert service.became(lease, "active") <= start + _CROWDED
        assert service.show(lease)["degraded"] is (count == 4)
        running = service.servers(service.bob)
        assert Counter(host_of(each) for each in running) == dict.fromkeys(("node1", "node3", "node4"), 1)
        if count == 3:
            service.is_cancelled(lease)
            assert wait_until(lambda: not service.servers(service.bob), LIMIT)
    # The server and its host are shown only to operators.
    assert firm in service.programs.log(service.engine)
    found = service.ask(service.bob, "GET", f"leases/{lease['id']}").json()["lease"]
    assert found["reservations"][0]["missing_resources"] is True
    assert firm not in str(found)
    service.remove_servers([firm])
    assert wait_until(lambda: service.show(lease)["degraded"] is False, 2 * LIMIT), service.said()

    def is_whole() -> bool:
        return {host_of(each) for each in service.servers(service.bob)} == set(_NAMES)

    assert wait_until(is_whole, LIMIT), service.said()
    service.is_cancelled(lease)


def test_forged_aggregate(service: Service, leases: list[Document]) -> None:
    """A tenant can neither create nor change aggregates and flavors, nor choose a host."""
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 1, "exclusive": True}])
    leases.append(lease)
    service.becomes(lease, "active")
    bob, aggregate = service.client(service.bob), _aggregate(service.admin, lease)
    path = f"/os-aggregates/{aggregate['id']}/action"
    own: Document = {"flavor": {"name": "forged", "vcpus": 1, "ram": 64, "disk": 1}}
    forged: list[Callable[[], Any]] = [
        lambda: bob.compute("GET", "/os-aggregates"),
        lambda: bob.compute("POST", "/os-aggregates", {"aggregate": {"name": f"lease-{uuid.uuid4()}"}}),
        lambda: bob.compute("POST", path, {"set_metadata": {"metadata": {"lease:project_id": service.bob.project_id}}}),
        lambda: bob.compute("POST", path, {"remove_host": {"host": aggregate["hosts"][0]}}),
        lambda: bob.compute("POST", "/flavors", own),
        lambda: bob.placement("GET", "/resource_providers"),
        lambda: bob.boot("there", service.lab.flavors["small"], host=aggregate["hosts"][0]),
        lambda: bob.boot("there", service.lab.flavors["small"], availability_zone=f"nova:{aggregate['hosts'][0]}"),
    ]
    for attempt in forged:
        with pytest.raises(Forbidden):
            attempt()


def test_forged_tag(service: Service, leases: list[Document], servers: list[str], preemptible: str) -> None:
    """A server with the tag of another project's lease is not part of it: it makes room, and takes no slot."""
    bob = service.client(service.bob)
    (start_date, _), (end_date, _) = in_seconds(PREPARATION + 20), in_seconds(PREPARATION + 20 + _CROWDED)
    terms = {
        "start_date": start_date,
        "end_date": end_date,
        "nodes": [{"count": 4, "exclusive": True, "resources": QUARTER}],
    }
    lease = service.lease(service.ada, kind="reservation", servers=[{**service.template(), "count": 4}], **terms)
    leases.append(lease)
    forged = bob.boot("forged", preemptible, tags=[f"lease:{lease['id']}", "lease-vm:0"])
    servers.append(forged)
    service.settled([forged])
    service.becomes(lease, "active")
    assert host_of(service.admin.server(forged)) is None
    assert len(service.servers(service.ada)) == 4


@pytest.mark.parametrize("exclusive", [True, False])
def test_race(service: Service, leases: list[Document], servers: list[str], preemptible: str, exclusive: bool) -> None:
    """Another project boots fifty servers while a reservation starts: it gets everything, and none of them gets in."""
    (start_date, start), (end_date, _) = in_seconds(PREPARATION + 12), in_seconds(PREPARATION + 12 + 2 * _CROWDED)
    nodes: Document = {"count": 2, "exclusive": True} if exclusive else {"count": 16}
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{"resources": QUARTER, **nodes}],
        servers=[{**service.template(), "count": nodes["count"]}],
    )
    leases.append(lease)
    small = service.lab.flavors["small"]
    hint = {"lease": lease["id"]}
    kinds: list[tuple[str, Document | None]] = [(small, None), (preemptible, None), (small, hint), (preemptible, hint)]

    def boot(number: int) -> str:
        flavor, hints = kinds[number % len(kinds)]
        # From some seconds before its hosts are vacated until it has started.
        instant = start - PREPARATION - 4 + number * (PREPARATION + 6) / _BOOTS
        time.sleep(max(0.0, instant - time.time()))
        return service.client(service.bob).boot("racer", flavor, hints=hints)

    with Sampler(service) as sampler, ThreadPoolExecutor(_THREADS) as pool:
        servers += pool.map(boot, range(_BOOTS))
        service.becomes(lease, "active")
        begun = service.became(lease, "active")
        mine = service.servers(service.ada)
        assert [each["status"] for each in mine] == ["ACTIVE"] * nodes["count"]
        hosts = set(_aggregate(service.admin, lease)["hosts"])
        assert len(hosts) == (2 if exclusive else 4)
        # Each host has as many of its servers as planned.
        assert Counter(host_of(each) for each in mine) == dict.fromkeys(hosts, nodes["count"] // len(hosts))
        time.sleep(2)
    states = service.settled(servers)
    # The hint of another project has no effect, and without a hint only preemptible servers get into the pool.
    for number, server in enumerate(servers):
        if number % len(kinds) != 1:
            assert states[server] == "ERROR", number
    assert sampler.oversold() == []
    assert sampler.samples[0].at < begun < sampler.samples[-1].at
    if exclusive:
        assert sampler.foreign(service.bob.project_id, hosts, max(start, begun), time.time()) == []
    assert start <= begun <= start + _CROWDED


def test_nothing_is_left(service: Service) -> None:
    """Nothing is left in Nova, Placement and Keystone when all leases are over."""
    service.nothing_left()
