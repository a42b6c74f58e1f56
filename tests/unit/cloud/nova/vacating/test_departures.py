"""Servers that have left a host, but still have room there."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.departures import Departures
from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims
from tests.unit.cloud.nova import fakes


class FakeNova:
    """A server on "new", and the migration "m" that has brought it there.

    :ivar claims: consumers in Placement of the host "old"
    :ivar vcpus: what each of them has
    :ivar deleted: servers of the host that Nova keeps
    :ivar told: what was done
    """

    def __init__(self, kind: str, state: str, *, host: str = "new", status: str = "ACTIVE", task: str | None) -> None:
        self.server: Any = fakes.server("s", host, status=status)
        setattr(self.server, "OS-EXT-STS:task_state", task)
        self.claims = {"m", "some lease"}
        self.vcpus = 1
        self.deleted: list[Any] = []
        self.told: list[tuple[str, ...]] = []
        migration = SimpleNamespace(
            uuid="m",
            migration_type=kind,
            status=state,
            instance_uuid="s",
            source_compute="old",
            dest_compute="new",
        )
        self.migrations = SimpleNamespace(list=lambda marker=None, **_: [] if marker else [migration])
        self.servers = SimpleNamespace(
            get=self._get,
            force_delete=lambda each: self.told.append(("delete", each.id)),
            confirm_resize=lambda each: self.told.append(("confirm", each.id)),
            reset_state=lambda each, state: self.told.append(("reset", each.id, state)),
        )

    def _get(self, server_id: str) -> Any:
        if self.server is None:
            raise NotFound(404)
        assert self.server.id == server_id
        return self.server

    def release(self, consumer: str) -> None:
        self.claims.discard(consumer)
        self.told.append(("release", consumer))

    def release_if(self, consumer: str, providers: set[str], is_needless: Callable[[], bool]) -> bool:
        assert providers == {"provider", "child"}
        if not is_needless():
            return False
        self.release(consumer)
        return True

    def unfinished(self, own: str | None = None) -> list[str]:
        """Ask once; return the ids of the servers."""
        nodes = SimpleNamespace(node=lambda host: SimpleNamespace(provider_id="provider", service=host))
        placement = SimpleNamespace(
            consumers_on=lambda _: {each: {"VCPU": self.vcpus} for each in self.claims},
            held=lambda consumer: {"provider": {}} if consumer in self.claims else {},
            release=self.release,
            release_if=self.release_if,
            tree=lambda _: {"child": "slots"},
        )
        arrivals = Arrivals(self, placement.held, placement.release)
        stale = StaleClaims(self, cast(Any, placement), cast(Any, nodes))
        departures = Departures(self, lambda **_: self.deleted, cast(Any, nodes), cast(Any, placement), arrivals, stale)
        return [each.id for each in departures.unfinished("old", own)]


@pytest.mark.parametrize("kind", ["resize", "migration"])
@pytest.mark.parametrize("task", [None, "updating_password"])
def test_servers_are_confirmed(kind: str, task: str | None) -> None:
    nova = FakeNova(kind, "finished", status="VERIFY_RESIZE", task=task)
    assert nova.unfinished() == ["s"]
    assert nova.told == ([] if task else [("confirm", "s")])


@pytest.mark.parametrize("state", ["post-migrating", "confirming", "reverting"])
def test_nova_is_waited_for_while_it_moves_a_server(state: str) -> None:
    """For a moment, the server is shown on its new host with a status that says nothing."""
    nova = FakeNova("migration", state, status="RESIZE", task="resize_finish")
    assert nova.unfinished() == ["s"]
    assert nova.told == []


def test_servers_of_the_lease_may_come_back() -> None:
    nova = FakeNova("resize", "finished", status="VERIFY_RESIZE", task=None)
    assert (nova.unfinished(own=nova.server.tenant_id), nova.told) == ([], [])


def test_what_leases_hold_is_theirs() -> None:
    """A server that is resized within its lease has nothing but a slot on a host that others share."""
    nova = FakeNova("resize", "finished", status="VERIFY_RESIZE", task=None)
    nova.vcpus = 0
    assert (nova.unfinished(), nova.told) == ([], [])


@pytest.mark.parametrize("kind", ["resize", "migration"])
@pytest.mark.parametrize(
    ("state", "status", "task", "host"),
    [
        ("error", "ERROR", "resize_migrated", "new"),
        ("migrating", "ERROR", "resize_migrated", "new"),
        ("error", "ERROR", "resize_migrated", "old"),
        ("error", "ACTIVE", None, "new"),
        ("error", "ERROR", None, "a third one"),
        ("finished", "VERIFY_RESIZE", None, "new"),
    ],
)
def test_what_a_server_got_back_that_failed_on_its_way_is_released(
    kind: str, state: str, status: str, task: str | None, host: str
) -> None:
    """Only if Nova says that it has left, and does nothing any more with this move."""
    nova = FakeNova(kind, state, host=host, status=status, task=task)
    nova.claims = {"s"}
    is_stale = state == "error" and host != "old"
    assert nova.unfinished() == []
    assert nova.told == ([("release", "s")] if is_stale else [])


@pytest.mark.parametrize(("state", "host"), [("error", "new"), ("confirmed", "new"), ("migrating", "old")])
def test_servers_that_have_not_left_or_are_not_moved_any_more(state: str, host: str) -> None:
    nova = FakeNova("migration", state, host=host, task=None)
    assert (nova.unfinished(), nova.told) == ([], [])


def test_what_a_deleted_server_has_left_is_released() -> None:
    nova = FakeNova("live-migration", "error", task=None)
    nova.server = None
    assert (nova.unfinished(), nova.told) == ([], [("release", "m")])


def test_a_server_that_runs_on_its_new_host_has_not_failed() -> None:
    nova = FakeNova("live-migration", "error", status="ERROR", task=None)
    assert nova.unfinished() == ["s"]
    assert nova.told == [("reset", "s", "active"), ("release", "m")]
    assert nova.unfinished() == []


def test_nova_is_given_some_time_to_clean_up_after_a_server_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    nova = FakeNova("live-migration", "error", task=None)
    assert nova.unfinished() == ["s"]
    monkeypatch.setattr("lease_scheduler.cloud.nova.vacating.arrivals._CLEANING", -1.0)
    assert nova.unfinished() == []
    assert nova.told == [("release", "m")]


@pytest.mark.parametrize(("is_guest", "task"), [(True, None), (True, "deleting"), (False, None)])
def test_deleted_servers_are_not_kept_if_they_make_room(is_guest: bool, task: str | None) -> None:
    nova = FakeNova("migration", "confirmed", task=None)
    nova.deleted = [fakes.server(each, "old", status="SOFT_DELETED") for each in ("d", "somewhere else")]
    for each in nova.deleted:
        each.flavor["extra_specs"] = {"lease:preemptible": str(is_guest)}
        setattr(each, "OS-EXT-STS:task_state", task)
    nova.claims.add("d")
    assert nova.unfinished() == ["d"]
    assert nova.told == ([("delete", "d")] if is_guest and task is None else [])
    assert nova.unfinished(own=nova.deleted[0].tenant_id) == []


def test_what_an_older_move_has_left_is_released() -> None:
    """Somebody has reset the state of the server, and moved it again."""
    nova = FakeNova("live-migration", "error", host="a third one", task=None)
    assert (nova.unfinished(), nova.told) == ([], [("release", "m")])


def test_deleted_servers_of_leases_are_theirs() -> None:
    nova = FakeNova("migration", "confirmed", task=None)
    nova.deleted = [fakes.server("d", "old", lease_id="another", status="SOFT_DELETED")]
    nova.claims.add("d")
    assert (nova.unfinished(), nova.told) == ([], [])


def test_a_host_without_claims_has_nothing_to_ask_about() -> None:
    nova = FakeNova("live-migration", "running", task=None)
    nova.claims = set()
    nova.migrations = SimpleNamespace()
    assert nova.unfinished() == []


@pytest.mark.parametrize("state", ["migrating", "finished"])
def test_a_resize_that_nobody_can_finish_any_more_is_over(state: str) -> None:
    """The server was reset, and has got to another host since."""
    nova = FakeNova("resize", state, task=None)
    assert (nova.unfinished(), nova.told) == ([], [("release", "m")])
