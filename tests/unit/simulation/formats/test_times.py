"""Times in Haizea's files (haizea, section 9.2; rounding: section 8.2, choice 13)."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.simulation.formats.times import format_time, parse_duration, parse_instant


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:30:00.00", 1_800),
        ("1:00:00", 3_600),
        ("02:03:04:05", 2 * 86_400 + 3 * 3_600 + 4 * 60 + 5),
        ("720:00:00", 30 * 86_400),
        ("5400", 5_400),
        (" 00:00:10 ", 10),
        ("00:00:01.01", 2),
        ("0.001", 1),
        ("unlimited", UNLIMITED),
    ],
)
def test_durations_round_up(text: str, seconds: int) -> None:
    assert parse_duration(text, "duration") == seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("00:00:01.49", 1), ("00:00:01.50", 2), ("00:00:02.50", 3), ("0", 0), ("+00:00:01", 101)]
)
def test_instants_round_to_the_nearest_and_may_be_relative(text: str, seconds: int) -> None:
    assert parse_instant(text, "start", submitted=100) == seconds


@pytest.mark.parametrize(
    "text", ["", "abc", "-1", "1:2", "00:60:00", "00:00:60", "1:2:3:4:5", "1e3", "nan", "٣", "++1"]
)
def test_wrong_times_are_named(text: str) -> None:
    with pytest.raises(InvalidValueError, match="^duration: "):
        parse_duration(text, "duration")
    with pytest.raises(InvalidValueError, match="^start: "):
        parse_instant(text, "start")


def test_an_instant_cannot_be_unlimited() -> None:
    with pytest.raises(InvalidValueError, match="deadline"):
        parse_instant("unlimited", "deadline")


@given(st.integers(min_value=0, max_value=UNLIMITED))
def test_whole_seconds_survive_writing_and_reading(seconds: int) -> None:
    text = format_time(seconds)
    assert parse_duration(text, "x") == parse_instant(text, "x") == seconds


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=999))
def test_fractions_round_exactly(whole: int, thousandths: int) -> None:
    text = f"{whole}.{thousandths:03}"
    exact = Fraction(whole * 1_000 + thousandths, 1_000)
    assert parse_duration(text, "x") == ceil(exact)
    assert parse_instant(text, "x") == floor(exact + Fraction(1, 2))


def test_days_are_written_only_when_there_are_any() -> None:
    assert format_time(86_399) == "23:59:59"
    assert format_time(86_400) == "01:00:00:00"
