"""When Nova started and finished an operation, according to Nova."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.calibration import times
from lease_scheduler.calibration.samples import MeasuredOperation
from lease_scheduler.calibration.times import ChosenTimes, NotifiedTimes, RecordedTimes

#: 2026-11-22 00:00:00 UTC.
_MIDNIGHT = 1_795_305_600.0


@pytest.fixture(autouse=True)
def _nothing_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_LATE", 0.01)


def _say(notified: NotifiedTimes, event_type: str, clock: str, server: str = "s") -> None:
    payload = {"nova_object.data": {"uuid": server}}
    notified.info(None, "nova-compute:node1", event_type, payload, {"timestamp": f"2026-11-22 {clock}"})


class _Actions:
    """Instance actions of servers, by request."""

    def __init__(self, events: dict[str, list[dict[str, Any]]]) -> None:
        self.instance_action = self
        self._events = events

    def get(self, server_id: str, request: str) -> Any:
        if request not in self._events:
            raise NotFound(404)
        return SimpleNamespace(events=self._events[request])


def _event(name: str, start: str, finish: str | None) -> dict[str, Any]:
    return {
        "event": name,
        "start_time": f"2026-11-22T{start}",
        "finish_time": None if finish is None else f"2026-11-22T{finish}",
    }


def test_only_notifications_of_the_operation_itself_count() -> None:
    """Earlier ones and those of other servers do not; shelving ends when the server is off the host."""
    notified = NotifiedTimes()
    _say(notified, "instance.shelve.start", "00:00:01.000000")
    _say(notified, "instance.shelve_offload.end", "00:00:02.000000")
    _say(notified, "instance.shelve.start", "00:01:00.250000")
    _say(notified, "instance.shelve.end", "00:01:05.000000")
    _say(notified, "instance.shelve_offload.start", "00:01:05.100000")
    assert notified.find(MeasuredOperation.SHELVE, "s", _MIDNIGHT + 60, []) is None
    _say(notified, "instance.shelve_offload.end", "00:01:06.500000", server="other")
    assert notified.find(MeasuredOperation.SHELVE, "s", _MIDNIGHT + 60, []) is None
    _say(notified, "instance.shelve_offload.end", "00:01:06.500000")
    assert notified.find(MeasuredOperation.SHELVE, "s", _MIDNIGHT + 60, []) == (_MIDNIGHT + 60.25, _MIDNIGHT + 66.5)


def test_times_of_actions_are_never_too_short() -> None:
    """API and conductor do not count; an unfinished action has no time; ends are cut to the second."""
    recorded = RecordedTimes(
        _Actions(
            {
                "req-1": [
                    _event("conductor_unshelve_instance", "00:00:08.000000", "00:00:09.000000"),
                    _event("compute_unshelve_instance", "00:00:10.000000", "00:00:14.000000"),
                ],
                "req-2": [_event("compute_suspend_instance", "00:00:10.000000", None)],
                "req-3": [_event("compute_suspend_instance", "00:00:10.250000", "00:00:11.750000")],
            }
        )
    )
    since = _MIDNIGHT + 10.5
    assert recorded.find(MeasuredOperation.UNSHELVE, "s", since, ["req-1"]) == (since, _MIDNIGHT + 15)
    assert recorded.find(MeasuredOperation.SUSPEND, "s", since, ["req-2"]) is None
    assert recorded.find(MeasuredOperation.SUSPEND, "s", _MIDNIGHT, ["req-3"]) == (_MIDNIGHT + 10.25, _MIDNIGHT + 11.75)
    assert recorded.find(MeasuredOperation.SUSPEND, "s", since, ["req-4"]) is None


def test_the_first_operation_chooses_the_source_of_times() -> None:
    """If Nova sends no notifications, its actions are used from then on; the two sources are never mixed."""
    action = {"req": [_event("compute_stop_instance", "00:00:10.000000", "00:00:12.000000")]}
    chosen = ChosenTimes(NotifiedTimes(), RecordedTimes(_Actions(action)))
    assert chosen.find(MeasuredOperation.STOP, "s", _MIDNIGHT, ["unknown"]) is None
    assert chosen.find(MeasuredOperation.STOP, "s", _MIDNIGHT, ["req"]) == (_MIDNIGHT + 10, _MIDNIGHT + 13)
    assert chosen.name == RecordedTimes.name
    notified = NotifiedTimes()
    _say(notified, "instance.power_off.start", "00:00:10.000000")
    _say(notified, "instance.power_off.end", "00:00:12.500000")
    chosen = ChosenTimes(notified, RecordedTimes(_Actions(action)))
    assert chosen.find(MeasuredOperation.STOP, "s", _MIDNIGHT, ["req"]) == (_MIDNIGHT + 10, _MIDNIGHT + 12.5)
    assert chosen.name == NotifiedTimes.name
    assert chosen.find(MeasuredOperation.STOP, "other", _MIDNIGHT, ["req"]) is None
