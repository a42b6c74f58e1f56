"""Ordinary servers on hosts that are for leases."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.differences import Kind, Problem
from lease_scheduler.cloud.nova.api.aggregates import Aggregate
from lease_scheduler.cloud.nova.repair import trespassers

POOL = {"service-1": "compute-1", "service-2": "compute-2"}
FREEPOOL = Aggregate("freepool", {"lease:pool": "true"}, frozenset(POOL))


def _server(
    host: str | None = "service-1", project: str = "physics", status: str = "ACTIVE", **extra_specs: str
) -> Any:
    flavor = {"extra_specs": {key.replace("__", ":"): value for key, value in extra_specs.items()}}
    found = SimpleNamespace(id="server", tenant_id=project, status=status, flavor=flavor, tags=["lease:L1"])
    setattr(found, "OS-EXT-SRV-ATTR:host", host)
    return found


def _lease(*hosts: str, project: str = "physics", exclusive: bool = True) -> Aggregate:
    said = {"lease:id": "L1", "lease:project_id": project, "lease:exclusive": str(exclusive).lower()}
    return Aggregate("lease-L1", said, frozenset(hosts))


def _told(server: Any, *aggregates: Aggregate) -> bool:
    found = list(trespassers.find([server], [FREEPOOL, *aggregates], "freepool", POOL))
    for each in found:
        assert (each.kind, each.problem, each.name, each.lease_id) == (Kind.SERVER, Problem.INTRUDING, "server", None)
        assert not each.is_ours_to_mend
        assert "compute-1" in each.detail
        assert server.tenant_id in each.detail
    return bool(found)


def test_an_ordinary_server_on_a_host_of_the_pool_is_told() -> None:
    """Whatever its tags say, because its project can set them."""
    assert _told(_server())
    assert _told(_server(status="SHUTOFF"))


@pytest.mark.parametrize(
    "server",
    [
        _server("service-3"),
        _server(None),
        _server(status="SHELVED_OFFLOADED"),
        _server(lease__id="L1"),
        _server(lease__preemptible="true"),
        _server(blazar__preemptible="true"),
    ],
)
def test_those_that_may_be_there_or_are_not_are_not(server: Any) -> None:
    assert not _told(server)


def test_whole_hosts_are_their_projects_and_parts_are_not() -> None:
    assert not _told(_server(), _lease("service-1"))
    assert _told(_server(), _lease("service-2"))
    assert _told(_server(), _lease("service-1", project="biology"))
    assert _told(_server(), _lease("service-1", exclusive=False))
    reserved = Aggregate("r1", {"blazar:owner": "physics"}, frozenset({"service-1"}), "blazar_r1")
    assert not _told(_server(), reserved)
    assert _told(_server(project="biology"), reserved)


def _held_from(instant: int, project: str = "biology") -> Aggregate:
    lease = _lease("service-1", project=project)
    return Aggregate(lease.name, {**lease.metadata, "lease:from": str(instant)}, lease.hosts)


@pytest.mark.parametrize("extra_specs", [{}, {"lease__preemptible": "true"}])
def test_a_server_that_came_when_a_lease_had_the_host_names_the_filter(extra_specs: dict[str, str]) -> None:
    """Nothing else tells an operator that the filter is missing in the configuration of nova-scheduler."""
    server = _server(**extra_specs)
    server.created = datetime.fromtimestamp(1_000, UTC).isoformat()
    (found,) = trespassers.find([server], [FREEPOOL, _held_from(900)], "freepool", POOL)
    assert (found.problem, found.lease_id, found.host) == (Problem.UNFILTERED, "L1", "compute-1")
    assert "LeaseFilter does not answer" in found.detail
    assert not found.is_ours_to_mend
    assert not list(trespassers.find([server], [FREEPOOL, _held_from(900, "physics")], "freepool", POOL))


@pytest.mark.parametrize("start", [950, 2**40])
def test_a_server_that_was_there_before_says_nothing_of_the_filter(start: int) -> None:
    server = _server()
    server.created = datetime.fromtimestamp(1_000, UTC).isoformat()
    (found,) = trespassers.find([server], [FREEPOOL, _held_from(start)], "freepool", POOL)
    assert (found.problem, found.lease_id) == (Problem.INTRUDING, None)
