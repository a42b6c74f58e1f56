"""Fluid leases on a real Nova: the yields that REST shows are the CPU weights that agents give its servers (issue 22).

Each fake host has an agent of its own, a process that is reached over RabbitMQ. Agents, the engine and a host are
killed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
import requests

from lease_scheduler.nova.boots import FLAVOR_LEASE
from tests.functional.lab.agents import EXPIRE_AFTER, SECRET, HostAgents
from tests.functional.lab.service import LIMIT, Document, Service, host_of, is_at_rest, running_service
from tests.servers.base import free_port, wait_until
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: The second one can be killed alone.
_HOSTS = ("node1", "node4")

#: CPUs of a host as Nova counts them: 8, four times.
_CAPACITY, _RATIO = 32, 4.0

#: Five of them fill the memory of a host. Together they need 40 of its 32 CPUs, and hold a quarter of that.
_NODE = {"VCPU": 8, "MEMORY_MB": 3_000, "DISK_GB": 1}
_MIN_YIELD = 0.25

#: Numbers of nodes of leases. No two or three of them make five, so one lease is on both hosts.
_SIZES = (3, 3, 3, 1)


class _Site:
    """Four fluid leases on two hosts, each node with a server, and the agents of the hosts."""

    def __init__(self, service: Service, agents: HostAgents, metrics_port: int) -> None:
        self.service, self.agents, self._metrics_port = service, agents, metrics_port
        self.leases: list[Document] = []
        for count in _SIZES:
            terms = {"kind": "best-effort", "min_yield": _MIN_YIELD, "nodes": [{"count": count, "resources": _NODE}]}
            servers = [{**service.template(), "count": count}]
            self.leases.append(service.lease(service.ada, servers=servers, **terms))
        for lease in self.leases:
            service.becomes(lease, "active", 2 * LIMIT)

    def where(self) -> dict[str, dict[str, str]]:
        """Return the fluid lease of each server that runs on a host, or an empty text for other leases."""
        fluid = {lease["id"] for lease in self.leases}
        found: dict[str, dict[str, str]] = {host: {} for host in _HOSTS}
        for user in (self.service.ada, self.service.bob):
            for server in self.service.servers(user):
                host = host_of(server)
                if host is not None and server["status"] == "ACTIVE":
                    lease = server["flavor"]["extra_specs"][FLAVOR_LEASE]
                    found[host][server["id"]] = lease if lease in fluid else ""
        return found

    def yields(self) -> dict[str, float]:
        """Return what REST shows of the leases that run."""
        shown = {lease["id"]: self.service.show(lease) for lease in self.leases}
        return {lease: each["yield"] for lease, each in shown.items() if each["state"] == "active"}

    def difference(self, hosts: tuple[str, ...] = _HOSTS) -> object:
        """Return what is not as it should be: None if yields are fair, and weights are what the yields say."""
        where, yields = self.where(), self.yields()
        fair = _fair(where)
        if yields != pytest.approx({lease: fair[lease] for lease in yields}, abs=0.002):
            return "yields", yields, fair, where
        for host in hosts:
            wanted = {server: 800 * yields.get(lease, 1.0) for server, lease in where[host].items()}
            found = self.agents.weights(host)
            if found != pytest.approx(wanted, abs=2) or sum(found.values()) > 100 * _CAPACITY:
                return host, found, wanted
        return None

    def degraded(self) -> float:
        """Return the number of hosts that the engine's metrics count as degraded."""
        found = requests.get(f"http://127.0.0.1:{self._metrics_port}/metrics", timeout=LIMIT).text
        (line,) = (each for each in found.splitlines() if each.startswith("lease_scheduler_hosts_without_shares "))
        return float(line.split()[1])

    def least_yields(self, fewer: str) -> dict[int, float | None]:
        """Return what REST says the slowest lease gets with fewer hosts; the leases are shelved when they move."""
        answer = self.service.ask(self.service.operator, "GET", f"capacity?fewer_hosts={fewer}")
        assert answer.status_code == 200, answer.text
        return {each["fewer"]: each["least_yield"] for each in answer.json()["capacity"]["least_yields"]}

    def become_right(self, hosts: tuple[str, ...] = _HOSTS) -> None:
        """Wait until nothing is wrong."""

        def is_right() -> bool:
            try:
                return self.difference(hosts) is None
            except (AssertionError, requests.RequestException):
                # The engine may be away.
                return False

        assert wait_until(is_right, LIMIT), (self.difference(hosts), self.service.said())


def _fair(where: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """Return max-min fair yields: all rise together, and those on a host that is full stop (the oracle)."""
    nodes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    left = dict.fromkeys(where, float(_CAPACITY))
    for host, servers in where.items():
        for lease in servers.values():
            if lease:
                nodes[host][lease] += 8
            else:
                left[host] -= 8
    open_leases = {lease for on_host in nodes.values() for lease in on_host}
    yields = dict.fromkeys(open_leases, 1.0)
    while open_leases:
        level = {
            host: left[host] / need
            for host, on_host in nodes.items()
            if (need := sum(amount for lease, amount in on_host.items() if lease in open_leases))
        }
        fullest = min(level, key=lambda host: level[host])
        if level[fullest] >= 1:
            break
        for lease in open_leases & nodes[fullest].keys():
            yields[lease] = level[fullest]
            open_leases.discard(lease)
            for host, on_host in nodes.items():
                left[host] -= level[fullest] * on_host.get(lease, 0)
    return yields


@pytest.fixture(scope="module")
def site(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Site]:
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_fractional": "max-min"},
        "agent": {"secret": SECRET, "renew_interval": 3, "answer_timeout": 3},
        "metrics": {"enabled": True, "engine_port": (port := free_port()), "api_port": free_port()},
    }
    with running_service(lab, hosts=_HOSTS, settings=settings) as service:
        folder: Path = tmp_path_factory.mktemp("agents")
        agents = HostAgents(folder, lab, _HOSTS, service.transport_url, _RATIO)
        try:
            made = _Site(service, agents, port)
            yield made
            lab.ensure_running()
            for lease in made.leases:
                service.is_cancelled(lease)
            service.nothing_left()
        finally:
            agents.close()


def test_weights_are_what_yields_say(site: _Site) -> None:
    """Four fifths for everybody; less where a reservation has booked CPUs, whose server has all of its own."""
    site.become_right()
    assert set(site.yields().values()) == {0.8}
    assert sorted(len(servers) for servers in site.where().values()) == [5, 5]
    assert site.least_yields("0,1") == {0: 0.8, 1: None}
    booking = {"resource_type": "virtual:instance", "amount": 1, "vcpus": 8, "memory_mb": 500, "disk_gb": 1}
    booking |= {"affinity": None, "resource_properties": '["==", "$hypervisor_hostname", "node1"]'}
    booked = site.service.lease(
        site.service.bob,
        kind="immediate",
        duration=3_000,
        reservations=[booking],
        servers=[{**site.service.template(), "count": 1}],
    )
    try:
        site.service.becomes(booked, "active", LIMIT)
        site.become_right()
        (server,) = (each["id"] for each in site.service.servers(site.service.bob))
        assert site.agents.weights("node1")[server] == 800
        assert min(site.yields().values()) == 0.6
        assert site.least_yields("0") == {0: 0.6}
        # Whatever the other host has left of the lease that is on both goes to those that are on it alone.
        assert max(site.yields().values()) > 0.8
    finally:
        site.service.is_cancelled(booked)
    assert wait_until(lambda: not site.service.servers(site.service.bob), LIMIT)
    site.become_right()
    assert set(site.yields().values()) == {0.8}


def test_agent_and_engine_are_killed(site: _Site) -> None:
    """Servers keep their weights without their agent, and lose them without an engine, both until it is back."""
    agents, service = site.agents, site.service
    site.become_right()
    before = agents.weights("node1")
    agents.kill("node1")
    (removed,) = (lease for lease in site.leases[-1:])
    service.is_cancelled(removed)
    service.becomes(removed, "cancelled", LIMIT)
    site.leases.remove(removed)
    # Hosts with an agent follow; the other one keeps what it had.
    others = tuple(host for host in _HOSTS if host != "node1")
    site.become_right(others)
    assert agents.weights("node1") == before
    assert wait_until(lambda: site.degraded() == 1, LIMIT)
    agents.start("node1")
    site.become_right()
    assert wait_until(lambda: site.degraded() == 0, LIMIT)

    right = {host: agents.weights(host) for host in _HOSTS}
    assert any(set(each.values()) != {100} for each in right.values())
    service.end_engine()
    killed = time.monotonic()

    def are_even(host: str) -> bool:
        return set(agents.weights(host).values()) == {100}

    for host in _HOSTS:
        assert wait_until(partial(are_even, host), LIMIT), agents.log(host)
    assert time.monotonic() - killed > EXPIRE_AFTER / 2
    service.start_engine()
    site.become_right()
    assert {host: agents.weights(host) for host in _HOSTS} == right


def test_a_host_is_lost(site: _Site, lab: Lab) -> None:
    """What runs elsewhere has the weights that follow, and so has everything when the host is back."""
    site.become_right()
    lab.computes_of("node4").kill()
    agents = site.agents
    agents.kill("node4")
    assert wait_until(lambda: len(site.yields()) < len(site.leases), 2 * LIMIT), site.service.said()
    site.become_right(("node1",))
    lab.ensure_running()
    agents.start("node4")
    assert wait_until(lambda: len(site.yields()) == len(site.leases), 2 * LIMIT), site.service.said()
    assert wait_until(lambda: all(map(is_at_rest, site.service.servers(site.service.ada))), LIMIT)
    # What runs there was replaced elsewhere while the host was away.
    agents.reap()
    site.become_right()
