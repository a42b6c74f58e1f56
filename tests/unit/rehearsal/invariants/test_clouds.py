from __future__ import annotations

from dataclasses import replace
from typing import Any

from lease_scheduler.rehearsal.invariants import clouds
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, HoldingFact, HostFact, LeaseFact, ServerFact
from lease_scheduler.rehearsal.invariants.promises import SETTLING

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


def test_without_a_model_of_the_cloud_nothing_is_compared() -> None:
    facts = Facts(_NOW, SETTLING + 1, {"l": _lease()}, hosts=_HOSTS)
    assert not [*clouds.trespassed(facts), *clouds.left(facts), *clouds.missing(facts)]
