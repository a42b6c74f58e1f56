"""What may be done so that servers make room for leases: an operator's choice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Escalation(Enum):
    """What may be done to servers that are not out of the way in time, beyond shelving them."""

    NONE = "none"
    STOP = "stop"
    DELETE = "delete"


class IntruderAction(Enum):
    """What is done with an ordinary server on a host that a lease is to have."""

    REFUSE = "refuse"
    SHELVE = "shelve"
    MIGRATE = "migrate"


@dataclass(frozen=True)
class RoomOptions:
    """What an operator sets.

    :ivar escalation: the last thing that may be done to servers that give way
    :ivar escalate_after: seconds after the planned end of an operation when the next thing is done to them
    :ivar intruders: what is done with ordinary servers that are in the way
    :ivar intruder_patience: seconds after the planned end of an operation when an ordinary server that still has not
        gone counts as one that does not give way
    """

    escalation: Escalation = Escalation.STOP
    escalate_after: int = 60
    intruders: IntruderAction = IntruderAction.REFUSE
    intruder_patience: int = 60
