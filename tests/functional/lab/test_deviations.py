"""Deviations from the plan: deleted servers, failing hosts, servers without leases, edited aggregates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    host_of,
    in_seconds,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_NAMES = [host.name for host in LAB_HOSTS]

#: A host that can be killed alone.
_MORTAL = "node4"

_WHOLE: Document = {"exclusive": True, "resources": QUARTER}


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """The service, which reconciles so often that a test can wait for it."""
    settings = {"engine": {"reconcile_interval": 5}, "nova": {"inspect_interval": 5}}
    with running_service(lab, settings=settings) as started:
        yield started


@pytest.fixture(autouse=True)
def _whole_afterwards(lab: Lab, admin: CloudClient) -> Iterator[None]:
    """All hosts run and are enabled after each test."""
    yield
    lab.ensure_running()
    for name in _NAMES:
        _set_service(admin, name, status="enabled")


def _set_service(admin: CloudClient, host: str, **terms: str) -> None:
    (found,) = admin.compute("GET", f"/os-services?binary=nova-compute&host={host}")["services"]
    admin.compute("PUT", f"/os-services/{found['id']}", terms)


def _aggregate(service: Service, lease: Document) -> Document:
    found = service.admin.compute("GET", "/os-aggregates")["aggregates"]
    aggregate: Document = next(each for each in found if each["name"] == f"lease-{lease['id']}")
    return aggregate


def _hosts(service: Service, lease: Document) -> set[str]:
    """Return the hosts that Nova has in a lease's aggregate."""
    with suppress(StopIteration):
        return set(_aggregate(service, lease)["hosts"])
    return set()


def test_owner_deletes_his_servers(service: Service, leases: list[Document], recorder: NotificationRecorder) -> None:
    """A managed lease is over when its last server is gone; a waiting lease starts at once."""
    nodes = [{"count": 16, "resources": QUARTER}]
    servers = [{**service.template(), "count": 2}]
    first = service.lease(service.ada, kind="best-effort", duration=900, nodes=nodes, servers=servers)
    second = service.lease(service.bob, kind="best-effort", duration=5, nodes=nodes)
    leases += [first, second]
    service.becomes(first, "active")
    mine = [each["id"] for each in service.servers(service.ada)]
    client = service.client(service.ada)
    client.delete(mine[0])
    time.sleep(2)
    assert service.state(first) == "active"
    client.delete(mine[1])
    deleted = recorder.wait_for("instance.delete.end", mine[1]).at
    service.becomes(first, "done")
    assert service.became(first, "done") - deleted < 5
    service.becomes(second, "active")
    assert service.became(second, "active") - deleted < 30
    service.becomes(second, "done")


def test_host_is_disabled(service: Service, leases: list[Document]) -> None:
    """No lease starts there any more, and running servers continue."""
    running = service.lease(
        service.ada,
        kind="immediate",
        duration=45,
        nodes=[{"count": 1, **_WHOLE}],
        servers=[service.template()],
    )
    leases.append(running)
    service.becomes(running, "active")
    (server,) = service.servers(service.ada)
    host = host_of(server)
    assert host is not None
    _set_service(service.admin, host, status="disabled", disabled_reason="a disk fails")
    assert wait_until(lambda: not _takes(service, 4), LIMIT)
    other = service.lease(service.bob, kind="immediate", duration=5, nodes=[{"count": 3, **_WHOLE}])
    leases.append(other)
    service.becomes(other, "active")
    assert _hosts(service, other) == set(_NAMES) - {host}
    service.becomes(other, "done")
    (still,) = service.servers(service.ada)
    assert (still["id"], still["status"], host_of(still)) == (server["id"], "ACTIVE", host)
    service.becomes(running, "done")
    _set_service(service.admin, host, status="enabled")
    assert wait_until(lambda: _takes(service, 4), LIMIT)


def _takes(service: Service, count: int) -> bool:
    """Return whether that many whole hosts are available at once."""
    terms: Document = {"kind": "immediate", "duration": 5, "nodes": [{"count": count, **_WHOLE}]}
    return bool(service.ask(service.operator, "POST", "quotes", {"name": "try", **terms}).json()["quote"]["granted"])


def _kill(lab: Lab) -> None:
    """Kill a host, and wait until Nova has noticed."""
    lab.computes_of(_MORTAL).kill()
    # Not from hypervisor details, which fail while one hypervisor does not answer.
    path = f"/os-services?binary=nova-compute&host={_MORTAL}"
    assert wait_until(lambda: lab.admin.compute("GET", path)["services"][0]["state"] == "down", LIMIT)


def test_host_dies_and_another_is_free(service: Service, leases: list[Document], lab: Lab) -> None:
    """A reservation of two hosts gets another host, and its server is rebuilt there."""
    (start_date, _), (end_date, _) = in_seconds(PREPARATION + 5), in_seconds(400)
    both = [
        service.lease(
            service.ada,
            kind="reservation",
            start_date=start_date,
            end_date=end_date,
            nodes=[{"count": 2, **_WHOLE}],
            servers=[{**service.template(), "count": 2}],
        )
        for _ in range(2)
    ]
    leases += both
    for lease in both:
        service.becomes(lease, "active")
    # The two leases have all hosts; the one that is on the killed host matters.
    (hit,) = [lease for lease in both if _MORTAL in _hosts(service, lease)]
    (other,) = [lease for lease in both if lease is not hit]
    (stays,) = _hosts(service, hit) - {_MORTAL}
    service.is_cancelled(other)
    assert wait_until(lambda: len(service.servers(service.ada)) == 2, LIMIT)
    before = {each["id"] for each in service.servers(service.ada)}
    _kill(lab)
    assert wait_until(lambda: len(_hosts(service, hit) - {_MORTAL}) == 2, LIMIT), service.said()

    def all_run() -> bool:
        found = service.servers(service.ada)
        hosts = {host_of(each) for each in found}
        return [each["status"] for each in found] == ["ACTIVE"] * 2 and hosts == _hosts(service, hit)

    assert wait_until(all_run, LIMIT), (service.servers(service.ada), service.said())
    assert _hosts(service, hit) >= {stays}
    assert {each["id"] for each in service.servers(service.ada)} == before
    assert service.show(hit)["degraded"] is False
    assert service.state(hit) == "active"


def test_host_dies_and_none_is_free(service: Service, leases: list[Document], lab: Lab) -> None:
    """A reservation of all hosts continues without the host, reports it, and has the host again when it is back."""
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 4, **_WHOLE}])
    leases.append(lease)
    service.becomes(lease, "active")
    assert service.show(lease)["degraded"] is False
    _kill(lab)
    assert wait_until(lambda: service.show(lease)["degraded"] is True, LIMIT), service.said()
    assert service.state(lease) == "active"
    lab.ensure_running()
    assert wait_until(lambda: service.show(lease)["degraded"] is False, LIMIT), service.said()
    assert service.state(lease) == "active"
    assert _hosts(service, lease) == set(_NAMES)


def test_somebody_elses_server(service: Service, leases: list[Document]) -> None:
    """A server that an administrator forces onto a lease's host is reported; the lease continues."""
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 1, **_WHOLE}])
    leases.append(lease)
    service.becomes(lease, "active")
    (host,) = _hosts(service, lease)
    server = service.admin.boot("forced", service.lab.flavors["small"], availability_zone=f"nova:{host}")
    try:
        service.admin.wait_for(server, "ACTIVE")
        assert wait_until(lambda: server in service.programs.log(service.engine), LIMIT)
        assert service.state(lease) == "active"
    finally:
        service.remove_servers([server])


def test_aggregate_edited_by_hand(service: Service, leases: list[Document]) -> None:
    """A host that an administrator removes from a lease's aggregate, or adds to it, is put right."""
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 2, **_WHOLE}])
    leases.append(lease)
    service.becomes(lease, "active")
    aggregate = _aggregate(service, lease)
    hosts = set(aggregate["hosts"])
    path = f"/os-aggregates/{aggregate['id']}/action"
    other = min(set(_NAMES) - hosts)
    service.admin.compute("POST", path, {"add_host": {"host": other}})
    assert wait_until(lambda: _hosts(service, lease) == hosts, LIMIT), "the host that was added is still there"
    service.admin.compute("POST", path, {"remove_host": {"host": min(hosts)}})
    assert wait_until(lambda: _hosts(service, lease) == hosts, LIMIT), "the host that was removed is still missing"
    service.admin.compute("POST", path, {"set_metadata": {"metadata": {"lease:project_id": service.bob.project_id}}})

    def is_adas() -> bool:
        return bool(_aggregate(service, lease)["metadata"]["lease:project_id"] == service.ada.project_id)

    assert wait_until(is_adas, LIMIT), "the lease is still another project's"


def test_host_after_a_lease_that_it_has_learnt_of(service: Service, leases: list[Document], lab: Lab) -> None:
    """Servers can be booted on a host after a lease whose slots nova-compute has cached is over.

    While nova-compute remembers a child provider that another client has removed, its updates fail.
    """
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 16, "resources": QUARTER}])
    leases.append(lease)
    service.becomes(lease, "active")
    lab.computes_of(_MORTAL).restart()
    assert wait_until(lambda: _MORTAL in lab.hosts_up(), LIMIT)
    service.is_cancelled(lease)
    service.nothing_left()
    server = service.admin.boot("afterwards", lab.flavors["small"], availability_zone=f"nova:{_MORTAL}")
    try:
        assert service.settled([server]) == {server: "ACTIVE"}
    finally:
        service.remove_servers([server])


def test_trust_of_a_lease_that_never_began(service: Service) -> None:
    """A trust that a user gave us ends with the lease, whether it started or not."""
    (start_date, _), (end_date, _) = in_seconds(3_600), in_seconds(7_200)
    lease = service.lease(
        service.operator,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{"count": 1, **_WHOLE}],
        servers=[service.template()],
    )
    trust = service.show(lease)["trust_id"]
    assert trust in [each["id"] for each in service.trusts()]
    service.is_cancelled(lease)
    service.becomes(lease, "cancelled")
    assert wait_until(lambda: trust not in [each["id"] for each in service.trusts()], 15)


def test_deleted_while_they_are_shelved(service: Service, leases: list[Document], lab: Lab) -> None:
    """Servers that are deleted meanwhile do not delay making room."""
    nodes = [{"count": 16, "resources": QUARTER}]
    for seconds in (15.0, 0.0):
        for name in _NAMES:
            lab.set_delays(name, {"snapshot": seconds})
        victim = service.lease(
            service.ada,
            kind="best-effort",
            duration=900,
            nodes=nodes,
            # All on one host, and as many as may be shelved there at the same time.
            servers=[{**service.template(), "count": 4}],
        )
        leases.append(victim)
        service.becomes(victim, "active")
        (start_date, start), (end_date, _) = in_seconds(PREPARATION + 12), in_seconds(PREPARATION + 52)
        preemptor = service.lease(
            service.bob, kind="reservation", start_date=start_date, end_date=end_date, nodes=[{"count": 4, **_WHOLE}]
        )
        leases.append(preemptor)
        if seconds:
            assert wait_until(lambda: _all_are_shelved(service, 4), LIMIT), service.said()
            service.is_cancelled(victim)
            service.is_cancelled(preemptor)
            service.nothing_left()
    time.sleep(max(0.0, start + 10 - time.time()))
    assert service.state(preemptor) == "active"


def _all_are_shelved(service: Service, count: int) -> bool:
    """Return whether that many servers are being shelved."""
    found = service.servers(service.ada)
    return [each["OS-EXT-STS:task_state"] is not None for each in found] == [True] * count


def test_nothing_is_left(service: Service) -> None:
    """Nothing is left in Nova, Placement and Keystone when all leases are over."""
    service.nothing_left()
