"""Running leases on a real Nova are moved together, so that hosts become empty; the engine is killed in the middle.

Grit 2007, section 6.4 (shirako F116, F117, A20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import pytest

from tests.functional.lab.service import (
    LIMIT,
    QUARTER,
    Document,
    Service,
    host_of,
    in_epoch,
    is_at_rest,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_EIGHTH = {"VCPU": 4, "MEMORY_MB": 1_950, "DISK_GB": 1}

#: Seconds from decision to decision, servers that one moves, and seconds for which a lease runs undisturbed.
_INTERVAL, _BUDGET, _REST = 60, 2, 20

#: Seconds that Nova needs to move the memory of a server; the engine is killed meanwhile.
_MOVE = 5.0

_DEVICE, _HOST_WITH_DEVICE = "CUSTOM_FPGA", "node2"

#: The host that takes the servers which may move, since it has the most that may not.
_FULLEST = "node1"


@pytest.fixture(scope="module")
def device(lab: Lab, admin: CloudClient) -> Iterator[None]:
    """One host has a device on a provider of its own."""
    lab.ensure_running()
    admin.placement("PUT", f"/resource_classes/{_DEVICE}")
    (host,) = admin.placement("GET", f"/resource_providers?name={_HOST_WITH_DEVICE}")["resource_providers"]
    child = {"name": f"{_HOST_WITH_DEVICE}_fpga", "parent_provider_uuid": host["uuid"]}
    made = admin.placement("POST", "/resource_providers", child)
    path = f"/resource_providers/{made['uuid']}"
    content = {"resource_provider_generation": made["generation"], "inventories": {_DEVICE: {"total": 1}}}
    admin.placement("PUT", f"{path}/inventories", content)
    yield
    admin.placement("DELETE", path)
    admin.placement("DELETE", f"/resource_classes/{_DEVICE}")


@pytest.fixture(scope="module")
def service(lab: Lab, device: None) -> Iterator[Service]:
    settings = {
        "scheduling": {
            "policy_relocation": "energy-aware",
            "relocation_interval": _INTERVAL,
            "relocation_budget": _BUDGET,
            "relocation_rest": _REST,
        }
    }
    with running_service(lab, settings=settings) as started:
        for host in LAB_HOSTS:
            lab.set_delays(host.name, {"live_migration": _MOVE})
        try:
            yield started
        finally:
            for host in LAB_HOSTS:
                lab.set_delays(host.name, {})


def _bound(host: str, amount: int) -> Document:
    """Return a reservation of quarters of one host."""
    size = {"vcpus": QUARTER["VCPU"], "memory_mb": QUARTER["MEMORY_MB"], "disk_gb": QUARTER["DISK_GB"]}
    where = f'["==", "$hypervisor_hostname", "{host}"]'
    return {
        "resource_type": "virtual:instance",
        "amount": amount,
        "affinity": None,
        "resource_properties": where,
    } | size


def _lease(service: Service, count: int = 0, **terms: object) -> Document:
    """Create a lease from now on, with so many servers."""
    if count:
        terms["servers"] = [{**service.template(), "count": count}]
    return service.lease(service.ada, kind="immediate", duration=3_000, **terms)


def _migrations(service: Service, servers: Collection[str]) -> list[Document]:
    """Return the migrations of servers that Nova has recorded."""
    found: list[Document] = service.admin.compute("GET", "/os-migrations")["migrations"]
    return [each for each in found if each["instance_uuid"] in servers]


def _where(service: Service) -> dict[str, str | None]:
    """Return the host of each server."""
    return {each["id"]: host_of(each) for each in service.servers(service.ada)}


def _in_use(service: Service) -> set[str]:
    """Return the hosts of which Placement counts anything as used."""
    return {host for host, used in service.usages().items() if any(used.values())}


def _planned(service: Service, lease: Document) -> set[str]:
    """Return the hosts of a lease in the plan."""
    names = {
        each["id"]: each["hypervisor_hostname"]
        for each in service.ask(service.operator, "GET", "os-hosts").json()["hosts"]
    }
    found = service.ask(service.operator, "GET", "os-hosts/allocations").json()["allocations"]
    return {
        names[each["resource_id"]]
        for each in found
        if any(held["lease_id"] == lease["id"] for held in each["reservations"])
    }


def test_hosts_become_empty(service: Service, leases: list[Document]) -> None:
    """What may move leaves two hosts in two decisions, whatever happens to the engine; everything else stays."""
    movable: Document = {"preemptible": True, "preemption_mode": "migrate"}
    kept = _lease(service, 2, reservations=[_bound(_FULLEST, 2)])
    leases.append(kept)
    with_device = _lease(service, 1, nodes=[{"count": 1, "resources": {**QUARTER, _DEVICE: 1}}], **movable)
    leases.append(with_device)
    # There is room for two eighths on each of the other two hosts, and on no other.
    room = {_FULLEST: 2, _HOST_WITH_DEVICE: 3, "node3": 3, "node4": 3}
    fillers = [_lease(service, reservations=[_bound(host, amount)]) for host, amount in room.items()]
    leases += fillers
    moving = [_lease(service, 2, nodes=[{"count": 2, "resources": _EIGHTH}], **movable) for _ in range(2)]
    leases += moving
    for each in leases:
        service.becomes(each, "active", 2 * LIMIT)
    before = _where(service)
    assert Counter(before.values()) == {_FULLEST: 2, _HOST_WITH_DEVICE: 1, "node3": 2, "node4": 2}
    assert _migrations(service, before) == []
    for each in fillers:
        service.is_cancelled(each)

    assert wait_until(lambda: any(each["status"] == "MIGRATING" for each in service.servers(service.ada)), 2 * LIMIT)
    service.end_engine()
    service.start_engine()

    def are_empty() -> bool:
        return not {"node3", "node4"} & set(_where(service).values())

    assert wait_until(are_empty, 3 * LIMIT), (_where(service), service.said())
    assert wait_until(lambda: all(map(is_at_rest, service.servers(service.ada))), LIMIT)
    after = _where(service)
    assert after.keys() == before.keys()
    stayed = {server for server, host in before.items() if host in (_FULLEST, _HOST_WITH_DEVICE)}
    assert {server: host for server, host in after.items() if server in stayed} == {
        server: host for server, host in before.items() if server in stayed
    }
    # Nova has the servers where the plan has them.
    assert {after[each] for each in after.keys() - stayed} == {_FULLEST}
    assert [_planned(service, each) for each in (kept, with_device, *moving)] == [
        {_FULLEST},
        {_HOST_WITH_DEVICE},
        {_FULLEST},
        {_FULLEST},
    ]
    # Placement counts nothing any more on the hosts that were left.
    assert wait_until(lambda: _in_use(service) == {_FULLEST, _HOST_WITH_DEVICE}, LIMIT), service.usages()
    _check_migrations(_migrations(service, before), before.keys() - stayed)
    for each in (kept, with_device, *moving):
        # A move is in the history of a lease, which stays active.
        history = service.history(each)
        assert history[-1]["to"] == "active"
        assert sum(entry["from"] != "active" and entry["to"] == "active" for entry in history) == 1, history
        assert service.show(each)["breaches"] == []


def _check_migrations(migrations: Sequence[Document], moved: Collection[str]) -> None:
    """Check that Nova has moved each of these servers once, live, and no more of them at a time than allowed."""
    assert sorted(each["instance_uuid"] for each in migrations) == sorted(moved), migrations
    assert {(each["migration_type"], each["status"]) for each in migrations} == {("live-migration", "completed")}
    first = min(in_epoch(each["created_at"]) for each in migrations)
    next_decision = (first // _INTERVAL + 1) * _INTERVAL
    early = [each for each in migrations if in_epoch(each["created_at"]) < next_decision]
    assert len(early) <= _BUDGET, migrations
