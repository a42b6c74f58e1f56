"""Dates and durations in the form that clients use. Internally they are whole seconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_2, Version
from lease_scheduler.model.durations import exactly, seconds_of
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.records.dates import LAST, blazar_date, date_and_time

#: Date format of Blazar's clients.
BLAZAR_FORMAT = "%Y-%m-%d %H:%M"
NOW = "now"
_WITH_SECONDS = re.compile(r"\D\d{2}:?\d{2}:?\d{2}")

#: 24:00, the end of a day, which Python parses only from 3.14 on.
_END_OF_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]24:00(?::00(?:[.,]0+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2}|)")


def minute_of(instant: int) -> int:
    """Return the start of the minute that contains the instant."""
    return instant - instant % 60


def parse_date(text: str, field: str, now: int, version: Version) -> int:
    """Parse a date and return its instant.

    :param text: ``now`` (the present minute), ``2030-01-31 12:00`` (UTC), and from microversion 1.2 on ISO 8601,
        which is UTC too if it has no offset. ``T`` and ``Z`` may be small letters, as in RFC 3339, and 24:00 is the
        end of a day
    :param field: name of the field in the request, for the error
    :raises ApiError: 400, the text is not a date
    """
    if text == NOW:
        return minute_of(now)
    try:
        return int(datetime.strptime(text, BLAZAR_FORMAT).replace(tzinfo=UTC).timestamp())
    except ValueError:
        pass
    if version >= V1_2:
        try:
            date = _iso(text)
            return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() // 1)
        except (ValueError, OverflowError):
            pass
    wanted = f"{BLAZAR_FORMAT}, or ISO 8601 like 2030-01-31T12:00:00+00:00" if version >= V1_2 else BLAZAR_FORMAT
    raise ApiError(400, f"{text} is an invalid date. Required format: {wanted}", field)


def _iso(text: str) -> datetime:
    """Parse a date of ISO 8601.

    :raises ValueError: the text is not a date
    :raises OverflowError: the date is after the last one of the calendar
    """
    midnight = _END_OF_DAY.fullmatch(text)
    if midnight is None:
        return datetime.fromisoformat(text.upper())
    return datetime.fromisoformat(f"{midnight[1]}T00:00:00{midnight[2].upper()}") + timedelta(days=1)


def names_seconds(text: str) -> bool:
    """Return whether a date is exact to the second. The dates of Blazar's clients are exact to the minute."""
    return _WITH_SECONDS.search(text) is not None


def is_same_date(text: str, instant: int, old: int) -> bool:
    """Return whether a date stands for an old instant: it is the same or, if it names no seconds, the same minute.

    :param instant: what the text parses to
    """
    return instant == old or (not names_seconds(text) and instant == minute_of(old))


def parse_changed_date(text: str, field: str, old: int | None, now: int, version: Version) -> int:
    """Parse a date that replaces another one.

    Blazar's clients show dates to the minute and send them back like that. So a date without seconds that names the
    minute of the old date means the old date. ``now`` and dates with seconds are taken literally.

    :param old: the instant that the date replaces; None if there is none
    :raises ApiError: 400, the text is not a date
    """
    new = parse_date(text, field, now, version)
    return old if old is not None and text != NOW and is_same_date(text, new, old) else new


def parse_duration(value: int | str, field: str) -> int:
    """Parse a duration and return its seconds: ``7200``, ``"2h30m"``, ``"1d"``, ``"PT2H30M"``.

    :raises ApiError: 400, the value is not a duration, or not between one second and a hundred years
    """
    seconds = value if isinstance(value, int) else seconds_of(value.strip())
    if seconds is None:
        raise ApiError(400, f'{field}: {value} is not a duration; right is 9000, "2h30m" or "PT2H30M"', field)
    if not 1 <= seconds <= UNLIMITED:
        raise ApiError(400, f"{field}: must be between 1 s and {exactly(UNLIMITED)}, not {value}", field)
    return seconds


def lease_date(instant: int | None) -> str | None:
    """Return a start or end in the format that Blazar's clients parse."""
    return None if instant is None else blazar_date(instant)


def row_date(instant: int | None) -> str | None:
    """Return a time of creation or change in Blazar's format."""
    return None if instant is None else date_and_time(instant).replace("T", " ")


def iso_date(instant: int | None) -> str | None:
    """Return an ISO 8601 date, for fields that Blazar does not have, or None beyond the last date of the format."""
    return None if instant is None or instant > LAST else f"{date_and_time(instant)}Z"
