"""Findings about things that are not taken over, or taken over with changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from lease_scheduler.model.errors import LeaseSchedulerError


@dataclass(frozen=True)
class Finding:
    """Something that the operator must know about a takeover.

    :ivar what: the host, address, lease or leases concerned, for people
    :ivar reason: what is the matter, for people
    """

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


class NotTakenError(LeaseSchedulerError):
    """Something cannot be taken over; the message says why."""


def shown_instant(instant: int) -> str:
    """Return an instant in a form for people."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
