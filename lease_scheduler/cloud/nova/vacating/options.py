"""Options of the operator for how servers make room for leases."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

#: Longest time for which servers are put away, as a multiple of ``escalate_after``, after the planned end.
PATIENCE = 3


class Escalation(Enum):
    """What may be done, beyond shelving, to servers that do not make room in time."""

    NONE = "none"
    STOP = "stop"
    DELETE = "delete"


class IntruderAction(Enum):
    """What is done with an ordinary server on a host that a lease needs."""

    REFUSE = "refuse"
    SHELVE = "shelve"
    MIGRATE = "migrate"


@dataclass(frozen=True)
class RoomOptions:
    """How servers make room for leases.

    :ivar escalation: the strongest measure that is allowed against servers that do not make room in time
    :ivar escalate_after: seconds after the planned end of an operation when the next measure is taken
    :ivar intruders: what is done with ordinary servers that are in the way
    :ivar intruder_patience: seconds after the planned end of an operation when an ordinary server that is still there
        counts as one that does not make room
    """

    escalation: Escalation = Escalation.STOP
    escalate_after: int = 60
    intruders: IntruderAction = IntruderAction.REFUSE
    intruder_patience: int = 60

    @property
    def guest_patience(self) -> int:
        """Seconds after the planned end of an operation when what is still there counts as something that stays.

        That is for guests, and for what other leases have not released on a shared host.
        """
        return max(self.intruder_patience, PATIENCE * self.escalate_after)
