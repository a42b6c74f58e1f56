"""Dates of leases as Blazar writes them. Internally, instants are whole seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime

#: The last instant whose year has four digits.
LAST = 253_402_300_799


def utc(instant: int) -> datetime:
    """Return the date of an instant, or that of ``LAST`` if the instant is later."""
    return datetime.fromtimestamp(min(instant, LAST), UTC)


def blazar_date(instant: int) -> str:
    """Return the date of an instant in UTC, in the format that Blazar's clients parse."""
    return utc(instant).strftime("%Y-%m-%dT%H:%M:%S.000000")
