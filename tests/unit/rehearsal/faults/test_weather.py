from __future__ import annotations

from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.faults.weather import Weather
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler

_DAY = 86_400.0


def _bad_minutes(seed: int, calm: float) -> list[float]:
    scheduler = Scheduler(seed)
    weather, found = Weather(seed, "rain", scheduler, calm, Disturbances(scheduler)), []
    for _ in range(int(_DAY / 60)):
        scheduler.now += 60.0
        if weather.is_bad():
            found.append(scheduler.now)
    return found


def test_bad_weather_comes_in_spells_until_it_is_calm() -> None:
    found = _bad_minutes(1, _DAY / 2)
    assert 0 < len(found) < 200
    assert max(found) < _DAY / 2
    assert _bad_minutes(1, _DAY / 2) == found
    assert _bad_minutes(2, _DAY / 2) != found


def test_something_strikes_only_in_bad_weather() -> None:
    scheduler = Scheduler(1)
    weather = Weather(1, "rain", scheduler, _DAY, Disturbances(scheduler))
    assert not weather.strikes(1.0)
    while not weather.is_bad():
        scheduler.now += 60.0
    assert weather.strikes(1.0)
    assert not weather.strikes(0.0)


def test_spells_that_somebody_meets_are_recorded_until_it_is_calm() -> None:
    scheduler = Scheduler(1)
    disturbances = Disturbances(scheduler)
    weather = Weather(1, "rain", scheduler, _DAY / 2, disturbances)
    bad = []
    for _ in range(int(_DAY / 60)):
        scheduler.now += 60.0
        if weather.is_bad():
            bad.append(EPOCH + scheduler.now)
    assert {each.what for each in disturbances.all} == {"rain"}
    assert all(any(each.start <= instant < each.end for each in disturbances.all) for instant in bad)
    assert max(each.end for each in disturbances.all) <= EPOCH + _DAY / 2
