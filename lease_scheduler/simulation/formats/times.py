"""Times as Haizea's files write them: ``[DD:]HH:MM:SS[.ss]`` or plain seconds (haizea, section 9.2).

Durations round up to whole seconds, instants to the nearest one, a half upwards (haizea, section 8.2, choice 13).
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED

_CLOCK = re.compile(
    r"(?:(?P<days>[0-9]{1,9}):)?(?P<hours>[0-9]{1,9}):(?P<minutes>[0-9]{1,2}):(?P<seconds>[0-9]{1,2}(?:\.[0-9]*)?)"
)
_SECONDS = re.compile(r"[0-9]{1,15}(?:\.[0-9]*)?")


def parse_duration(text: str, field: str) -> int:
    """A length of time in whole seconds, rounded up; the word ``unlimited`` is 100 years.

    :param text: e.g. ``01:30:00.00``, ``2:00:00:00`` (two days), ``5400`` or ``unlimited``
    :param field: name of the field, for the error
    :raises InvalidValueError: the text is none of these
    """
    if text.strip().lower() == "unlimited":
        return UNLIMITED
    return int(_exact_seconds(text.strip(), field).to_integral_value(ROUND_CEILING))


def parse_instant(text: str, field: str, submitted: int = 0) -> int:
    """An instant in whole seconds from the workload's zero, rounded to the nearest.

    :param text: as for a duration; with a leading ``+`` it counts from the submission
    :param field: name of the field, for the error
    :param submitted: instant of the submission, seconds
    :raises InvalidValueError: the text is not a time
    """
    text = text.strip()
    relative = text.startswith("+")
    seconds = int(_exact_seconds(text.removeprefix("+").lstrip(), field).to_integral_value(ROUND_HALF_UP))
    return submitted + seconds if relative else seconds


def format_time(seconds: int) -> str:
    """Whole seconds as ``HH:MM:SS``, from one day on as ``DD:HH:MM:SS``."""
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
