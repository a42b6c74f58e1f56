"""Orders to agents: what is ordered, and agents that are away (issue 22)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.agent.protocol import AgentError, Answer, ServerReport
from lease_scheduler.cloud.nova.api.names import tag
from lease_scheduler.cloud.nova.lease.shares import ServerShares, weights_of
from lease_scheduler.nova.boots import FLAVOR_LEASE
from tests.servers.base import wait_until

HOST = "OS-EXT-SRV-ATTR:host"


def server(server_id: str, lease_id: str | None, host: str | None = "compute-1", vcpus: int = 2) -> Any:
    extra_specs = {} if lease_id is None else {FLAVOR_LEASE: lease_id}
    return SimpleNamespace(id=server_id, flavor={"vcpus": vcpus, "extra_specs": extra_specs}, tags=[], **{HOST: host})


class Cloud:
    """Servers, and agents that note their orders."""

    def __init__(self) -> None:
        self.servers = [server("a", "fluid"), server("b", "other"), server("c", None, "compute-2")]
        self.orders: list[tuple[str, Mapping[str, int]]] = []
        self.away: dict[str, Exception] = {}
        self.problem: str | None = None
        self.closed = 0

    def listed(self) -> list[Any]:
        return self.servers

    def ask(self, host: str) -> Answer:
        if host in self.away:
            raise self.away[host]
        reports = {each.id: ServerReport(1, 100, 5.0) for each in self.servers}
        return Answer("site", host, "nonce", "run", 1, True, None, reports)

    def order(self, host: str, weights: Mapping[str, int]) -> Answer:
        self.orders.append((host, weights))
        if host in self.away:
            raise self.away[host]
        return Answer("site", host, "nonce", "run", 1, True, self.problem, {})

    def close(self) -> None:
        self.closed += 1


Make = Callable[..., ServerShares]


@pytest.fixture
def cloud() -> Cloud:
    return Cloud()


@pytest.fixture
def make(cloud: Cloud) -> Iterator[Make]:
    made: list[ServerShares] = []

    def one(renew_interval: float = 3600.0) -> ServerShares:
        made.append(ServerShares(lambda: cloud, cloud.listed, renew_interval))
        made[-1].start()
        return made[-1]

    yield one
    for each in made:
        each.stop()


def insist(condition: Callable[[], bool]) -> None:
    assert wait_until(condition, 30.0)


def test_weights_are_parts_of_the_cpus_of_servers_of_fluid_leases() -> None:
    servers = [
        server("a", "half"),
        server("b", "half", "compute-2", 4),
        server("c", "full", "compute-2", 1),
        server("d", "tiny", "compute-1", 1),
        server("e", "whole"),
        server("f", None),
        server("g", "half", None),
    ]
    assert weights_of(servers, {"half": 0.5, "full": 1.0, "tiny": 0.001, "elsewhere": 0.2}) == {
        "compute-1": {"a": 100, "d": 1},
        "compute-2": {"b": 200, "c": 100},
    }


def test_the_tag_of_another_lease_changes_nothing() -> None:
    """Users can tag their servers."""
    servers = [server("a", "slow"), server("b", None)]
    for each in servers:
        each.tags.append(tag("fast"))
    assert weights_of(servers, {"slow": 0.25, "fast": 1.0}) == {"compute-1": {"a": 50}}


def test_a_host_is_told_once_that_it_has_no_fluid_servers_any_more(cloud: Cloud, make: Make) -> None:
    shares = make()
    shares.share(1, {"fluid": 0.25})
    insist(lambda: cloud.orders == [("compute-1", {"a": 50})])
    shares.share(2, {"fluid": 0.5, "other": 1.0})
    insist(lambda: cloud.orders[1:] == [("compute-1", {"a": 100, "b": 200})])
    shares.share(1, {})
    cloud.servers[0] = server("a", "fluid", "compute-2")
    shares.share(2, {"fluid": 0.5})
    insist(lambda: sorted(cloud.orders[2:], key=str) == [("compute-1", {}), ("compute-2", {"a": 100})])
    shares.share(3, {})
    insist(lambda: cloud.orders[4:] == [("compute-2", {})])


def test_orders_are_repeated_even_if_nova_is_away(cloud: Cloud, make: Make) -> None:
    shares = make(0.05)
    shares.share(1, {"fluid": 0.25})
    insist(lambda: len(cloud.orders) > 1)
    del cloud.servers
    count = len(cloud.orders)
    insist(lambda: len(cloud.orders) > count + 2)
    assert {host: dict(weights) for host, weights in cloud.orders} == {"compute-1": {"a": 50}}


@pytest.mark.parametrize("error", [AgentError("does not answer"), ValueError("unforeseen")])
def test_an_agent_that_is_away_is_told_once_and_keeps_no_other_from_its_order(
    cloud: Cloud, make: Make, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    cloud.servers[2] = server("c", "fluid", "compute-2")
    cloud.away["compute-1"] = error
    shares = make(0.05)
    shares.share(1, {"fluid": 0.25})
    insist(lambda: len(cloud.orders) > 6)
    assert ("compute-2", {"c": 50}) in cloud.orders
    assert list(shares.degraded) == ["compute-1"]
    assert str(error) in shares.degraded["compute-1"]
    assert len([each for each in caplog.records if "may not have their parts" in each.message]) == 1
    cloud.away.clear()
    insist(lambda: not shares.degraded)
    insist(lambda: any("again on compute-1" in each.message for each in caplog.records))


def test_what_a_hypervisor_refuses_makes_its_host_degraded(cloud: Cloud, make: Make) -> None:
    cloud.problem = "server a: not allowed"
    shares = make()
    shares.share(1, {"fluid": 0.25})
    insist(lambda: shares.degraded == {"compute-1": "server a: not allowed"})


def test_the_next_engine_of_the_process_counts_from_the_beginning(cloud: Cloud, make: Make) -> None:
    shares = make()
    shares.share(9, {"fluid": 0.25})
    insist(lambda: len(cloud.orders) == 1)
    shares.stop()
    assert cloud.closed == 1
    shares.share(1, {"fluid": 1.0})
    shares.start()
    insist(lambda: cloud.orders[1:] == [("compute-1", {"a": 200})])


def test_without_agents_nothing_is_done(cloud: Cloud) -> None:
    shares = ServerShares(lambda: None, cloud.listed, 30.0)
    shares.start()
    shares.share(1, {"fluid": 0.25})
    assert (cloud.orders, shares.degraded) == ([], {})
    shares.stop()


def test_agents_tell_the_cpu_time_of_the_servers_that_have_weights(cloud: Cloud, make: Make) -> None:
    """Those of hosts that do not answer are not known; without agents, nothing is."""
    cloud.servers[2] = server("c", "fluid", "compute-2")
    shares = make()
    assert shares.cpu_times() == {}
    shares.share(1, {"fluid": 0.25})
    insist(lambda: len(cloud.orders) == 2)
    assert shares.cpu_times() == {"a": 5.0, "c": 5.0}
    cloud.away["compute-2"] = ValueError("unforeseen")
    assert shares.cpu_times() == {"a": 5.0}
    shares.stop()
    assert shares.cpu_times() == {}
