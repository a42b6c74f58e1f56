"""Dates of leases as Blazar writes them; inside they are whole seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime

#: The last instant that has a year of four digits.
LAST = 253_402_300_799


def utc(instant: int) -> datetime:
    """Return the date of an instant; of one after the last date that can be written, that date."""
    return datetime.fromtimestamp(min(instant, LAST), UTC)


def blazar_date(instant: int) -> str:
    """Return a start or end in UTC as Blazar's clients parse it."""
    return utc(instant).strftime("%Y-%m-%dT%H:%M:%S.000000")
