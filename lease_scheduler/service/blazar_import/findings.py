"""What is told of things that are not taken over, or not as they were."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from lease_scheduler.model.errors import LeaseSchedulerError


@dataclass(frozen=True)
class Finding:
    """Something that whoever takes over has to know.

    :ivar what: a host, address or lease, or several, for people
    """

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


class NotTakenError(LeaseSchedulerError):
    """Something cannot be taken over; the message says why."""


def shown_instant(instant: int) -> str:
    """An instant for people."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
