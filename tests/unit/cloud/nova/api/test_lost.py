"""Commands that Nova has lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.lost import LostCommands, LostOptions


class FakeNova:
    """The actions of one server, and the states that were reset."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = list(events)
        self.asked = 0
        self.reset: list[tuple[str, str]] = []
        self.instance_action = SimpleNamespace(list=self._list, get=self._get)
        self.servers = SimpleNamespace(reset_state=lambda server, state: self.reset.append((server.id, state)))

    def _list(self, server: Any) -> list[SimpleNamespace]:
        self.asked += 1
        return [SimpleNamespace(request_id="req-2"), SimpleNamespace(request_id="req-1")]

    def _get(self, server: Any, request_id: str) -> SimpleNamespace:
        assert request_id == "req-2", "the latest comes first"
        return SimpleNamespace(events=self.events)


class Clock:
    """A clock in real seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


#: Instants that no clock has reached, so that a server was changed just now.
_NOW, _LATER = "2100-01-01T00:00:00Z", "2100-01-01T00:00:09Z"


def _server(task: str | None = "shelving", updated: str = _NOW, host: str | None = "node1") -> SimpleNamespace:
    found = SimpleNamespace(id="s", updated=updated, status="ACTIVE")
    setattr(found, "OS-EXT-STS:task_state", task)
    setattr(found, "OS-EXT-SRV-ATTR:host", host)
    return found


def _event(finish_time: str | None) -> dict[str, Any]:
    return {"event": "compute_shelve_instance", "finish_time": finish_time}


@pytest.fixture
def clock() -> Clock:
    return Clock()


_OPTIONS = LostOptions(lost_after=10, stalled_after=50, hung_after=100)


@pytest.mark.parametrize("events", [(), (_event("then"),)])
def test_nobody_is_at_work(clock: Clock, events: tuple[dict[str, Any], ...]) -> None:
    """Its state is reset once it has been busy for that long, and not before."""
    nova = FakeNova(*events)
    lost = LostCommands(nova, _OPTIONS, clock)
    assert not lost.repair(_server())
    clock.now += 9
    assert not lost.repair(_server())
    assert (nova.asked, nova.reset) == (0, [])
    clock.now += 1
    assert lost.repair(_server())
    assert nova.reset == [("s", "active")]


@pytest.mark.parametrize(("task", "limit"), [("shelving", 50), ("shelving_image_uploading", 100), ("deleting", 50)])
def test_somebody_is_at_work(clock: Clock, task: str, limit: int) -> None:
    """Copying a disk takes long, so a compute service that has started and may have died gets more time."""
    nova = FakeNova(_event(None))
    lost = LostCommands(nova, _OPTIONS, clock)
    for _ in range(limit):
        assert not lost.repair(_server(task))
        clock.now += 1
    # Nova is not queried at every check.
    assert nova.asked == limit // 10 - 1
    assert lost.repair(_server(task))


def test_progress_begins_the_time_anew(clock: Clock) -> None:
    nova = FakeNova()
    lost = LostCommands(nova, _OPTIONS, clock)
    lost.repair(_server())
    clock.now += 9
    lost.repair(_server("shelving_image_uploading"))
    clock.now += 9
    lost.repair(_server("shelving_image_uploading", _LATER))
    clock.now += 9
    assert not lost.repair(_server("shelving_image_uploading", _LATER))
    clock.now += 1
    assert lost.repair(_server("shelving_image_uploading", _LATER))


def test_an_engine_that_has_just_started_does_not_begin_to_count(clock: Clock) -> None:
    """Nova says since when a server is busy. The clocks may differ, so nothing is lost at the first look."""
    an_hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    lost = LostCommands(FakeNova(), LostOptions(lost_after=60), clock)
    assert not lost.repair(_server(updated=an_hour_ago))
    clock.now += 9
    assert not lost.repair(_server(updated=an_hour_ago))
    clock.now += 1
    assert lost.repair(_server(updated=an_hour_ago))


def test_work_that_hangs_is_found_by_an_engine_that_has_just_started(clock: Clock) -> None:
    an_hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    lost = LostCommands(FakeNova(_event(None)), _OPTIONS, clock)
    assert not lost.repair(_server(updated=an_hour_ago))
    clock.now += 10
    assert lost.repair(_server(updated=an_hour_ago))


def test_on_no_host(clock: Clock) -> None:
    """A server that is being unshelved would count as running, although it is on no host."""
    nova = FakeNova()
    lost = LostCommands(nova, _OPTIONS, clock)
    lost.repair(_server("unshelving", host=None))
    clock.now += 10
    with pytest.raises(StepFailedError, match="server s is unshelving on no host: Nova has lost the command"):
        lost.repair(_server("unshelving", host=None))
    assert nova.reset == []
    # That holds until its state changes, and is not determined anew each time.
    assert lost.is_stranded(_server("unshelving", host=None))
    clock.now += 1
    assert lost.is_stranded(_server("unshelving", host=None))
    assert nova.asked == 1
    assert not lost.is_stranded(_server("unshelving", _LATER, host=None))
    assert not lost.is_stranded(_server("unshelving"))


def test_who_is_not_looked_at_is_forgotten(clock: Clock) -> None:
    """It may have been busy with something else in between."""
    lost = LostCommands(FakeNova(), _OPTIONS, clock)
    lost.repair(_server())
    clock.now += 601
    assert not lost.repair(_server())
