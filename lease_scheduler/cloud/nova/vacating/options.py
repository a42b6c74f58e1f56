"""Options that say how servers give way to leases."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

#: Maximum time after the planned end for which putting servers away is tried, as a multiple of ``escalate_after``.
PATIENCE = 3


class Escalation(Enum):
    """Measure, beyond shelving, against servers that do not give way in time."""

    NONE = "none"
    STOP = "stop"
    DELETE = "delete"


class IntruderAction(Enum):
    """Action on an ordinary server on a host that a lease needs."""

    REFUSE = "refuse"
    SHELVE = "shelve"
    MIGRATE = "migrate"


@dataclass(frozen=True)
class RoomOptions:
    """How servers give way to leases.

    :ivar escalation: strongest measure that is allowed against servers that do not give way in time
    :ivar escalate_after: seconds after the planned end of an operation at which the next measure is taken
    :ivar intruders: what is done with ordinary servers that are in the way
    :ivar intruder_patience: seconds after the planned end of an operation at which ordinary servers that are still
        there count as staying
    """

    escalation: Escalation = Escalation.STOP
    escalate_after: int = 60
    intruders: IntruderAction = IntruderAction.REFUSE
    intruder_patience: int = 60

    @property
    def guest_patience(self) -> int:
        """Seconds after the planned end of an operation at which guests that are still there count as staying.

        The same holds for capacity that other leases have not released on a shared host.
        """
        return max(self.intruder_patience, PATIENCE * self.escalate_after)
