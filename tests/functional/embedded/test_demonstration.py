"""The demonstration: a recorded workload is submitted over REST, and continues after any interruption."""

from __future__ import annotations

import json
from pathlib import Path

from lease_scheduler.simulation.demonstration import Demonstration, recorded_weeks
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, until

_FAST = "[simulated_cloud]\nclock_speed = 6000\n"
_KINDS = {"reservation", "immediate", "deadline", "best-effort"}


class _StandingClock:
    """Always shows the same instant.

    :param instant: the instant
    """

    def __init__(self, instant: int) -> None:
        self._instant = instant

    def now(self) -> int:
        return self._instant

    def seconds_until(self, instant: int) -> float:
        return max(0.0, float(instant - self._instant))


def _next_request(place: Path) -> int:
    return int(json.loads(place.read_text())["next_request"]) if place.exists() else 0


def _names(rest: Rest) -> list[str]:
    return [lease["name"] for lease in rest.get("leases?all_projects=true&deleted=true&limit=1000")["leases"]]


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def test_all_kinds(make: Make) -> None:
    """It submits leases of all four kinds, which change their states, and no error is logged."""
    service = make(["--demonstration"], _FAST)
    service.start()
    rest = Rest(service)
    until(lambda: {lease["kind"] for lease in rest.calendar()["leases"] if lease["state"] == "done"} >= _KINDS)
    until(lambda: any(lease["state"] == "active" for lease in rest.calendar()["leases"]))
    assert len({lease["project_id"] for lease in rest.calendar()["leases"]}) == 4
    assert len(rest.calendar()["hosts"]) == 144
    assert service.interrupt() == 0
    log = service.log.read_text()
    assert [line for line in log.splitlines() if " ERROR " in line or "Traceback" in line] == []


def test_kills(make: Make) -> None:
    """Killed repeatedly, it continues where it stopped, and submits no lease twice."""
    service = make(["--demonstration"], _FAST)
    place = service.folder / "state" / "demonstration" / "demonstration.json"
    reached = 0
    for _ in range(3):
        service.start()
        wanted = reached + 8
        until(lambda wanted=wanted: _next_request(place) >= wanted)  # type: ignore[misc]
        service.kill()
        assert _next_request(place) >= wanted
        reached = _next_request(place)
    service.start()
    until(lambda: _next_request(place) >= reached + 8)
    numbers = [_number(name) for name in _names(Rest(service))]
    assert len(numbers) >= 24
    assert len(numbers) == len(set(numbers))
    log = service.log.read_text()
    assert [line for line in log.splitlines() if " ERROR " in line or "Traceback" in line] == []


def test_killed_before_it_wrote_down(make: Make, tmp_path: Path) -> None:
    """A lease that exists is not submitted again, even if its submission was not recorded."""
    service = make(configuration="[simulated_cloud]\nhosts = 144\n")
    service.start()
    rest = Rest(service)
    place = tmp_path / "place.json"
    due = sum(lease.request.submitted <= 3_600 for lease in recorded_weeks()[0])
    assert due > 5
    begun = rest.now()

    def submit() -> None:
        """Submit what is due in the first hour."""
        demonstration = Demonstration(service.url, place, _StandingClock(begun + 3_600), lambda before: None)
        demonstration.start()
        until(lambda: _next_request(place) == due)
        demonstration.stop()

    rest.register(144)
    place.write_text(json.dumps({"origin": begun, "next_request": 0}))
    submit()
    before = _names(rest)
    last = max(_number(name) for name in before)
    place.write_text(json.dumps({"origin": begun, "next_request": last - 1}))
    submit()
    assert sorted(_names(rest)) == sorted(before)


def test_it_goes_round(make: Make) -> None:
    """After a week it goes on with the next one, on new dates; an old state file counts as the first week."""
    service = make(["--demonstration"], _FAST)
    place = service.folder / "state" / "demonstration" / "demonstration.json"
    service.start()
    until(lambda: _next_request(place) > 0)
    assert service.interrupt() == 0
    begun, length = json.loads(place.read_text())["origin"], len(recorded_weeks()[0])
    place.write_text(json.dumps({"origin": begun - 7 * 86_400 + 3_600, "next_request": length - 1}))
    service.start()
    rest = Rest(service)

    until(lambda: json.loads(place.read_text()).get("week") == 1 and _next_request(place) >= 3)
    assert json.loads(place.read_text())["origin"] >= begun + 3_600
    numbers = {_number(name) for name in _names(rest)}
    assert max(numbers) > length, "the numbers of the second week follow those of the first"
    log = service.log.read_text()
    assert [line for line in log.splitlines() if " ERROR " in line or "Traceback" in line] == []


def test_the_weeks_of_the_recorded_month() -> None:
    """Every request of four weeks is in its week, counted from the start of the week, in the order of submission."""
    weeks = recorded_weeks()
    assert len(weeks) == 4 and all(weeks)
    for week in weeks:
        instants = [lease.request.submitted for lease in week]
        assert instants == sorted(instants)
        assert instants[0] >= 0 and instants[-1] < 7 * 86_400
        assert all(lease.request.start is None or lease.request.start >= lease.request.submitted for lease in week)
