"""Recurrence rules."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.recurrence import occurrences

#: A Friday.
FIRST = int(datetime(2030, 2, 1, 9, tzinfo=UTC).timestamp())
DAY = 86_400


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
def test_when(rule: str, expected: list[str]) -> None:
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
        ("FREQ=DAILY;INTERVAL=7;BYDAY=MO;COUNT=2", "describes no lease at all"),
        ("FREQ=DAILY;COUNT=3\nEXDATE:20300202", "is not right"),
    ],
)
def test_what_is_wrong(rule: str, problem: str) -> None:
    with pytest.raises(ApiError) as raised:
        occurrences(rule, FIRST, 50, 400)
    assert (raised.value.code, raised.value.field) == (400, "rule")
    assert raised.value.message.startswith("rule: ")
    assert problem in raised.value.message


_PART = st.one_of(
    st.sampled_from(["FREQ=YEARLY", "FREQ=MONTHLY", "FREQ=WEEKLY", "FREQ=DAILY", "FREQ=HOURLY", "COUNT=5"]),
    st.from_regex(r"(BYDAY|BYMONTHDAY|BYMONTH|BYSETPOS)=[-+0-9A-Z,]{1,6}", fullmatch=True),
    st.sampled_from(
        ["BYDAY=0MO", "BYDAY=9MO", "BYDAY=-53MO", "BYMONTHDAY=99", "BYMONTH=13", "BYSETPOS=-400", "UNTIL=00000000"]
    ),
    st.text(max_size=6),
)


@given(st.lists(_PART, max_size=6).map(";".join))
def test_any_text_is_some_dates_or_wrong_and_soon(rule: str) -> None:
    begun = time.monotonic()
    try:
        found = occurrences(rule, FIRST, 50, 400)
    except ApiError as error:
        assert error.code == 400
    else:
        assert found == sorted(set(found))
        assert 1 <= len(found) <= 50
        assert found[0] >= FIRST
        assert found[-1] <= FIRST + 400 * DAY
    assert time.monotonic() - begun < 5
