"""Times in Haizea's files: ``[DD:]HH:MM:SS[.ss]``, plain seconds, or dates (haizea F24).

Durations are rounded up to whole seconds. Instants are rounded to the nearest second, halves upwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED

#: Parses the text of an instant; the other arguments are the name of the field and the instant of the submission.
InstantParser = Callable[[str, str, int], int]

_CLOCK = re.compile(
    r"(?:(?P<days>[0-9]{1,9}):)?(?P<hours>[0-9]{1,9}):(?P<minutes>[0-9]{1,2}):(?P<seconds>[0-9]{1,2}(?:\.[0-9]*)?)"
)
_DATE = re.compile(r"\s*[0-9]{4}-")
#: A fraction of a second. Haizea writes two digits, users write any number, and Python reads three or six.
_FRACTION = re.compile(r"\.[0-9]*")

#: The last second whose year has four digits.
_LAST = 253_402_300_799

_SECONDS = re.compile(r"[0-9]{1,15}(?:\.[0-9]*)?")


def parse_duration(text: str, field: str) -> int:
    """Return a duration in whole seconds, rounded up; the word ``unlimited`` is 100 years.

    :param text: e.g. ``01:30:00.00``, ``2:00:00:00`` (two days), ``5400`` or ``unlimited``
    :param field: name of the field, for the error
    :raises InvalidValueError: the text is not a duration
    """
    if text.strip().lower() == "unlimited":
        return UNLIMITED
    return int(_exact_seconds(text.strip(), field).to_integral_value(ROUND_CEILING))


def parse_instant(text: str, field: str, submitted: int = 0) -> int:
    """Return an instant in whole seconds from the workload's zero, rounded to the nearest.

    :param text: as for a duration; with a leading ``+`` it counts from the submission
    :param field: name of the field, for the error
    :param submitted: instant of the submission in seconds
    :raises InvalidValueError: the text is not a time
    """
    text = text.strip()
    relative = text.startswith("+")
    seconds = int(_exact_seconds(text.removeprefix("+").lstrip(), field).to_integral_value(ROUND_HALF_UP))
    return submitted + seconds if relative else seconds


def parse_moment(text: str, field: str, submitted: int = 0) -> int:
    """Return an instant of a running service in whole seconds since the epoch, rounded to the nearest.

    A time without a date is invalid: it counts from the zero of a workload, and a service has no zero.

    :param text: a date and time such as ``2030-01-31 12:00:00.00`` or ``2030-01-31T12:00:00+01:00`` (UTC if without an
        offset), seconds since the epoch, or a duration with a leading ``+``, which counts from the submission
    :param field: name of the field, for the error
    :param submitted: instant of the submission in seconds since the epoch
    :raises InvalidValueError: the text is none of these
    """
    text = text.strip()
    if text.startswith("+") or _SECONDS.fullmatch(text):
        return parse_instant(text, field, submitted)
    try:
        moment = datetime.fromisoformat(_FRACTION.sub(lambda found: found[0].ljust(7, "0")[:7], text))
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InvalidValueError(
            field, f"{text!r} is neither a date and time as 2030-01-31 12:00:00 nor [DD:]HH:MM:SS after a '+'"
        ) from None
    return int(Decimal(seconds).to_integral_value(ROUND_HALF_UP))


def is_date(text: str) -> bool:
    """Return whether a text begins like a date, as no other instant does."""
    return _DATE.match(text) is not None


def format_moment(seconds: int) -> str:
    """Return an instant, in seconds since the epoch, as Haizea writes it: ``2030-01-31 12:00:00.00`` (UTC)."""
    return datetime.fromtimestamp(min(seconds, _LAST), UTC).strftime("%Y-%m-%d %H:%M:%S.00")


def format_time(seconds: int) -> str:
    """Return whole seconds as ``HH:MM:SS``, or as ``DD:HH:MM:SS`` from one day on."""
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3_600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days:02}:{clock}" if days else clock


def _exact_seconds(text: str, field: str) -> Decimal:
    if _SECONDS.fullmatch(text):
        return Decimal(text)
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise InvalidValueError(field, f"{text!r} is not a time; write [DD:]HH:MM:SS[.ss] or plain seconds")
    minutes, seconds = int(match["minutes"]), Decimal(match["seconds"])
    if minutes >= 60 or seconds >= 60:
        raise InvalidValueError(field, f"{text!r} has more than 59 minutes or seconds; carry them over")
    return Decimal(int(match["days"] or 0) * 86_400 + int(match["hours"]) * 3_600 + minutes * 60) + seconds
