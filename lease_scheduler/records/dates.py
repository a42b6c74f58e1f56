"""Dates of leases as Blazar writes them. Internally, instants are whole seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

#: The first instant that has a date: the start of the year 1.
FIRST = -62_135_596_800

#: The last instant whose year has four digits.
LAST = 253_402_300_799


def utc(instant: int) -> datetime:
    """Return the date of an instant, or that of ``FIRST`` or ``LAST`` if the instant is before or after them."""
    return datetime.fromtimestamp(max(FIRST, min(instant, LAST)), UTC)


@lru_cache(maxsize=16_384)
def date_and_time(instant: int) -> str:
    """Return the date of an instant in UTC, such as 2030-01-31T12:00:00. Cached, as lists repeat the same instants."""
    return utc(instant).isoformat(timespec="seconds").removesuffix("+00:00")


def blazar_date(instant: int) -> str:
    """Return the date of an instant in UTC, in the format that Blazar's clients parse."""
    return f"{date_and_time(instant)}.000000"
