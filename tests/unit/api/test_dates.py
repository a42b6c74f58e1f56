"""Dates and durations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_0, V1_1, V1_2, Version
from lease_scheduler.model.lease import UNLIMITED
from tests.unit.api.fakes import MINUTE, NOW


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        ("now", V1_1, MINUTE),
        ("2030-01-31 12:00", V1_1, MINUTE),
        ("1970-01-01 00:00", V1_1, 0),
        ("2030-01-31T12:00:30Z", V1_2, NOW),
        ("2030-01-31T14:00:30+02:00", V1_2, NOW),
        ("2030-01-31T12:00:30.999999+00:00", V1_2, NOW),
        ("2030-01-31T12:00:30.000000", V1_2, NOW),
        ("2030-01-31T12:00", V1_2, MINUTE),
        ("1969-12-31T23:59:59.5Z", V1_2, -1),
        ("2030-01-31t12:00:30z", V1_2, NOW),
        ("2030-01-31T13:00:30+01:00", V1_2, NOW),
        ("2030-01-30T24:00:00Z", V1_2, MINUTE - 12 * 3_600),
        ("2030-01-30t24:00-12:00", V1_2, MINUTE),
    ],
)
def test_dates_are_parsed(text: str, version: Version, expected: int) -> None:
    assert dates.parse_date(text, "start_date", NOW, version) == expected


@pytest.mark.parametrize("text", ["", "NOW", "2030-13-01 00:00", "2030-01-31T12:00:30Z", "2030-01-31 12:00:00"])
def test_other_dates_than_those_of_blazar_are_refused_at_1_0(text: str) -> None:
    with pytest.raises(ApiError) as raised:
        dates.parse_date(text, "start_date", NOW, V1_0)
    assert raised.value.message == f"{text} is an invalid date. Required format: %Y-%m-%d %H:%M"
    assert (raised.value.code, raised.value.field) == (400, "start_date")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", False),
        ("2030-01-31 12:00", False),
        ("2030-01-31T12:00Z", False),
        ("2030-01-31T12:00+05:30", False),
        ("20300131T1200", False),
        ("2030-01-31", False),
        ("2030-01-31T12:00:00", True),
        ("2030-01-31 12:00:00+05:30", True),
        ("2030-01-31T12:00:00.5Z", True),
        ("20300131T120000Z", True),
    ],
)
def test_dates_that_name_seconds_are_recognised(text: str, expected: bool) -> None:
    assert dates.parse_date(text, "start_date", NOW, V1_2) is not None
    assert dates.names_seconds(text) is expected


@given(st.text(max_size=30) | st.datetimes().map(str))
def test_any_text_is_a_date_or_refused(text: str) -> None:
    try:
        instant = dates.parse_date(text, "start_date", NOW, V1_2)
    except ApiError as error:
        assert error.code == 400
    else:
        assert isinstance(instant, int)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (90, 90),
        ("90", 90),
        ("90s", 90),
        ("1h", 3_600),
        ("2h30m", 9_000),
        ("30min", 1_800),
        ("1d", 86_400),
        ("1w2d3h4m5s", 604_800 + 2 * 86_400 + 3 * 3_600 + 245),
        (" 1H ", 3_600),
        ("PT2H30M", 9_000),
        ("P1D", 86_400),
        ("P1W", 604_800),
        ("pt5s", 5),
        (UNLIMITED, UNLIMITED),
    ],
)
def test_durations_are_parsed(value: int | str, expected: int) -> None:
    assert dates.parse_duration(value, "duration") == expected


@pytest.mark.parametrize("value", ["", "h", "1x", "-1h", "P", "PT", "1h 30m", "30m2h", "1.5h", "\u0661h"])
def test_texts_that_are_no_durations_are_refused(value: str) -> None:
    with pytest.raises(ApiError, match="is not a duration"):
        dates.parse_duration(value, "duration")


@pytest.mark.parametrize("value", [0, -1, "0h", UNLIMITED + 1, "999999999w"])
def test_durations_that_are_too_short_or_too_long_are_refused(value: int | str) -> None:
    with pytest.raises(ApiError, match="must be between 1 s and 36500 d"):
        dates.parse_duration(value, "duration")


def test_dates_have_three_formats() -> None:
    assert dates.lease_date(NOW) == "2030-01-31T12:00:30.000000"
    assert dates.row_date(NOW) == "2030-01-31 12:00:30"
    assert dates.iso_date(NOW) == "2030-01-31T12:00:30Z"
    assert dates.lease_date(None) is dates.row_date(None) is dates.iso_date(None) is None
    assert dates.iso_date(10**15) is None
