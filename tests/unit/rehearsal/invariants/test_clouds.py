from __future__ import annotations

from dataclasses import replace
from typing import Any

from lease_scheduler.rehearsal.disturbances import Disturbance
from lease_scheduler.rehearsal.invariants import clouds
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, HoldingFact, HostFact, LeaseFact, ServerFact
from lease_scheduler.rehearsal.invariants.promises import SETTLING
from lease_scheduler.rehearsal.story import BootedServer

_HOSTS = {"1": HostFact("1", "compute-1", {}), "2": HostFact("2", "compute-2", {})}
_NOW = 100_000.0


def _lease(state: str = "active", ended: int | None = None) -> LeaseFact:
    holding = HoldingFact(10, 20, 200_000, 200_000, ["1"])
    return LeaseFact("l", "p", "work", "immediate", state, ended, False, True, [{"HOST_SHARE": 1}], [holding])


def _facts(lease: LeaseFact | None, calm_since: float | None = SETTLING + 1, **cloud: Any) -> Facts:
    leases = {} if lease is None else {lease.lease_id: lease}
    return Facts(_NOW, calm_since, leases, hosts=_HOSTS, cloud=CloudFacts(**cloud))


def _server(project: str, host: str | None) -> ServerFact:
    return ServerFact("s", project, host, "active")


def test_only_its_own_servers_are_on_the_hosts_of_a_running_lease() -> None:
    assert not list(clouds.trespassed(_facts(_lease(), servers=[_server("p", "compute-1")])))
    assert not list(clouds.trespassed(_facts(_lease(), servers=[_server("q", "compute-2"), _server("q", None)])))
    assert not list(clouds.trespassed(_facts(_lease(), servers=[replace(_server("q", "compute-1"), runs=False)])))
    assert not list(clouds.trespassed(_facts(_lease("ready"), servers=[_server("q", "compute-1")])))
    assert list(clouds.trespassed(_facts(_lease(), servers=[_server("q", "compute-1")])))


def test_nothing_is_left_of_a_lease_that_is_over() -> None:
    traces = {"flavor f": "l"}
    assert not list(clouds.left(_facts(_lease(), traces=traces)))
    assert not list(clouds.left(_facts(_lease("done", int(_NOW - clouds.LEFT)), traces=traces)))
    long_ago = _lease("done", int(_NOW - clouds.LEFT) - 1)
    assert list(clouds.left(_facts(long_ago, traces=traces)))
    assert not list(clouds.left(_facts(long_ago, None, traces=traces)))
    assert list(clouds.left(_facts(_lease("done", 10), None, traces=traces)))


def test_nothing_is_left_of_a_lease_that_does_not_exist() -> None:
    assert list(clouds.left(_facts(None, traces={"aggregate a": "l"})))
    assert not list(clouds.left(_facts(None, None, traces={"aggregate a": "l"})))


def test_a_running_lease_has_its_hosts_in_nova() -> None:
    assert not list(clouds.missing(_facts(_lease(), aggregates={"l": ["compute-1"]})))
    assert list(clouds.missing(_facts(_lease(), aggregates={"l": ["compute-2"]})))
    assert list(clouds.missing(_facts(_lease())))
    assert not list(clouds.missing(_facts(_lease(), None)))
    assert not list(clouds.missing(_facts(_lease("done", 10))))


def test_nobody_comes_to_a_host_that_a_lease_has_for_itself() -> None:
    def found(since: float, project: str = "q") -> list[Any]:
        server = replace(_server(project, "compute-1"), since=since)
        return list(clouds.intruded(_facts(_lease(), servers=[server], owned={("l", "compute-1"): 50_000.0})))

    assert not found(49_000.0)
    assert not found(50_010.0)
    assert found(50_011.0)
    assert not found(50_011.0, "p")


def test_ordinary_servers_keep_off_the_pool() -> None:
    def found(**values: Any) -> list[Any]:
        server = replace(_server("q", "compute-1"), since=2_000.0, **values)
        return list(clouds.unfiltered(_facts(None, servers=[server], pool={"compute-1": 1_000.0})))

    assert found()
    assert not found(is_preemptible=True)
    assert not found(lease_id="l")
    # It may be getting a flavor that gives way to leases.
    assert not found(is_resized=True)
    assert not list(clouds.unfiltered(_facts(None, servers=[_server("q", "compute-1")], pool={"compute-1": 1_000.0})))
    assert not list(clouds.unfiltered(_facts(None, servers=[_server("q", "spare-1")], pool={"compute-1": 1_000.0})))


def test_servers_of_a_lease_come_to_its_hosts_only() -> None:
    def found(project: str, host: str, *, rain: bool = False, since: float = _NOW) -> list[Any]:
        server = replace(_server(project, host), since=since, lease_id="l")
        facts = _facts(_lease(), servers=[server])
        disturbances = [Disturbance("rain", _NOW - 10, _NOW - 5)] if rain else []
        return [each.invariant for each in clouds.misplaced(replace(facts, disturbances=disturbances))]

    assert found("p", "compute-1") == []
    assert found("p", "compute-2") == ["servers of a lease are on its hosts"]
    assert found("q", "compute-1") == ["nobody uses another's lease"]
    assert found("p", "compute-2", rain=True) == []
    assert found("q", "compute-1", rain=True) == ["nobody uses another's lease"]
    assert found("q", "compute-1", since=_NOW - 1) == []


def test_a_running_lease_holds_its_capacity() -> None:
    shared = replace(_lease(), is_exclusive=False)
    assert list(clouds.unheld(_facts(shared)))
    assert not list(clouds.unheld(_facts(shared, holders={"l": 1})))
    assert not list(clouds.unheld(_facts(_lease())))
    assert not list(clouds.unheld(_facts(replace(shared, state="ready"))))


def test_servers_start_in_an_active_lease() -> None:
    def found(state: str, instant: float, *disturbances: Disturbance) -> list[Any]:
        servers = [replace(_server("p", None), state=state)]
        booted = {"s": BootedServer("s", "l", instant)}
        return list(
            clouds.unusable(replace(_facts(_lease(), servers=servers), booted=booted, disturbances=disturbances))
        )

    assert found("error", 50_000.0)
    assert not found("active", 50_000.0)
    assert not found("error", 5.0)
    assert not found("error", 50_000.0, Disturbance("rain", 49_000.0, 49_500.0))


def test_without_a_model_of_the_cloud_nothing_is_compared() -> None:
    facts = Facts(_NOW, SETTLING + 1, {"l": _lease()}, hosts=_HOSTS)
    assert not [*clouds.trespassed(facts), *clouds.left(facts), *clouds.missing(facts)]
