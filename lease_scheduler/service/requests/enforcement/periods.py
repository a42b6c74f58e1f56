"""Calendar periods of budgets, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache


class Period(Enum):
    """Length of a period. Weeks begin on Mondays, as in ISO 8601."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@lru_cache(maxsize=8_192)
def period_at(period: Period, instant: int) -> tuple[int, int]:
    """Return the start and the end of the period that contains an instant."""
    date = datetime.fromtimestamp(instant, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case Period.DAY:
            start = date
            end = start + timedelta(days=1)
        case Period.WEEK:
            start = date - timedelta(days=date.weekday())
            end = start + timedelta(days=7)
        case Period.MONTH:
            start = date.replace(day=1)
            end = _months_later(start, 1)
        case Period.QUARTER:
            start = date.replace(month=date.month - (date.month - 1) % 3, day=1)
            end = _months_later(start, 3)
        case Period.YEAR:
            start = date.replace(month=1, day=1)
            end = _months_later(start, 12)
    return int(start.timestamp()), int(end.timestamp())


def split(period: Period, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split ``[start, end)`` by period: yield the start of each period, and the seconds within it."""
    while start < end:
        beginning, finish = period_at(period, start)
        yield beginning, min(end, finish) - start
        start = finish


def _months_later(date: datetime, months: int) -> datetime:
    """Return the first day of a month that is some months after another one, given by its first day."""
    number = 12 * date.year + date.month - 1 + months
    return date.replace(year=number // 12, month=number % 12 + 1)
