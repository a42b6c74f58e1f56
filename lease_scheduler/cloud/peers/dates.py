"""Dates in the REST interface of a site, and instants, which are seconds since the epoch in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from lease_scheduler.records.dates import date_and_time


def date_of(instant: int) -> str:
    """Return an instant as a date that the REST interface reads, exact to the second."""
    return f"{date_and_time(instant)}Z"


def instant_of(text: str) -> int:
    """Return the instant of a date; one without an offset is UTC.

    :raises ValueError: it is not a date
    """
    found = datetime.fromisoformat(text)
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
