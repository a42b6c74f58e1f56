"""Servers that run although their lease is preempted, and locks that nothing needs any more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.nova.api.locks import REASON, Locks
from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NONE, SAVED, Known
from lease_scheduler.cloud.nova.vacating.awake import AwakeServers


def _server(server_id: str, status: str, host: str | None = "node1", lease: str | None = "x", *, ours: bool) -> Any:
    specs = {} if lease is None else {"lease:id": lease}
    found = SimpleNamespace(id=server_id, tenant_id="biology", status=status, flavor={"extra_specs": specs})
    found.locked, found.locked_reason = ours, REASON if ours else None
    setattr(found, "OS-EXT-SRV-ATTR:host", host)
    return found


def _lease(state: str, *shared: str) -> Known:
    return Known("x", "biology", "u", None, 1, 1, False, state, frozenset(), frozenset(shared))


@dataclass
class Site:
    """Servers, one lease, and what was done.

    :ivar queries: what was asked of Nova
    :ivar put_away: ids of the servers that were put away
    :ivar unlocked: ids of the servers that were unlocked
    """

    servers: list[Any]
    lease: Known
    now: float = 0.0
    queries: list[dict[str, str]] = field(default_factory=list)
    put_away: list[str] = field(default_factory=list)
    unlocked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        nova = SimpleNamespace(servers=SimpleNamespace(unlock=lambda server: self.unlocked.append(server.id)))
        away: Any = SimpleNamespace(put_away=lambda servers, *rest: self.put_away.extend(each.id for each in servers))
        given_up: Any = SimpleNamespace(is_given_up=lambda server: server.id == "given up")
        locks = Locks(nova, lambda trust_id: None)
        leases = lambda: {"x": self.lease}  # noqa: E731
        self.awake = AwakeServers(self._listed, leases, away, given_up, locks, lambda: self.now)

    def _listed(self, **query: str) -> list[Any]:
        self.queries.append(query)
        if "locked" in query:
            return [each for each in self.servers if each.locked]
        if "uuid" in query:
            return [each for each in self.servers if each.id == query["uuid"]]
        return [] if "changes-since" in query else self.servers


@pytest.mark.parametrize("status", ["ACTIVE", "PAUSED", "RESCUE", "ERROR"])
@pytest.mark.parametrize("ours", [True, False])
def test_what_runs_although_its_lease_is_preempted_is_put_away(status: str, ours: bool) -> None:
    site = Site([_server("s", status, ours=ours)], _lease(SAVED))
    site.awake.look()
    assert site.put_away == ["s"]
    # Until it is so, even if Nova does not list it as changed.
    site.awake.look()
    assert site.put_away == ["s", "s"]


@pytest.mark.parametrize("status", ["SHUTOFF", "SUSPENDED"])
def test_what_is_away_is_only_locked(status: str) -> None:
    """An engine of an earlier version, or one that was killed, has not locked it."""
    site = Site([_server("s", status, ours=False)], _lease(SAVED))
    site.awake.look()
    assert site.put_away == ["s"]
    site = Site([_server("s", status, ours=True)], _lease(SAVED))
    site.awake.look()
    assert site.put_away == []


def test_so_is_what_stayed_where_its_lease_is_not_any_more() -> None:
    site = Site([_server("s", "ACTIVE", ours=True)], _lease(ACTIVE, "node2"))
    site.awake.look()
    assert site.put_away == ["s"]


def test_an_aggregate_that_somebody_has_edited_stops_nothing() -> None:
    site = Site([_server("s", "ACTIVE", ours=False)], _lease(ACTIVE))
    site.awake.look()
    assert site.put_away == []


@pytest.mark.parametrize(
    "server",
    [
        _server("s", "ACTIVE", ours=False),
        _server("s", "ACTIVE", lease="another", ours=False),
        _server("s", "ACTIVE", lease=None, ours=False),
        _server("s", "SHELVED_OFFLOADED", None, ours=False),
    ],
)
def test_others_are_left_alone(server: Any) -> None:
    site = Site([server], _lease(ACTIVE, "node1"))
    for site.now in (0.0, 100.0):
        site.awake.look()
    assert (site.put_away, site.unlocked) == ([], [])


def _ending() -> Known:
    """Return a lease that is over, of whose server s an image is being made."""
    return replace(_lease(NONE), images={"s": "end 1 1000 1000 1 key"})


@pytest.mark.parametrize("lease", ["x", None])
def test_what_stays_for_its_image_after_the_end_is_not_started_again(lease: str | None) -> None:
    """Its host belongs to other leases. A server of a whole host has a flavor that names no lease."""
    site = Site([_server("s", "SHUTOFF", lease=lease, ours=True)], _ending())
    for site.now in (0.0, 100.0):
        site.awake.look()
    assert (site.put_away, site.unlocked) == ([], [])
    site.servers[0].status = "ACTIVE"
    site = Site(site.servers, _ending())
    site.awake.look()
    assert (site.put_away, site.unlocked) == (["s"], [])


def test_a_lock_without_purpose_is_lifted_after_a_while() -> None:
    """It may belong to an operation that is under way."""
    site = Site([_server("s", "ACTIVE", ours=True)], _lease(ACTIVE, "node1"))
    for site.now in (0.0, 59.0):
        site.awake.look()
    assert site.unlocked == []
    site.now = 60.0
    site.awake.look()
    assert site.unlocked == ["s"]


def test_a_shelved_server_is_unlocked_at_once() -> None:
    """Its project may delete it."""
    site = Site([_server("s", "SHELVED_OFFLOADED", None, ours=True)], _lease(SAVED))
    site.awake.look()
    assert site.unlocked == ["s"]


def test_what_has_given_up_its_room_stays_locked() -> None:
    site = Site([_server("given up", "SHUTOFF", lease=None, ours=True)], _lease(ACTIVE, "node1"))
    for site.now in (0.0, 1000.0):
        site.awake.look()
    assert site.unlocked == []


def test_later_looks_ask_only_for_what_has_changed() -> None:
    site = Site([], _lease(ACTIVE, "node1"))
    site.awake.look()
    site.awake.look()
    assert [sorted(query) for query in site.queries] == [[], ["locked"], ["changes-since"], ["locked"]]
