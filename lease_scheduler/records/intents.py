"""Commands to the cloud, kept until they are carried out."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.engine.interfaces import Operation


@dataclass(frozen=True)
class Intent:
    """Something the cloud has been told to do.

    :ivar intent_id: unique in the site, in the order in which they were given
    :ivar operation: what; none to destroy everything of the lease
    :ivar step: number of the next step to be done
    """

    intent_id: int
    lease_id: str
    operation: Operation | None
    step: int = 0
