"""When the leases of a series start: iCalendar recurrence rules (RFC 5545, section 3.3.10), in UTC or local time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import MAXYEAR, UTC, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from dateutil.rrule import rrulestr  # type: ignore[import-untyped]

from lease_scheduler.api.errors import ApiError

_FIELD = "rule"
_DAY = "(MO|TU|WE|TH|FR|SA|SU)"
_ORDINAL_DAY = f"([+-]?[0-9]{{1,2}})?{_DAY}"
#: Parts of a rule, and the form of their values. The shortest period is an hour.
_PARTS = {
    "FREQ": re.compile("YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY"),
    "INTERVAL": re.compile("[1-9][0-9]{0,3}"),
    "COUNT": re.compile("[1-9][0-9]{0,4}"),
    "UNTIL": re.compile(r"[0-9]{8}(T[0-9]{6}Z)?"),
    "BYDAY": re.compile(f"{_ORDINAL_DAY}(,{_ORDINAL_DAY})*"),
    "BYMONTHDAY": re.compile("[+-]?[0-9]{1,2}(,[+-]?[0-9]{1,2})*"),
    "BYMONTH": re.compile("[0-9]{1,2}(,[0-9]{1,2})*"),
    "BYSETPOS": re.compile("[+-]?[0-9]{1,3}(,[+-]?[0-9]{1,3})*"),
    "WKST": re.compile(_DAY),
}
#: Highest number in the parts whose values are numbers.
_HIGHEST = {"BYMONTHDAY": 31, "BYMONTH": 12, "BYSETPOS": 366}
#: The highest number of a weekday, such as the 2 of 2MO, by period. Other periods have no numbered weekdays.
_HIGHEST_DAY = {"MONTHLY": 5, "YEARLY": 53}

#: Years after which the Gregorian calendar repeats itself, including the weekdays.
_CYCLE_YEARS = 400
_CYCLE = timedelta(days=146_097)


def occurrences(rule: str, first: int, maximum: int, days: int, time_zone: str | None = None) -> list[int]:
    """Return the instants that a rule describes, ascending.

    :param rule: such as ``FREQ=WEEKLY;COUNT=10``, with or without the prefix ``RRULE:``
    :param first: earliest instant that may be among them
    :param maximum: maximum number of instants
    :param days: maximum number of days from ``first`` to the last instant
    :param time_zone: IANA name of the time zone whose clocks the rule follows; None for UTC. Local times that the
        clocks skip are left out, as RFC 5545 says; of those that come twice, the first counts
    :raises ApiError: 400, the rule or the time zone is invalid, or the rule has no end, or describes no instant or too
        many
    """
    zone = _zone(time_zone)
    parts = _parts(rule)
    if zone is not UTC and parts["FREQ"] == "HOURLY":
        raise ApiError(
            400, "time_zone: FREQ=HOURLY counts hours, whatever clocks show; leave time_zone out", "time_zone"
        )
    count = int(parts.pop("COUNT", maximum + 1))
    horizon = datetime.fromtimestamp(first, zone) + timedelta(days=days)
    found: list[int] = []
    try:
        until = _parse_until(parts.pop("UNTIL", None), horizon)
        for instant in _instants(";".join(f"{key}={value}" for key, value in parts.items()), first, until, zone):
            if len(found) == count:
                break
            found.append(instant)
            if len(found) > maximum:
                raise _rule_error(f"must describe at most {maximum} leases")
    except IndexError as error:
        # dateutil raises this when it looks for a day such as the sixth Monday of December.
        raise _rule_error(f"BYDAY={parts['BYDAY']} names a day that never occurs") from error
    except (ValueError, OverflowError) as error:
        raise _rule_error(f"is not a recurrence rule: {error}") from error
    if not found:
        raise _rule_error("describes no lease at all")
    if count <= maximum and len(found) < count and until == horizon:
        raise _rule_error(f"only {len(found)} of {count} leases lie within {days} days")
    return found


def _instants(rule: str, first: int, until: datetime, zone: tzinfo) -> Iterator[int]:
    """Return the instants of a rule without end, from ``first`` to ``until``."""
    start = datetime.fromtimestamp(first, zone).replace(tzinfo=None, fold=0)
    last = until.astimezone(zone).replace(tzinfo=None, fold=0)
    # dateutil stops at UNTIL only when it finds a date. If none fits the rule, it searches until the year 9999. The
    # rule is evaluated in the last cycle before that year, which keeps the search short. Where clocks were set back,
    # a local time before the last one may come after it.
    later = (MAXYEAR - 1 - last.year) // _CYCLE_YEARS * _CYCLE
    text = f"{rule};UNTIL={last + later + timedelta(days=1):%Y%m%dT%H%M%S}"
    for date in rrulestr(text, dtstart=start + later):
        local = date - later
        # The start itself may be the second of two equal local times.
        instant = first if local == start else int(local.replace(tzinfo=zone).timestamp())
        if instant > until.timestamp():
            return
        if datetime.fromtimestamp(instant, zone).replace(tzinfo=None, fold=0) == local:
            yield instant


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone(name: str | None) -> tzinfo:
    if name is None:
        return UTC
    if name not in _zone_names():
        problem = f"{name} is not the name of a time zone, such as Europe/Berlin"
        raise ApiError(400, f"time_zone: {problem}", "time_zone")
    return ZoneInfo(name)


def _parts(rule: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in rule.upper().removeprefix("RRULE:").split(";"):
        key, _, value = part.partition("=")
        if key not in _PARTS:
            raise _rule_error(f"{key or 'an empty part'} is not known; known are {', '.join(_PARTS)}")
        if key in parts:
            raise _rule_error(f"{key} is there twice")
        if not _PARTS[key].fullmatch(value):
            raise _rule_error(f"{key}={value} is not right; it must look like {_PARTS[key].pattern}")
        parts[key] = value
    if "FREQ" not in parts:
        raise _rule_error("must say FREQ, like FREQ=WEEKLY;COUNT=10")
    for key, highest in _HIGHEST.items():
        for number in parts[key].split(",") if key in parts else ():
            if not 1 <= abs(int(number)) <= highest:
                raise _rule_error(f"{key}={number} is not right; its numbers go up to {highest}")
    _check_together(parts)
    if ("COUNT" in parts) == ("UNTIL" in parts):
        raise _rule_error("must have an end: give COUNT or UNTIL, and not both")
    return parts


def _check_together(parts: dict[str, str]) -> None:
    """Refuse what RFC 5545 forbids and dateutil misreads."""
    period = parts["FREQ"]
    for day in parts["BYDAY"].split(",") if "BYDAY" in parts else ():
        if len(day) == len("MO"):
            continue
        if period not in _HIGHEST_DAY:
            raise _rule_error(
                f"BYDAY={day} numbers a weekday of a month or year; use it with FREQ=MONTHLY or FREQ=YEARLY"
            )
        highest = _HIGHEST_DAY["MONTHLY" if "BYMONTH" in parts else period]
        if not 1 <= abs(int(day[:-2])) <= highest:
            raise _rule_error(f"BYDAY={day} names a day that never occurs")
    if period == "WEEKLY" and "BYMONTHDAY" in parts:
        raise _rule_error("BYMONTHDAY cannot be combined with FREQ=WEEKLY; use BYDAY or FREQ=MONTHLY")
    if "BYSETPOS" in parts and period == "HOURLY":
        raise _rule_error("BYSETPOS chooses among days; it cannot be combined with FREQ=HOURLY")
    if "BYSETPOS" in parts and not parts.keys() & {"BYDAY", "BYMONTHDAY", "BYMONTH"}:
        raise _rule_error("BYSETPOS chooses among other parts; add BYDAY, BYMONTHDAY or BYMONTH")


def _parse_until(text: str | None, horizon: datetime) -> datetime:
    if text is None:
        return horizon
    if "T" in text:
        until = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    else:
        until = datetime.strptime(text, "%Y%m%d").replace(tzinfo=horizon.tzinfo) + timedelta(days=1, seconds=-1)
    if until > horizon:
        raise _rule_error(f"UNTIL must not be later than {horizon.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    return until


def _rule_error(problem: str) -> ApiError:
    return ApiError(400, f"{_FIELD}: {problem}", _FIELD)
