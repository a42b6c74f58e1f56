"""Dates between sites are exact to the second, whatever offset they have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.peers.dates import date_of, instant_of
from lease_scheduler.records.dates import FIRST, LAST


@given(st.integers(FIRST, LAST))
def test_an_instant_is_the_same_after_the_way_there_and_back(instant: int) -> None:
    assert instant_of(date_of(instant)) == instant


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-15T08:00:00Z",
        "2027-01-15T08:00:00",
        "2027-01-15T08:00:00.000000",
        "2027-01-15T09:00:00+01:00",
        "2027-01-15 08:00",
    ],
)
def test_a_date_without_an_offset_is_utc(text: str) -> None:
    assert instant_of(text) == 1_800_000_000


def test_what_is_no_date_is_refused() -> None:
    with pytest.raises(ValueError, match="soon"):
        instant_of("soon")
