"""When the leases of a series start: iCalendar recurrence rules (RFC 5545, section 3.3.10), evaluated in UTC."""

from __future__ import annotations

import re
from datetime import MAXYEAR, UTC, datetime, timedelta

from dateutil.rrule import rrulestr  # type: ignore[import-untyped]

from lease_scheduler.api.errors import ApiError

_FIELD = "rule"
#: Parts of a rule, and the form of their values. The shortest period is an hour.
_PARTS = {
    "FREQ": re.compile("YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY"),
    "INTERVAL": re.compile("[1-9][0-9]{0,3}"),
    "COUNT": re.compile("[1-9][0-9]{0,4}"),
    "UNTIL": re.compile(r"[0-9]{8}(T[0-9]{6}Z)?"),
    "BYDAY": re.compile("[+-]?[0-9]{0,2}(MO|TU|WE|TH|FR|SA|SU)(,[+-]?[0-9]{0,2}(MO|TU|WE|TH|FR|SA|SU))*"),
    "BYMONTHDAY": re.compile("-?[1-9][0-9]?(,-?[1-9][0-9]?)*"),
    "BYMONTH": re.compile("[1-9][0-9]?(,[1-9][0-9]?)*"),
    "BYSETPOS": re.compile("-?[1-9][0-9]{0,2}(,-?[1-9][0-9]{0,2})*"),
    "WKST": re.compile("MO|TU|WE|TH|FR|SA|SU"),
}

#: Years after which the Gregorian calendar repeats itself, including the weekdays.
_CYCLE_YEARS = 400
_CYCLE = timedelta(days=146_097)


def occurrences(rule: str, first: int, maximum: int, days: int) -> list[int]:
    """Return the instants that a rule describes, ascending.

    :param rule: such as ``FREQ=WEEKLY;COUNT=10``, with or without the prefix ``RRULE:``
    :param first: earliest instant that may be among them
    :param maximum: maximum number of instants
    :param days: maximum number of days from ``first`` to the last instant
    :raises ApiError: 400, the rule is invalid, has no end, or describes no instant or too many
    """
    parts = _parts(rule)
    count = int(parts.pop("COUNT", maximum + 1))
    start = datetime.fromtimestamp(first, UTC)
    horizon = start + timedelta(days=days)
    try:
        until = _until(parts.pop("UNTIL", None), horizon)
        # dateutil stops at UNTIL only when it finds an instant. If none fits the rule, it searches until the year 9999.
        # The rule is evaluated in the last cycle before that year, which keeps the search short.
        later = (MAXYEAR - horizon.year) // _CYCLE_YEARS * _CYCLE
        text = ";".join(f"{key}={value}" for key, value in parts.items())
        found: list[int] = []
        for date in rrulestr(f"{text};UNTIL={until + later:%Y%m%dT%H%M%SZ}", dtstart=start + later):
            if len(found) == count:
                break
            found.append(int((date - later).timestamp()))
            if len(found) > maximum:
                raise _wrong(f"must describe at most {maximum} leases")
    except IndexError as error:
        # dateutil raises this when it looks for a day such as the ninth Monday of December.
        raise _wrong(f"BYDAY={parts['BYDAY']} names a day that never occurs") from error
    except (ValueError, OverflowError) as error:
        raise _wrong(f"is not a recurrence rule: {error}") from error
    if not found:
        raise _wrong("describes no lease at all")
    if count <= maximum and len(found) < count and until == horizon:
        raise _wrong(f"only {len(found)} of {count} leases lie within {days} days")
    return found


def _parts(rule: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in rule.upper().removeprefix("RRULE:").split(";"):
        key, _, value = part.partition("=")
        if key not in _PARTS:
            raise _wrong(f"{key or 'an empty part'} is not known; known are {', '.join(_PARTS)}")
        if key in parts:
            raise _wrong(f"{key} is there twice")
        if not _PARTS[key].fullmatch(value):
            raise _wrong(f"{key}={value} is not right; it must look like {_PARTS[key].pattern}")
        parts[key] = value
    if "FREQ" not in parts:
        raise _wrong("must say FREQ, like FREQ=WEEKLY;COUNT=10")
    if parts["FREQ"] == "HOURLY" and "BYSETPOS" in parts:
        raise _wrong("BYSETPOS chooses among days; it cannot be combined with FREQ=HOURLY")
    if ("COUNT" in parts) == ("UNTIL" in parts):
        raise _wrong("must have an end: give COUNT or UNTIL, and not both")
    return parts


def _until(text: str | None, horizon: datetime) -> datetime:
    if text is None:
        return horizon
    if "T" in text:
        until = datetime.strptime(text, "%Y%m%dT%H%M%SZ")
    else:
        until = datetime.strptime(text, "%Y%m%d") + timedelta(days=1, seconds=-1)
    until = until.replace(tzinfo=UTC)
    if until > horizon:
        raise _wrong(f"UNTIL must not be later than {horizon:%Y%m%dT%H%M%SZ}")
    return until


def _wrong(problem: str) -> ApiError:
    return ApiError(400, f"{_FIELD}: {problem}", _FIELD)
