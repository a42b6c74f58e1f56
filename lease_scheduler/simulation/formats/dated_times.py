"""Instants of a workload, written as times from its beginning or as dates (haizea section 9.2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.times import format_moment, is_date, parse_instant, parse_moment


class DatedTimes:
    """A parser of the instants of one workload.

    :param beginning: returns the date from which the times of the workload count, in seconds since the epoch, or None
        if it has none. It is called at the first date, since finding it may take long.
    """

    def __init__(self, beginning: Callable[[], int | None]) -> None:
        self._find_beginning = beginning

    def parse(self, text: str, field: str, submitted: int = 0) -> int:
        """Return an instant in whole seconds from the beginning, rounded to the nearest.

        :param text: as for ``parse_instant``, or a date and time as for ``parse_moment``
        :param field: name of the field, for the error
        :param submitted: instant of the submission in seconds
        :raises InvalidValueError: the text is not an instant, or is before the beginning of this workload
        """
        if not is_date(text):
            return parse_instant(text, field, submitted)
        moment = parse_moment(text, field)
        if self._beginning is None:
            raise InvalidValueError(
                field,
                f"{text!r} is a date, and no <lease-request arrival> is one; write it as [DD:]HH:MM:SS from the "
                "beginning of the workload, or arrivals as dates",
            )
        if moment < self._beginning:
            began = format_moment(self._beginning).removesuffix(".00")
            raise InvalidValueError(field, f"{text!r} is before {began}, where the workload begins")
        return moment - self._beginning

    @cached_property
    def _beginning(self) -> int | None:
        return self._find_beginning()
