"""How often the demand used up the spare capacity too soon (Pucher 2016, 5.3.3; prediction F74, F75, F82, P10-P18)."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.demand_history import PARTS, STEP, DemandHistory, Survey

_DAY = 86_400
#: Midnight of a Friday.
_BEGIN = 20_000 * _DAY


def _constant(days: int, share: float = 0.25) -> DemandHistory:
    history = DemandHistory()
    history.demand(_BEGIN, share)
    history.pass_to(_BEGIN + days * _DAY)
    return history


def test_nothing_is_known_at_first() -> None:
    survey = DemandHistory().survey(0.5, 3_600, _BEGIN)
    assert survey == Survey(0, 0)
    assert survey.assurance(0.95) == 0.0


def test_a_demand_that_never_grew_reaches_what_the_number_of_lifetimes_allows() -> None:
    """59 observations without a miss are 95 % at 95 %, as in the table of section 4.2.1 of the specification."""
    day = _constant(15).survey(0.5, 6 * 3_600 - STEP, _BEGIN)
    assert day.missed == 0
    assert day.observations == 60
    assert day.assurance(0.95) >= 0.95
    assert _constant(14).survey(0.5, 6 * 3_600 - STEP, _BEGIN).assurance(0.95) < 0.95


def test_the_spare_capacity_counts() -> None:
    """Each day at noon the demand grows by a quarter of the site for two hours."""
    history = DemandHistory()
    for day in range(60):
        start = _BEGIN + day * _DAY
        history.demand(start, 0.25)
        history.demand(start + 12 * 3_600, 0.5)
        history.demand(start + 14 * 3_600, 0.25)
    now = _BEGIN + 60 * _DAY
    history.pass_to(now)
    assert history.survey(0.3, 3_600, now).missed == 0
    at_midnight = history.survey(0.2, 3_600, now)
    assert 0 < at_midnight.missed < 0.1 * at_midnight.observations
    before_noon = history.survey(0.2, 3_600, now + 11 * 3_600)
    assert before_noon.missed > 0.4 * before_noon.observations, "the time of day counts"
    assert history.survey(0.2, 25 * 3_600, now).missed == history.survey(0.2, 25 * 3_600, now).observations


@pytest.mark.parametrize("seed", range(3))
def test_a_survey_equals_a_scan_of_the_history(seed: int) -> None:
    """Against a plain loop over all starts and steps."""
    random, history, levels = Random(seed), DemandHistory(), []
    for step in range(30 * 144):
        level = random.choices((0, 4, 20, 40), (60, 30, 8, 2))[0]
        history.demand(_BEGIN + step * STEP, level / 64)
        levels.append(level)
    history._since = 0
    now = _BEGIN + 30 * _DAY
    history.pass_to(now)
    # The demand at the start of a step is that of the step before, as it changes within the step.
    starts, mosts = [levels[0], *levels[:-1]], [max(pair) for pair in pairwise([levels[0], *levels])]
    lowest = sorted(starts)[35]
    for room, steps in ((3, 2), (10, 4), (30, 9)):
        begins = range(len(levels) + 1 - steps)
        missed = [any(mosts[b + k] - starts[b] > room for k in range(min(steps, len(levels) - b))) for b in begins]
        groups = [
            missed,
            [each for b, each in zip(begins, missed, strict=True) if b % 144 < 12],
            [each for b, each in zip(begins, missed, strict=True) if (b - 30 * 144) % (7 * 144) < 12],
            [each for b, each in zip(begins, missed, strict=True) if starts[b] <= max(levels[-1], lowest)],
            *(missed[-(len(missed) // part) :] for part in (2, 4, 8)),
        ]
        share = max(sum(group) / len(group) for group in groups)
        survey = history.survey(room / 64, (steps - 1) * STEP, now)
        assert survey.observations == -(-len(missed) // steps)
        assert abs(survey.missed - share * survey.observations) <= 1


def test_a_demand_that_is_unusually_low_is_expected_to_grow() -> None:
    """Half of the site is in use but for two hours each week, on other days and at other times."""
    history = DemandHistory()
    for week in range(8):
        pause = _BEGIN + week * 7 * _DAY + (week % 5) * _DAY + week * 9_000
        history.demand(pause, 0.1)
        history.demand(pause + 7_200, 0.5)
    now = _BEGIN + 56 * _DAY
    history.pass_to(now)
    assert history.survey(0.3, 4 * 3_600, now).assurance(0.95) > 0.8
    history.demand(now, 0.1)
    assert history.survey(0.3, 4 * 3_600, now).assurance(0.95) < 0.2


def test_the_day_of_the_week_counts() -> None:
    """Each Monday at noon the demand grows. In the hours before that, nothing is promised beyond noon."""
    history = DemandHistory()
    monday = 20_003 * _DAY
    for week in range(8):
        history.demand(monday + week * 7 * _DAY + 12 * 3_600, 0.6)
        history.demand(monday + week * 7 * _DAY + 18 * 3_600, 0.1)
    now = monday + 8 * 7 * _DAY + 10 * 3_600
    history.pass_to(now)
    before_noon = history.survey(0.3, 3 * 3_600, now)
    assert before_noon.missed > 0.5 * before_noon.observations
    on_tuesday = history.survey(0.3, 3 * 3_600, now + _DAY)
    assert on_tuesday.missed < 0.2 * on_tuesday.observations


def test_the_newest_part_counts_where_the_load_grows_slowly() -> None:
    """Bursts that become more frequent: once a day, then thrice."""
    history = DemandHistory()
    for day in range(64):
        for burst in range(1 if day < 48 else 3):
            start = _BEGIN + day * _DAY + burst * 25_000 + (day * 7_919) % 30_000
            history.demand(start, 0.5)
            history.demand(start + 1_200, 0.1)
    history._since = 0
    now = _BEGIN + 64 * _DAY
    history.pass_to(now)
    survey = history.survey(0.3, 3_600, now)
    assert survey.missed > 0.1 * survey.observations
    table = history._computed()
    assert np.mean(table.growth(0, len(table.starts) - 7, 7) > 0.3 * PARTS) < 0.1


@pytest.mark.parametrize("hosts", range(2, 51))
def test_the_number_of_equal_hosts_makes_no_difference(hosts: int) -> None:
    """All hosts but one are in use all the time, or one of them and all but one alternately."""
    full, busy = DemandHistory(), DemandHistory()
    full.demand(_BEGIN, (hosts - 1) / hosts)
    for turn in range(2 * 30):
        # As a policy adds and subtracts the shares of leases, which leaves rounding errors.
        busy.demand(_BEGIN + turn * _DAY // 2, sum([1 / hosts] * (1 if turn % 2 else hosts - 1)))
    now = _BEGIN + 30 * _DAY
    room = 1 - 1 / hosts - (hosts - 1) / hosts
    assert full.survey(room, 6 * 3_600, now) == Survey(116, 0)
    growth = (hosts - 2) / hosts
    assert busy.survey(growth, 6 * 3_600, now).missed == 0
    assert hosts == 2 or busy.survey(growth - 0.5 / hosts, 6 * 3_600, now).missed > 50


def test_the_time_since_the_last_change_of_the_demand_counts() -> None:
    history = _constant(0)
    assert history.survey(0.5, _DAY, _BEGIN + 80 * _DAY) == _constant(80).survey(0.5, _DAY, _BEGIN + 80 * _DAY)
    assert history.survey(0.5, _DAY, _BEGIN + 80 * _DAY).observations > 70


def test_a_demand_that_does_not_change_for_longer_than_is_kept_is_known_all_that_time() -> None:
    history = _constant(0)
    now = _BEGIN + 200 * _DAY
    history.demand(now, 0.25)
    assert history.survey(0.5, _DAY, now).observations == 88


@given(st.lists(st.tuples(st.integers(0, 5 * _DAY), st.integers(0, 8), st.booleans()), max_size=30), st.data())
def test_questions_and_the_passing_of_time_change_no_answer(
    events: list[tuple[int, int, bool]], data: st.DataObject
) -> None:
    plain, asked = DemandHistory(days=9), DemandHistory(days=9)
    now = _BEGIN
    for wait, eighths, is_refused in events:
        for between in sorted(data.draw(st.lists(st.integers(0, wait), max_size=3))):
            asked.survey(0.25, 7_200, now + between, now + between + 3 * _DAY)
        now += wait
        for history in (plain, asked):
            (history.refused if is_refused else history.demand)(now, eighths / 8)
    for history in (plain, asked):
        history.pass_to(now + _DAY)
    assert plain.stored_rest() == asked.stored_rest()
    assert plain._days == asked._days


def test_quiet_time_is_stored_once_an_hour() -> None:
    """Else a restart would find a gap where nothing has changed."""
    history, writes = _constant(0), 0
    stored: dict[int, Any] = {}
    for minutes in range(0, 80 * 1_440, 5):
        history.pass_to(_BEGIN + minutes * 60)
        writes += bool(history.changed)
        stored |= {day: history.stored_day(day) for day in history.changed}
        history.changed.clear()
    again = DemandHistory()
    again.restore({day: value for day, value in stored.items() if value}, history.stored_rest())
    now = _BEGIN + 80 * _DAY
    again.resume(now, 0.25)
    assert writes == 80 * 24
    assert again.survey(0.5, _DAY, now) == _constant(80).survey(0.5, _DAY, now)


def test_days_of_another_unit_are_not_used() -> None:
    """What was stored in 64ths of the site would look as if there had been no demand."""
    history, old = _constant(30), DemandHistory()
    days = {day: history.stored_day(day) or {} for day in history.changed}
    old.restore({day: {**value, "parts": 64} for day, value in days.items()}, {**history.stored_rest(), "parts": 64})
    assert old.survey(0.5, 3_600, _BEGIN + 30 * _DAY) == Survey(0, 0)


@pytest.mark.parametrize("damage", [{"share": math.nan}, {"share": "x"}, {"since": math.inf}, {"growth": {}}])
def test_a_damaged_rest_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="rest"):
        DemandHistory().restore({}, {**_constant(3).stored_rest(), **damage})


def test_refused_requests_count_as_demand() -> None:
    quiet, refused = _constant(30), _constant(0)
    for day in range(30):
        refused.refused(_BEGIN + day * _DAY + 3_600, 0.7)
    refused.pass_to(_BEGIN + 30 * _DAY)
    assert quiet.survey(0.5, _DAY, _BEGIN).missed == 0
    assert refused.survey(0.5, _DAY, _BEGIN).missed > 0


def test_after_a_change_only_newer_history_counts() -> None:
    """Demand that jumps every hour from some hour on is noticed by the longest run of misses of the test, 28 hours."""
    history = _constant(60, 0.1)
    now = _BEGIN + 60 * _DAY
    before = history.survey(0.3, 3_600, now)
    assert before.assurance(0.95) > 0.95
    for hour in range(29):
        history.demand(now + hour * 3_600 + 1_200, 0.6)
        history.demand(now + hour * 3_600 + 3_000, 0.1)
    after = history.survey(0.3, 3_600, now + 30 * 3_600)
    assert after.observations < 60
    assert after.assurance(0.95) < 0.95


def test_a_long_interruption_is_a_gap_and_a_short_one_is_not() -> None:
    history = _constant(30)
    now = _BEGIN + 30 * _DAY
    history.resume(now + _DAY // 2, 0.25)
    assert history.survey(0.5, 3_600, now).observations > 0
    history.resume(now + 10 * _DAY, 0.25)
    history.pass_to(now + 40 * _DAY)
    with_gap = history.survey(0.5, 3_600, now)
    without = _constant(70).survey(0.5, 3_600, now)
    assert without.observations - 10 * 24 < with_gap.observations < without.observations - 6 * 20


def test_a_clock_that_is_set_back_changes_nothing_of_the_past() -> None:
    history = _constant(30)
    before = history.survey(0.5, 3_600, _BEGIN)
    history.demand(_BEGIN, 0.9)
    history.demand(_BEGIN + 30 * _DAY, 0.25)
    assert history.survey(0.5, 3_600, _BEGIN) == before


def test_the_history_is_bounded() -> None:
    history = DemandHistory(days=3)
    for event in range(5_000):
        history.demand(_BEGIN + event * 173, event % 7 / 10)
    assert len(history._days) <= 4
    assert all(len(starts) <= 144 for starts, _ in history._days.values())
    history.pass_to(_BEGIN + 10_000 * _DAY)
    assert len(history._days) == 3


def test_a_stored_history_is_restored() -> None:
    history = DemandHistory()
    random = Random(1)
    for hour in range(20 * 24):
        history.demand(_BEGIN + hour * 3_600 + 100, random.random() / 2)
    days = {day: history.stored_day(day) for day in history.changed}
    stored = json.loads(json.dumps({str(day): value for day, value in days.items()}))
    again = DemandHistory()
    again.restore({int(day): value for day, value in stored.items()}, json.loads(json.dumps(history.stored_rest())))
    now = _BEGIN + 20 * _DAY
    for each in (history, again):
        each.resume(now, 0.2)
    assert again.survey(0.4, 3_600, now) == history.survey(0.4, 3_600, now)
    again.restore({20_000: {"starts": "no", "mosts": [1]}, 20_001: {}}, None)
    assert again.survey(0.4, 3_600, now) == Survey(0, 0)


def test_stored_days_of_which_nothing_is_known_promise_nothing() -> None:
    """The table of histories may be damaged: the engine goes on."""
    history = DemandHistory()
    history.restore({20_000: {"starts": [-1] * 144, "mosts": [-1] * 144}}, None)

    assert history.survey(0.5, 3_600, 20_002 * 86_400) == Survey(0, 0)
