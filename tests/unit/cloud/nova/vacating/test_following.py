"""Servers that follow their lease to other hosts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import BadRequest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.server import number_tag
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.attempts import Attempts
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.options import RoomOptions
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.cloud.nova.vacating.returning import Returning
from tests.unit.cloud.nova import fakes


class FakeNova:
    """A server, and what Nova was told to do with it.

    :param refuses: whether Nova refuses to evacuate it
    :ivar moves: its migrations, the last one first: type and new host
    :ivar state: their status
    :ivar claimed: whether they still have something in Placement
    :ivar told: each command with its arguments
    :ivar locks: the servers that were locked
    """

    def __init__(self, now_on: str = "host1", *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.told: list[tuple[Any, ...]] = []
        self.locks: list[str] = []
        self.migrations = SimpleNamespace(list=self._list_migrations)
        self.moves: list[tuple[str, str]] = []
        self.state = "error"
        self.claimed = False
        self.servers = SimpleNamespace(
            evacuate=self._evacuate,
            live_migrate=lambda server, *rest: self.told.append(("live_migrate", *rest)),
            migrate=lambda server, *rest: self.told.append(("migrate", *rest)),
            reset_state=lambda server, *rest: self.told.append(("reset_state", *rest)),
            get=lambda each: fakes.server(each, now_on),
            lock=lambda server, reason: self.locks.append(server.id),
            reboot=lambda server, *rest: self.told.append(("reboot", *rest)),
            shelve=lambda server, *rest: self.told.append(("shelve", *rest)),
            shelve_offload=lambda server, *rest: self.told.append(("shelve_offload", *rest)),
        )

    def _list_migrations(self, instance_uuid: str, limit: int) -> list[Any]:
        return [
            SimpleNamespace(uuid="m", migration_type=kind, dest_compute=host, status=self.state)
            for kind, host in self.moves[:limit]
        ]

    def held(self, consumer_id: str) -> dict[str, object]:
        """Return what a migration has in Placement."""
        assert consumer_id == "m"
        return {"provider": {}} if self.claimed else {}

    def _evacuate(self, server: Any, *rest: Any) -> None:
        if self.refuses:
            raise BadRequest(400, "Compute service of host2 is still in use.")
        self.told.append(("evacuate", *rest))


def _returning(nova: FakeNova) -> Returning:
    nothing: Any = SimpleNamespace()
    throttle = Throttle(per_host=1, in_all=1)
    arrivals = Arrivals(nova, nova.held, lambda consumer_id: nova.told.append(("release", consumer_id)))
    locks = Locks(nova, nothing)
    given_up = GivenUpRoom(nothing, nothing, locks)
    away = PuttingAway(nova, throttle, nothing, locks, nothing, given_up, RoomOptions())
    return Returning(nova, throttle, nothing, locks, away, given_up, arrivals, Attempts(arrivals))


def _follow(nova: FakeNova, *, returning: Returning | None = None, down: str = "host1", **terms: Any) -> bool:
    """Have the second server of a lease, which is on "host1", follow it to "host2" and "host3"."""
    server = fakes.server("s", terms.pop("host", "host1"), **{"tags": [number_tag(1)], **terms})
    following = returning or _returning(nova)
    return following.follow([server], {"host2", "host3"}, {0: "host2", 1: "host3"}, lambda service: service != down, 0)


def test_a_server_of_a_host_that_is_down_is_evacuated() -> None:
    nova = FakeNova()
    assert not _follow(nova)
    assert nova.told == [("evacuate", "host3")]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("ACTIVE", ("live_migrate", "host3", "auto")),
        ("PAUSED", ("live_migrate", "host3", "auto")),
        ("SHUTOFF", ("migrate", "host3")),
    ],
)
def test_a_server_moves_to_the_host_that_is_planned_for_it(status: str, told: tuple[str, ...]) -> None:
    nova = FakeNova()
    assert not _follow(nova, down="", status=status)
    assert nova.told == [told]


@pytest.mark.parametrize("tags", [[], ["lease-vm:first"]])
def test_nova_chooses_the_host_of_a_server_without_a_number(tags: list[str]) -> None:
    """A user has booted it with the flavor of the lease, and may have given it any tag."""
    nova = FakeNova()
    assert not _follow(nova, down="", tags=tags)
    assert nova.told == [("live_migrate", None, "auto")]


def test_nova_chooses_the_host_if_the_planned_one_does_not_take_it() -> None:
    """Another server of the lease may be there, since Nova has once chosen for it."""
    nova = FakeNova()
    returning = _returning(nova)
    for _ in range(3):
        assert not _follow(nova, returning=returning, down="")
    assert nova.told == [
        ("live_migrate", "host3", "auto"),
        ("live_migrate", None, "auto"),
        ("live_migrate", None, "auto"),
    ]


def test_a_server_that_arrived_in_the_meantime_is_looked_at_again() -> None:
    """Nova shows it without a task on its former host just before it shows it on the new one."""
    assert not _follow(FakeNova("host2", refuses=True))


def test_other_refusals_are_told() -> None:
    with pytest.raises(BadRequest):
        _follow(FakeNova("host1", refuses=True))


def test_a_server_that_nova_says_has_failed_after_it_arrived_runs() -> None:
    """Nova could not release in Placement what the server had on its former host."""
    nova = FakeNova()
    returning = _returning(nova)
    assert not _follow(nova, returning=returning, down="")
    nova.moves, nova.claimed = [("live-migration", "host3")], True
    # Until that is over, Nova may still say it.
    assert not _follow(nova, returning=returning, down="", host="host3")
    assert not _follow(nova, returning=returning, down="", host="host3", status="ERROR")
    assert nova.told[1:] == [("reset_state", "active"), ("release", "m")]
    assert _follow(nova, returning=returning, down="", host="host3")


def test_nova_is_given_some_time_to_clean_up(monkeypatch: pytest.MonkeyPatch) -> None:
    nova = FakeNova()
    returning = _returning(nova)
    assert not _follow(nova, returning=returning, down="")
    nova.moves, nova.claimed = [("live-migration", "host3")], True
    assert not _follow(nova, returning=returning, down="", host="host3")
    monkeypatch.setattr("lease_scheduler.cloud.nova.vacating.arrivals._CLEANING", 0.0)
    assert _follow(nova, returning=returning, down="", host="host3")
    # Of a move that is long over nothing is asked.
    nova.moves = []
    assert _follow(nova, returning=returning, down="", host="host3")


def test_it_does_not_matter_which_engine_has_moved_it() -> None:
    """The one that has done it may have been killed."""
    nova = FakeNova()
    nova.moves, nova.claimed = [("live-migration", "host3")], True
    assert not _follow(nova, down="", host="host3", status="ERROR")
    assert nova.told == [("reset_state", "active"), ("release", "m")]


@pytest.mark.parametrize(
    ("moves", "state", "claimed"),
    [
        ([("migration", "host3"), ("live-migration", "host3")], "error", True),
        ([("live-migration", "host2")], "error", True),
        ([("live-migration", "host3")], "completed", True),
        ([("live-migration", "host3")], "error", False),
        ([], "error", True),
    ],
)
def test_a_server_that_failed_where_its_lease_is_does_not_keep_the_lease_on_other_hosts(
    moves: list[tuple[str, str]], state: str, claimed: bool
) -> None:
    """Its project may have made it fail. One that fails when it is moved has failed the operation."""
    nova = FakeNova()
    nova.moves, nova.state, nova.claimed = moves, state, claimed
    assert _follow(nova, down="", host="host3", status="ERROR")
    assert nova.told == []
    returning = _returning(nova)
    assert not _follow(nova, returning=returning, down="")
    with pytest.raises(StepFailedError, match="server s failed"):
        _follow(nova, returning=returning, down="", host="host3", status="ERROR")


def test_a_failed_server_leaves_a_host_that_its_lease_leaves() -> None:
    """It is rebooted first, since its hypervisor may not know it any more after a rebuild that failed."""
    nova = FakeNova()
    returning = _returning(nova)
    for _ in range(2):
        assert not _follow(nova, returning=returning, down="", status="ERROR")
    assert nova.told == [("reboot", "HARD"), ("reset_state", "active")]
    assert not _follow(nova, returning=returning, down="")
    assert nova.told[2:] == [("live_migrate", "host3", "auto")]
    # Its project cannot make it fail again.
    assert nova.locks == ["s", "s", "s"]


@pytest.mark.parametrize(("status", "told"), [("SHELVED", "shelve_offload"), ("SUSPENDED", "shelve")])
def test_a_server_that_nova_does_not_move_is_shelved(status: str, told: str) -> None:
    """One that is shelved may still be on its host. Members can bring their servers into both states."""
    nova = FakeNova()
    returning = _returning(nova)
    for _ in range(3):
        assert not _follow(nova, returning=returning, down="", status=status)
    assert set(nova.told) == {(told,)}
    assert _follow(nova, returning=returning, down="", status="SHELVED_OFFLOADED", host=None)
