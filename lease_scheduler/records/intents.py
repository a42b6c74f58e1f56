"""Commands to the cloud, kept until they are carried out."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.engine.interfaces import Operation


@dataclass(frozen=True)
class Intent:
    """A command to the cloud for one lease.

    :ivar intent_id: unique in the site; ascending in the order in which the commands were given
    :ivar operation: operation to carry out; None means to remove everything that the lease has in the cloud
    :ivar step: number of the next step
    """

    intent_id: int
    lease_id: str
    operation: Operation | None
    step: int = 0
