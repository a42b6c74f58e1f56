"""For how long nothing starts on a host (prediction F41, F46, F74, F75, F82; P12-P18)."""

from __future__ import annotations

import json
from random import Random

import pytest

from lease_scheduler.prediction.demand_history import Survey
from lease_scheduler.prediction.quiet_times import QuietTimes, restored

_HOUR, _DAY = 3_600, 86_400
_BEGIN = 20_000 * _DAY
_LIFETIMES = (_HOUR, 6 * _HOUR, _DAY)


def _daily(days: int, first: int, last: int) -> QuietTimes:
    """Return the times of a host that a lease has from one hour of each day to another one."""
    quiet = QuietTimes(_BEGIN)
    for day in range(days):
        quiet.started(_BEGIN + day * _DAY + first * _HOUR)
        quiet.ended(_BEGIN + day * _DAY + last * _HOUR)
    return quiet


def test_a_host_without_leases_promises_what_fits_often_enough_into_its_past() -> None:
    """59 lifetimes without a start are 95 % at 95 %, as in the table of section 4.2.1 of the specification."""
    quiet = QuietTimes(_BEGIN)
    assert quiet.survey(_HOUR, _BEGIN) == Survey(0, 0)
    assert quiet.longest(_LIFETIMES, 0.95, 0.95, _BEGIN + 2 * _DAY) is None
    assert quiet.longest(_LIFETIMES, 0.95, 0.95, _BEGIN + 16 * _DAY) == 6 * _HOUR
    assert quiet.longest(_LIFETIMES, 0.95, 0.95, _BEGIN + 16 * _DAY, since=_BEGIN + 14 * _DAY) is None


def test_the_same_time_of_the_day_counts() -> None:
    """A lease that starts at nine each day spoils one hour in 23, but every hour before nine."""
    quiet = _daily(60, 9, 10)
    at_eight, at_noon = _BEGIN + 60 * _DAY + 8 * _HOUR, _BEGIN + 60 * _DAY + 12 * _HOUR
    assert quiet.longest(_LIFETIMES, 0.8, 0.95, at_eight) is None
    assert quiet.longest(_LIFETIMES, 0.8, 0.95, at_noon) == _HOUR


def test_times_at_which_a_lease_had_the_host_tell_nothing_about_a_free_one() -> None:
    """A host that is free for an hour a day loses its servers in that hour, though nothing starts in the others."""
    quiet = _daily(90, 1, 24)
    now = _BEGIN + 90 * _DAY
    assert quiet.is_free
    known = quiet.survey(_HOUR, now)
    assert known.missed == known.observations > 50
    quiet.started(now)
    taken = quiet.survey(_HOUR, now)
    assert taken.missed < taken.observations / 5


def test_the_share_of_misses_equals_a_count_step_by_step() -> None:
    rng = Random(3)
    quiet, starts = QuietTimes(_BEGIN), []
    for start in sorted(rng.sample(range(0, 20 * _DAY, 1_800), 12)):
        starts.append(start // 600)
        quiet.started(_BEGIN + start)
        quiet.ended(_BEGIN + start)
    steps = 13
    count = 20 * 144 - steps
    missed = [any(step <= start < step + steps for start in starts) for step in range(count)]
    found = quiet.survey(2 * _HOUR, _BEGIN + 20 * _DAY)
    assert found.observations == -(-count // steps)
    # The largest share is at least that of all of them.
    assert found.missed >= sum(missed) / count * found.observations


def test_new_leases_end_promises_before_half_of_the_past_is_new() -> None:
    quiet = QuietTimes(_BEGIN)
    assert quiet.longest(_LIFETIMES, 0.9, 0.95, _BEGIN + 80 * _DAY) == _DAY
    for hour in range(0, 72, 3):
        quiet.started(_BEGIN + 80 * _DAY + hour * _HOUR)
        quiet.ended(_BEGIN + 80 * _DAY + (hour + 1) * _HOUR)
    assert quiet.longest(_LIFETIMES, 0.9, 0.95, _BEGIN + 83 * _DAY) is None


def test_clocks_that_jump_do_no_harm() -> None:
    quiet = _daily(30, 9, 10)
    quiet.started(_BEGIN)
    assert json.loads(json.dumps(quiet.stored()))["starts"][-1] == (_BEGIN + 29 * _DAY + 10 * _HOUR) // 600
    quiet.forget(_BEGIN + 10 * _DAY)
    assert quiet.stored()["starts"] == []
    assert not quiet.is_free
    assert quiet.longest(_LIFETIMES, 0.5, 0.5, _BEGIN + 10 * _DAY) is None


def test_the_history_is_bounded_and_survives_storage() -> None:
    quiet = QuietTimes(_BEGIN)
    for number in range(5_000):
        quiet.started(_BEGIN + number * 1_200)
        quiet.ended(_BEGIN + number * 1_200 + 600)
    stored = json.loads(json.dumps(quiet.stored()))
    assert len(stored["starts"]) <= 2_000
    assert len(stored["turns"]) <= 4_000
    again = restored(stored)
    assert again is not None
    assert again.known() == quiet.known()
    quiet.forget(_BEGIN + 5_000 * 1_200 + 100 * _DAY)
    assert quiet.stored()["starts"] == []
    assert quiet.is_free


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"since": 1},
        {"since": "x", "starts": [], "turns": []},
        {"since": 1, "starts": [3, 2], "turns": []},
        {"since": 1, "starts": [], "turns": list(range(5_000))},
    ],
)
def test_damaged_entries_are_not_used(stored: dict[str, object]) -> None:
    assert restored(stored) is None
