"""Recurrence rules."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.recurrence import occurrences

#: A Friday.
FIRST = int(datetime(2030, 2, 1, 9, tzinfo=UTC).timestamp())
DAY = 86_400
BERLIN = ZoneInfo("Europe/Berlin")


def dates(rule: str) -> list[str]:
    return [f"{datetime.fromtimestamp(start, UTC):%m-%d %H}" for start in occurrences(rule, FIRST, 50, 400)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY;COUNT=3", ["02-01 09", "02-02 09", "02-03 09"]),
        ("RRULE:FREQ=WEEKLY;COUNT=2", ["02-01 09", "02-08 09"]),
        ("freq=weekly;byday=mo,fr;count=3", ["02-01 09", "02-04 09", "02-08 09"]),
        ("FREQ=WEEKLY;INTERVAL=2;COUNT=2", ["02-01 09", "02-15 09"]),
        ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=2", ["02-22 09", "03-29 09"]),
        ("FREQ=MONTHLY;BYMONTHDAY=15;COUNT=2", ["02-15 09", "03-15 09"]),
        ("FREQ=DAILY;UNTIL=20300203", ["02-01 09", "02-02 09", "02-03 09"]),
        ("FREQ=DAILY;UNTIL=20300203T085959Z", ["02-01 09", "02-02 09"]),
        ("FREQ=HOURLY;INTERVAL=12;COUNT=2", ["02-01 09", "02-01 21"]),
        ("FREQ=YEARLY;COUNT=2", ["02-01 09", "02-01 09"]),
    ],
)
def test_a_rule_has_its_occurrences(rule: str, expected: list[str]) -> None:
    assert dates(rule) == expected


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("", "an empty part is not known"),
        ("COUNT=3", "must say FREQ"),
        ("FREQ=DAILY", "must have an end"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20300301", "not both"),
        ("FREQ=SECONDLY;COUNT=3", "FREQ=SECONDLY is not right"),
        ("FREQ=DAILY;COUNT=0", "COUNT=0 is not right"),
        ("FREQ=DAILY;COUNT=3;COUNT=4", "COUNT is there twice"),
        ("FREQ=DAILY;INTERVAL=0;COUNT=3", "INTERVAL=0 is not right"),
        ("FREQ=DAILY;BYSECOND=3;COUNT=3", "BYSECOND is not known"),
        ("FREQ=DAILY;UNTIL=20301399", "is not a recurrence rule"),
        ("FREQ=DAILY;UNTIL=20991231", "UNTIL must not be later than"),
        ("FREQ=DAILY;UNTIL=20200101", "describes no lease at all"),
        ("FREQ=DAILY;COUNT=51", "must describe at most 50 leases"),
        ("FREQ=YEARLY;COUNT=3", "only 2 of 3 leases lie within 400 days"),
        ("FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", "describes no lease at all"),
        ("FREQ=HOURLY;BYSETPOS=50;COUNT=3", "cannot be combined with FREQ=HOURLY"),
        ("FREQ=MONTHLY;BYDAY=9MO;COUNT=2", "BYDAY=9MO names a day that never occurs"),
        ("FREQ=YEARLY;BYDAY=0MO;COUNT=2", "BYDAY=0MO names a day that never occurs"),
        ("FREQ=YEARLY;BYMONTH=12;BYDAY=6MO;COUNT=2", "BYDAY=6MO names a day that never occurs"),
        ("FREQ=WEEKLY;BYDAY=1MO;COUNT=3", "BYDAY=1MO numbers a weekday of a month or year"),
        ("FREQ=DAILY;BYDAY=MO,-1FR;COUNT=3", "BYDAY=-1FR numbers a weekday of a month or year"),
        ("FREQ=HOURLY;BYDAY=+2TU;COUNT=3", "BYDAY=+2TU numbers a weekday of a month or year"),
        ("FREQ=WEEKLY;BYMONTHDAY=13;COUNT=3", "BYMONTHDAY cannot be combined with FREQ=WEEKLY"),
        ("FREQ=DAILY;BYSETPOS=1;COUNT=3", "BYSETPOS chooses among other parts"),
        ("FREQ=DAILY;BYMONTH=13;COUNT=3", "BYMONTH=13 is not right; its numbers go up to 12"),
        ("FREQ=DAILY;BYMONTHDAY=0;COUNT=3", "BYMONTHDAY=0 is not right"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367;COUNT=3", "BYSETPOS=367 is not right"),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO;COUNT=2", "describes no lease at all"),
        ("FREQ=DAILY;COUNT=3\nEXDATE:20300202", "is not right"),
    ],
)
def test_wrong_rules_are_refused(rule: str, problem: str) -> None:
    with pytest.raises(ApiError) as raised:
        occurrences(rule, FIRST, 50, 400)
    assert (raised.value.code, raised.value.field) == (400, "rule")
    assert raised.value.message.startswith("rule: ")
    assert problem in raised.value.message


def local(rule: str, first: datetime, days: int = 400) -> list[str]:
    """Return the dates of a rule as clocks in Berlin show them, with their offset from UTC."""
    found = occurrences(rule, int(first.timestamp()), 50, days, "Europe/Berlin")
    return [f"{datetime.fromtimestamp(start, BERLIN):%m-%d %H:%M%z}" for start in found]


class TestLocalTime:
    """In 2030, clocks in Berlin are set forward on 31 March at 02:00, and back on 27 October at 03:00."""

    def test_local_times_do_not_move_when_clocks_change(self) -> None:
        first = datetime(2030, 3, 29, 8, tzinfo=BERLIN)
        assert local("FREQ=DAILY;COUNT=4", first) == [
            "03-29 08:00+0100",
            "03-30 08:00+0100",
            "03-31 08:00+0200",
            "04-01 08:00+0200",
        ]
        utc = occurrences("FREQ=DAILY;COUNT=4", int(first.timestamp()), 50, 400)
        assert [later - earlier for earlier, later in pairwise(utc)] == [DAY, DAY, DAY]

    def test_a_weekday_is_one_of_its_own_zone(self) -> None:
        """Monday at half past midnight in Berlin is Sunday in UTC."""
        first = datetime(2030, 2, 4, 0, 30, tzinfo=BERLIN)
        assert local("FREQ=WEEKLY;BYDAY=MO;COUNT=2", first) == ["02-04 00:30+0100", "02-11 00:30+0100"]

    def test_a_time_that_clocks_skip_is_left_out_and_not_counted(self) -> None:
        first = datetime(2030, 3, 30, 2, 30, tzinfo=BERLIN)
        assert local("FREQ=DAILY;COUNT=2", first) == ["03-30 02:30+0100", "04-01 02:30+0200"]

    def test_of_a_time_that_comes_twice_the_first_is_taken(self) -> None:
        first = datetime(2030, 10, 26, 2, 30, tzinfo=BERLIN)
        assert local("FREQ=DAILY;COUNT=2", first) == ["10-26 02:30+0200", "10-27 02:30+0200"]

    def test_a_series_may_begin_with_the_second_of_a_time_that_comes_twice(self) -> None:
        first = datetime(2030, 10, 27, 2, 30, tzinfo=BERLIN, fold=1)
        assert local("FREQ=DAILY;COUNT=2", first) == ["10-27 02:30+0100", "10-28 02:30+0100"]

    def test_until_is_an_instant_or_a_day_of_the_zone(self) -> None:
        first = datetime(2030, 3, 29, 8, tzinfo=BERLIN)
        assert len(local("FREQ=DAILY;UNTIL=20300331T060000Z", first)) == 3
        assert len(local("FREQ=DAILY;UNTIL=20300331T055959Z", first)) == 2
        assert len(local("FREQ=DAILY;UNTIL=20300331", first)) == 3

    @pytest.mark.parametrize("name", ["", "Berlin", "Europe", "../../etc/passwd", "europe/berlin", "UTC+1"])
    def test_unknown_time_zones_are_refused(self, name: str) -> None:
        with pytest.raises(ApiError) as raised:
            occurrences("FREQ=DAILY;COUNT=2", FIRST, 50, 400, name)
        assert (raised.value.code, raised.value.field) == (400, "time_zone")

    def test_hourly_rules_with_a_time_zone_are_refused(self) -> None:
        with pytest.raises(ApiError) as raised:
            occurrences("FREQ=HOURLY;COUNT=2", FIRST, 50, 400, "Europe/Berlin")
        assert (raised.value.code, raised.value.field) == (400, "time_zone")


_PART = st.one_of(
    st.sampled_from(["FREQ=YEARLY", "FREQ=MONTHLY", "FREQ=WEEKLY", "FREQ=DAILY", "FREQ=HOURLY", "COUNT=5"]),
    st.from_regex(r"(BYDAY|BYMONTHDAY|BYMONTH|BYSETPOS)=[-+0-9A-Z,]{1,6}", fullmatch=True),
    st.sampled_from(
        ["BYDAY=0MO", "BYDAY=9MO", "BYDAY=-53MO", "BYMONTHDAY=99", "BYMONTH=13", "BYSETPOS=-400", "UNTIL=00000000"]
    ),
    st.text(max_size=6),
)


@given(st.lists(_PART, max_size=6).map(";".join), st.sampled_from([None, "Europe/Berlin", "Pacific/Apia"]))
def test_any_text_is_parsed_or_refused_in_short_time(rule: str, time_zone: str | None) -> None:
    begun = time.monotonic()
    try:
        found = occurrences(rule, FIRST, 50, 400, time_zone)
    except ApiError as error:
        assert error.code == 400
    else:
        assert found == sorted(set(found))
        assert 1 <= len(found) <= 50
        assert found[0] >= FIRST
        assert found[-1] <= FIRST + 400 * DAY
    assert time.monotonic() - begun < 5
