"""The unbalanced scenario on a real Nova: shares by need beat even ones, and moves beat both (dfrs E13; issue 22).

Four servers on one host, one of which would use all of it, and three that need little on the other. The fake
hypervisors of the hosts divide CPU time by the weights that agents have set, and agents tell what servers have used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest

from lease_scheduler.nova.boots import FLAVOR_LEASE
from tests.functional.lab.agents import SECRET, HostAgents
from tests.functional.lab.service import LIMIT, Document, Service, host_of, is_at_rest, running_service
from tests.servers.base import wait_until
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_HOSTS = ("node1", "node4")

#: CPUs of a host, and of each server.
_CPUS = 8

_NODE = {"VCPU": _CPUS, "MEMORY_MB": 1_500, "DISK_GB": 1}

#: Parts of a host that the servers on the fuller and on the other host need. A trial gives five eighths of a host, and
#: who needs nearly as much cannot be told from who wants all.
_CROWDED, _QUIET = (1.0, 0.5, 0.4, 0.3), (0.2, 0.2, 0.1)

#: Seconds of a phase, and of the cycles in which the servers of the fuller host have been tried one after the other. So
#: long it takes until needs are known, and to measure what trials cost each of them.
_PHASE = 8
_ROUND = 3.0 * _PHASE * len(_CROWDED)

#: Seconds from one decision about moves to the next, and for which even shares are measured.
_INTERVAL, _EVEN = 30, 16.0

_RELOCATION = "policy_relocation = "


@pytest.fixture
def exact_cpus(lab: Lab, admin: CloudClient) -> Iterator[None]:
    """Hosts promise each CPU once."""
    lab.ensure_running()
    _set_ratio(admin, 1.0)
    yield
    _set_ratio(admin, 4.0)


def _set_ratio(admin: CloudClient, ratio: float) -> None:
    for name in _HOSTS:
        (host,) = admin.placement("GET", f"/resource_providers?name={name}")["resource_providers"]
        path = f"/resource_providers/{host['uuid']}/inventories/VCPU"
        present = admin.placement("GET", path)
        admin.placement("PUT", path, {**present, "allocation_ratio": ratio})


@pytest.fixture
def service(lab: Lab, exact_cpus: None) -> Iterator[Service]:
    settings: dict[str, dict[str, object]] = {
        "scheduling": {
            "policy_fractional": "max-min",
            "policy_relocation": "none",
            "relocation_interval": _INTERVAL,
            "relocation_rest": _INTERVAL,
        },
        "agent": {"secret": SECRET, "renew_interval": 3, "answer_timeout": 3},
        "needs": {"source": "agent", "interval": _PHASE},
    }
    with running_service(lab, hosts=_HOSTS, settings=settings) as started:
        yield started


@pytest.fixture
def agents(lab: Lab, service: Service) -> Iterator[HostAgents]:
    made = HostAgents(service.programs.folder, lab, _HOSTS, service.transport_url, 1.0)
    yield made
    made.close()


def test_shares_by_need_and_moves(service: Service, agents: HostAgents, leases: list[Document]) -> None:
    """DYN+MIG > DYN >= 1.25 x even shares in the least average yield; a server that moves goes where it is planned."""
    terms: Document = {"kind": "best-effort", "min_yield": 0.1, "preemptible": True, "preemption_mode": "migrate"}
    for _ in range(len(_CROWDED + _QUIET)):
        servers = [{**service.template(), "count": 1}]
        nodes = [{"count": 1, "resources": _NODE}]
        leases.append(service.lease(service.ada, servers=servers, nodes=nodes, **terms))
    for lease in leases:
        service.becomes(lease, "active", LIMIT)
    before = _where(service)
    by_host = sorted(([each for each in before if before[each] == host] for host in _HOSTS), key=len, reverse=True)
    assert [len(servers) for servers in by_host] == [len(_CROWDED), len(_QUIET)]
    needs = dict(zip(by_host[0] + by_host[1], _CROWDED + _QUIET, strict=True))
    agents.set_demands({server: _CPUS * need for server, need in needs.items()})

    time.sleep(_ROUND + _PHASE)
    dynamic = _least_yield(agents, needs, _ROUND)
    service.end_engine()
    # Without an engine, weights become even.
    assert wait_until(lambda: all(set(agents.weights(host).values()) == {100} for host in _HOSTS), LIMIT)
    even = _least_yield(agents, needs, _EVEN)
    path = service.programs.configuration_file
    path.write_text(path.read_text().replace(f"{_RELOCATION}none", f"{_RELOCATION}even-yields"))
    service.start_engine()
    assert wait_until(lambda: _where(service) != before, 2 * LIMIT), service.said()
    # The new engine has to find out what they need, too.
    time.sleep(_ROUND)
    assert wait_until(lambda: all(map(is_at_rest, service.servers(service.ada))), LIMIT)
    moving = _least_yield(agents, needs, _ROUND)
    print(f"least average yield: even {even:.3f}, DYN {dynamic:.3f}, DYN+MIG {moving:.3f}")
    assert dynamic >= 1.25 * even
    assert moving > dynamic
    after = _where(service)
    moved = [server for server in before if after[server] != before[server]]
    assert _planned(service) == after, service.said()
    found = service.admin.compute("GET", "/os-migrations")["migrations"]
    migrations = [each for each in found if each["instance_uuid"] in before]
    assert {each["instance_uuid"] for each in migrations} >= set(moved)
    assert {(each["migration_type"], each["status"]) for each in migrations} == {("live-migration", "completed")}


def _where(service: Service) -> dict[str, str | None]:
    return {each["id"]: host_of(each) for each in service.servers(service.ada)}


def _planned(service: Service) -> dict[str, str]:
    """Return the host of each server's lease in the plan."""
    names = {
        each["id"]: each["hypervisor_hostname"]
        for each in service.ask(service.operator, "GET", "os-hosts").json()["hosts"]
    }
    found = service.ask(service.operator, "GET", "os-hosts/allocations").json()["allocations"]
    hosts = {held["lease_id"]: names[each["resource_id"]] for each in found for held in each["reservations"]}
    return {each["id"]: hosts[each["flavor"]["extra_specs"][FLAVOR_LEASE]] for each in service.servers(service.ada)}


def _least_yield(agents: HostAgents, needs: Mapping[str, float], seconds: float) -> float:
    """Return the least average yield of the servers in the next seconds."""
    used, before, begun = dict.fromkeys(needs, 0.0), _used(agents), time.monotonic()
    while (elapsed := time.monotonic() - begun) < seconds:
        time.sleep(0.5)
        now = _used(agents)
        for server in needs.keys() & now.keys():
            # On another host, a server counts anew.
            last = before.get(server, 0.0)
            used[server] += now[server] - (last if last <= now[server] else 0.0)
        before |= now
    return min(used[server] / (elapsed * _CPUS * need) for server, need in needs.items())


def _used(agents: HostAgents) -> dict[str, float]:
    return {server: each["cpu_seconds"] for host in _HOSTS for server, each in agents.guests(host).items()}
