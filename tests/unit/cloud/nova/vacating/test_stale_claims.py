"""Claims in Placement that no server explains."""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import SimpleNamespace
from typing import Any, cast

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims
from tests.unit.cloud.nova import fakes

SLOT = "CUSTOM_LEASE_SLOT"


class Cloud(fakes.FakeNova):
    """A server "s", which a lease had on the host "old", and a Placement.

    :ivar server: the server
    :ivar claims: consumers with a slot of the lease on "old"
    :ivar moves: all migrations, latest first
    :ivar told: what was done
    :ivar providers: the providers of which claims were released
    """

    def __init__(self, host: str | None, status: str = "ACTIVE", task: str | None = None) -> None:
        super().__init__()
        self.server: Any = fakes.server("s", host, status=status)
        setattr(self.server, "OS-EXT-STS:task_state", task)
        self.claims: set[str] = set()
        self.moves: list[SimpleNamespace] = []
        self.told: list[tuple[str, str]] = []
        self.providers: set[str] = set()
        self.present = [self.server]
        self.servers.get = self._find
        self.servers.confirm_resize = lambda each: self.told.append(("confirm", each.id))
        self.migrations = SimpleNamespace(list=self._migrations)

    def move(self, status: str, source: str = "old", dest: str | None = "new", kind: str = "resize") -> None:
        """Add a migration of the server, whose id is its number."""
        self.moves.insert(
            0,
            SimpleNamespace(
                uuid=str(len(self.moves) + 1),
                migration_type=kind,
                status=status,
                instance_uuid="s",
                source_compute=source,
                dest_compute=dest,
            ),
        )

    def release(self, classes: Collection[str] = (SLOT,)) -> bool:
        nodes = SimpleNamespace(node=lambda host: SimpleNamespace(provider_id=f"root of {host}", service=host))
        placement = SimpleNamespace(
            consumers_on=lambda _: {each: {SLOT: 1} for each in self.claims},
            tree=lambda root_id: {f"child of {root_id}": "slots"},
            release_if=self._release_if,
        )
        return StaleClaims(self, cast(Any, placement), cast(Any, nodes)).release("old", classes)

    def _release_if(self, consumer: str, providers: set[str], is_needless: Callable[[], bool]) -> bool:
        if is_needless():
            self.told.append(("release", consumer))
            self.providers |= providers
            return True
        return False

    def _find(self, server_id: str) -> Any:
        if self.server not in self.present or server_id != "s":
            raise NotFound(404)
        return self.server

    def _migrations(
        self, *, marker: str | None, limit: int, host: str | None = None, instance_uuid: str | None = None
    ) -> list[SimpleNamespace]:
        if marker is not None:
            return []
        found = [each for each in self.moves if host in (None, each.source_compute, each.dest_compute)]
        return [each for each in found if instance_uuid in (None, each.instance_uuid)]


def test_a_resize_that_fails_after_a_later_one_was_confirmed() -> None:
    """It has hung, the server was reset and resized again, and then it went on."""
    cloud = Cloud("new", "ERROR", "resize_migrated")
    cloud.move("error")
    cloud.move("confirmed")
    cloud.claims = {"s"}
    assert cloud.release()
    assert cloud.told == [("release", "s")]
    assert cloud.providers == {"root of old", "child of root of old"}


def test_a_resize_that_fails_before_a_later_one_is_confirmed() -> None:
    """Nobody can confirm the resize of a server that has failed."""
    cloud = Cloud("new", "ERROR", "resize_migrated")
    cloud.move("error")
    cloud.move("finished")
    cloud.claims = {"s", "2"}
    assert cloud.release()
    assert sorted(cloud.told) == [("release", "2"), ("release", "s")]


def test_a_resize_that_never_goes_on() -> None:
    """Its compute service was started anew, for example. The server was reset, and resized again."""
    cloud = Cloud("new")
    cloud.move("migrating")
    cloud.move("confirmed")
    cloud.claims = {"1"}
    assert cloud.release()
    assert cloud.told == [("release", "1")]


def test_a_move_that_failed_long_before_the_last_one() -> None:
    cloud = Cloud("a third one")
    cloud.move("error")
    cloud.move("confirmed", "new", "a third one")
    cloud.claims = {"s"}
    assert cloud.release()
    assert cloud.told == [("release", "s")]


@pytest.mark.parametrize(
    ("status", "kind"),
    [("reverting", "resize"), ("confirming", "migration"), ("running", "live-migration"), ("done", "evacuation")],
)
@pytest.mark.parametrize(("source", "dest"), [("old", "new"), ("new", "old"), ("new", None)])
def test_what_a_migration_needs_stays(status: str, kind: str, source: str, dest: str | None) -> None:
    """Also if a move before has failed, and whatever others have told Nova of the state of the server."""
    cloud = Cloud("new")
    cloud.move("error")
    cloud.move(status, source, dest, kind)
    cloud.claims = {"s", "2"} if dest == "new" else {"s"}
    assert not cloud.release()
    assert cloud.told == []


@pytest.mark.parametrize("status", ["pre-migrating", "migrating", "post-migrating"])
def test_what_a_server_needs_that_is_resized_stays(status: str) -> None:
    cloud = Cloud("new", "RESIZE", "resize_migrating")
    cloud.move("error")
    cloud.move(status)
    cloud.claims = {"s", "2"}
    assert not cloud.release()
    assert cloud.told == []


def test_a_server_that_comes_back_keeps_what_its_migration_has() -> None:
    cloud = Cloud("old")
    cloud.move("reverted")
    cloud.claims = {"s", "1"}
    assert not cloud.release()
    assert cloud.told == []


@pytest.mark.parametrize("status", ["ACTIVE", "SHELVED_OFFLOADED", "BUILD"])
def test_a_server_on_no_host_may_be_on_its_way(status: str) -> None:
    cloud = Cloud(None, status, "unshelving")
    cloud.claims = {"s"}
    assert not cloud.release()


def test_a_move_between_other_hosts_explains_nothing() -> None:
    cloud = Cloud("new")
    cloud.move("error")
    cloud.move("running", "new", "a third one", "live-migration")
    cloud.claims = {"s"}
    assert cloud.release()


def test_a_resize_that_waits_is_confirmed() -> None:
    cloud = Cloud("new", "VERIFY_RESIZE")
    cloud.move("finished")
    cloud.claims = {"1"}
    assert not cloud.release()
    assert cloud.told == [("confirm", "s")]


def test_what_deleted_servers_have_left_is_released() -> None:
    cloud = Cloud("new")
    cloud.move("running", kind="live-migration")
    cloud.present.clear()
    cloud.claims = {"s", "1", "nobody"}
    assert cloud.release()
    assert sorted(cloud.told) == [("release", "1"), ("release", "nobody"), ("release", "s")]


def test_slots_of_other_leases_are_left_alone() -> None:
    cloud = Cloud("new")
    cloud.claims = {"nobody"}
    assert not cloud.release(("CUSTOM_LEASE_OTHER",))
