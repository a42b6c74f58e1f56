"""What the watcher reports, at intervals and after hints, with a Nova that may not answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api.hints import AggregateHint, ServerHint, ServiceHint
from lease_scheduler.cloud.nova.watch.silence import Patience, Silence
from lease_scheduler.cloud.nova.watch.watcher import Watcher, WatcherOptions
from lease_scheduler.cloud.observations import ServerChange
from lease_scheduler.engine.interfaces import EventKind
from tests.servers.base import wait_until
from tests.unit.cloud.nova.fakes import FakeListener, FakeNova, server, service
from tests.unit.cloud.nova.sinks import RecordingSink

_LIMIT = 30.0
_HOSTS = {"service1": "node1", "service2": "node2"}
_US = "us"


class FakeInspector:
    """Records what it is asked to inspect."""

    def __init__(self) -> None:
        self.hints: list[str | int] = []
        self.sink: Any = None

    def start(self, sink: Any) -> None:
        self.sink = sink

    def stop(self) -> None:
        self.sink = None

    def hint_at_host(self, name: str) -> None:
        self.hints.append(name)

    def hint_at_aggregate(self, number: int) -> None:
        self.hints.append(number)


class Watched:
    """A watcher of two hosts, and its reports."""

    def __init__(self, interval: float, *, listens: bool = True) -> None:
        self.nova, self.listener, self.inspector = FakeNova(), FakeListener(), FakeInspector()
        self.nova.up = [service(name) for name in _HOSTS]
        self.managed = {"lease"}
        self.flavors = 0
        self.told: list[DriverEvent] = []
        self.changes: list[ServerChange] = []
        self.watcher = Watcher(
            self.nova,
            cast(Any, SimpleNamespace(services=lambda: _HOSTS)),
            cast(Any, SimpleNamespace(refresh=self._refresh)),
            self.managed.__contains__,
            WatcherOptions(interval),
            self.listener if listens else None,
            cast(Any, self.inspector),
            lambda: _US,
        )

    def _refresh(self) -> None:
        self.flavors += 1

    def start(self) -> None:
        """Start, and return after the first poll."""
        self.watcher.start(RecordingSink(on_event=self.told.append, on_server=self.changes.append))
        assert wait_until(lambda: self.flavors > 0, _LIMIT)

    def say(self, hint: ServiceHint | ServerHint | AggregateHint) -> None:
        assert self.listener.say is not None
        self.listener.say(hint)

    def is_told(self, kind: EventKind, **what: Any) -> bool:
        def found() -> bool:
            return any(
                event.kind is kind and all(getattr(event, name) == value for name, value in what.items())
                for event in self.told
            )

        return wait_until(found, _LIMIT)


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> Iterator[Watched]:
    interval, listens = request.param
    found = Watched(interval, listens=listens)
    yield found
    found.watcher.stop()


_often = pytest.mark.parametrize("watched", [(0.02, True), (0.02, False)], indirect=True)
_seldom = pytest.mark.parametrize("watched", [(3_600, True)], indirect=True)


def _deleted(lease_id: str | None = "lease", user_id: str | None = "tenant") -> ServerHint:
    return ServerHint("instance.delete.end", "s1", lease_id, "service1", user_id)


@_often
def test_hosts_at_intervals(watched: Watched) -> None:
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node1") and watched.is_told(EventKind.HOST_UP, host="node2")
    watched.nova.up = [service("service1", state="down"), service("service2", status="disabled", reason="a disk fails")]
    assert watched.is_told(EventKind.HOST_DOWN, host="node1", reason="its compute service is down, enabled")
    assert watched.is_told(EventKind.HOST_CLOSED, host="node2", reason="a disk fails")
    watched.told.clear()
    watched.nova.up = [service("service1"), service("elsewhere", state="down")]
    assert watched.is_told(EventKind.HOST_UP, host="node1")
    asked = watched.nova.count("services")
    assert wait_until(lambda: watched.nova.count("services") > asked + 2, _LIMIT)
    # The other host was disabled before it was removed; now what runs there is lost as well.
    assert [(event.kind, event.host) for event in watched.told] == [
        (EventKind.HOST_UP, "node1"),
        (EventKind.HOST_DOWN, "node2"),
    ]


@_often
def test_services_that_are_removed_or_in_a_cell_that_is_away(watched: Watched) -> None:
    watched.start()
    away = SimpleNamespace(host="service2", status="UNKNOWN")
    watched.nova.up = [away]
    assert watched.is_told(EventKind.HOST_DOWN, host="node1", reason="its compute service is removed")
    asked = watched.nova.count("services")
    assert wait_until(lambda: watched.nova.count("services") > asked + 2, _LIMIT)
    downs = [event for event in watched.told if event.kind is EventKind.HOST_DOWN]
    assert [event.host for event in downs] == ["node1"]
    watched.nova.up = [service("service1"), away]
    watched.told.clear()
    assert watched.is_told(EventKind.HOST_UP, host="node1")


@_often
def test_deleted_servers_at_intervals(watched: Watched) -> None:
    watched.start()
    watched.nova.present = [server("s2", "service1", lease_id="lease", tags=["lease:lease"])]
    watched.nova.deleted = [
        server("s1", None, lease_id="lease"),
        server("other", None),
        server("s3", None, lease_id="x"),
    ]
    now = datetime.now(UTC)
    watched.nova.updated = dict.fromkeys(["s1", "s3", "other"], now)
    asked = watched.nova.count("servers")
    assert wait_until(lambda: watched.nova.count("servers") > asked + 3, _LIMIT)
    assert not any(event.kind is EventKind.ENDED for event in watched.told)
    watched.nova.present = []
    assert watched.is_told(EventKind.ENDED, lease_id="lease", reason="its servers were deleted")
    asked = watched.nova.count("servers")
    assert wait_until(lambda: watched.nova.count("servers") > asked + 3, _LIMIT)
    # Only once, and not for the lease whose servers belong to its users.
    assert sum(event.kind is EventKind.ENDED for event in watched.told) == 1


@_seldom
def test_hosts_after_a_hint(watched: Watched) -> None:
    watched.start()
    watched.nova.up = [service("service1"), service("service2", status="disabled")]
    watched.say(ServiceHint("service2"))
    assert watched.is_told(EventKind.HOST_CLOSED, host="node2")
    # Nova's state counts, not the hint.
    watched.told.clear()
    watched.say(ServiceHint("service1"))
    watched.nova.up = [service("service1"), service("service2")]
    watched.say(ServiceHint("service2"))
    assert watched.is_told(EventKind.HOST_UP, host="node2")
    assert watched.told == [DriverEvent(EventKind.HOST_UP, host="node2")]
    assert watched.flavors == 1


@_seldom
def test_deleted_servers_after_a_hint(watched: Watched) -> None:
    watched.start()
    watched.nova.present = [server("s2", "service1", tags=["lease:lease"])]
    before = watched.watcher.hears_of_servers
    watched.say(_deleted())
    assert (before, watched.watcher.hears_of_servers) == (False, True)
    assert wait_until(lambda: watched.nova.count("servers") == 1, _LIMIT)
    watched.nova.present = []
    for hint in (_deleted(None), _deleted("not managed"), _deleted(user_id=_US)):
        watched.say(hint)
    # A step may wait for this, whichever client caused it.
    assert [change.lease_id for change in watched.changes] == ["lease", None, "not managed", "lease"]
    assert watched.changes[0] == ServerChange("instance.delete.end", "s1", "lease", "node1")
    watched.say(ServiceHint("service1"))
    asked = watched.nova.count("services")
    watched.say(ServiceHint("service1"))
    assert wait_until(lambda: watched.nova.count("services") > asked, _LIMIT)
    assert not any(event.kind is EventKind.ENDED for event in watched.told)
    watched.say(_deleted(user_id=None))
    assert watched.is_told(EventKind.ENDED, lease_id="lease")


@_seldom
def test_what_the_inspector_is_to_look_at(watched: Watched) -> None:
    watched.start()
    for event_type in ("instance.create.end", "instance.suspend.end", "instance.unshelve.end", "instance.create.error"):
        watched.say(ServerHint(event_type, "s1", None, "service1", "admin"))
    watched.say(ServerHint("instance.live_migration_post_dest.end", "s1", None, "service2", _US))
    watched.say(ServerHint("compute_task.build_instances.error", "s1"))
    watched.say(AggregateHint(7, "admin"))
    watched.say(AggregateHint(8, _US))
    watched.say(AggregateHint(9, None))
    assert watched.inspector.hints == ["service1", "service1", "service2", 7, 9]
    assert [change.event_type for change in watched.changes][-1] == "compute_task.build_instances.error"
    assert [change.host for change in watched.changes] == ["node1"] * 4 + ["node2", None]
    # The arrival of a server makes no room on the host.
    assert [change.arrives for change in watched.changes] == [True, False, True, False, True, False]


@_often
def test_nova_does_not_answer(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node1")
    watched.told.clear()
    with watched.nova.failing("services", "servers"):
        assert wait_until(lambda: caplog.text.count("events could not be read") > 3, _LIMIT)
        watched.nova.up = [service("service2")]
    assert watched.is_told(EventKind.HOST_DOWN, host="node1")


@_seldom
def test_whoever_begins_again_tells_everything(watched: Watched) -> None:
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node2")
    watched.watcher.stop()
    assert watched.listener.say is None
    watched.told.clear()
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node1") and watched.is_told(EventKind.HOST_UP, host="node2")


def test_who_is_away_cannot_be_asked_who_we_are(caplog: pytest.LogCaptureFixture) -> None:
    """Then every difference is reported."""

    def fail() -> str:
        raise ConnectionError("no Keystone")

    watched = Watched(3_600)
    watched.watcher._own_user = fail
    watched.start()
    assert "own user could not be read" in caplog.text
    watched.say(_deleted(user_id=_US))
    assert watched.is_told(EventKind.ENDED, lease_id="lease")
    watched.watcher.stop()


@_often
def test_an_outage_of_the_message_bus_is_none_of_the_hosts(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """Nova considers all services down when it hears none of them."""
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node2")
    watched.told.clear()
    watched.nova.up = [service(name, state="down") for name in _HOSTS]
    assert wait_until(lambda: caplog.text.count("no compute service is up") > 3, _LIMIT)
    assert watched.told == []
    watched.nova.up = [service("service1"), service("service2", state="down")]
    assert watched.is_told(EventKind.HOST_DOWN, host="node2")


@_often
def test_a_host_is_dead_when_its_service_has_been_down_for_some_time(watched: Watched) -> None:
    """The others may follow, because Nova does not notice all of them at the same time."""
    watched.watcher._silence = Silence(Patience(grace=1.0))
    watched.start()
    assert watched.is_told(EventKind.HOST_UP, host="node1")
    watched.told.clear()
    watched.nova.up = [service("service1", state="down"), service("service2")]
    begun = time.monotonic()
    asked = watched.nova.count("services")
    assert wait_until(lambda: watched.nova.count("services") > asked + 5, _LIMIT)
    assert watched.told == []
    assert watched.is_told(EventKind.HOST_DOWN, host="node1")
    assert time.monotonic() - begun >= 1.0
    # For a host that was back in between, the time starts anew.
    watched.nova.up = [service("service1"), service("service2")]
    assert watched.is_told(EventKind.HOST_UP, host="node1")
    watched.told.clear()
    watched.nova.up = [service("service1", state="down"), service("service2")]
    asked = watched.nova.count("services")
    assert wait_until(lambda: watched.nova.count("services") > asked + 5, _LIMIT)
    assert watched.told == []
