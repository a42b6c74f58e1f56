"""Options of moves of running leases by the relocation policy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RelocationOptions:
    """Limits for moves of running leases.

    :ivar interval: seconds from one decision to the next
    :ivar budget: maximum number of nodes that one decision moves
    :ivar rest: seconds for which a lease is not moved after its start or its last move; it is also not moved if it has
        fewer seconds left to run
    """

    interval: int = 3600
    budget: int = 10
    rest: int = 14_400
