"""Series: leases that repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SeriesRecord:
    """A lease that repeats by a rule (iCalendar RRULE).

    :ivar template: the lease document of the first occurrence
    :ivar time_zone: IANA name of the time zone whose clocks the rule follows; None for UTC
    :ivar planned_until: start of the last occurrence that was requested
    """

    series_id: str
    project_id: str
    user_id: str
    name: str
    rule: str
    template: Mapping[str, Any]
    planned_until: int
    created_at: int
    deleted_at: int | None = None
    time_zone: str | None = None
