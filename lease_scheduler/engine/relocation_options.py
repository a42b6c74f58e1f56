"""Options for running leases that move to other hosts although they could stay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RelocationOptions:
    """How much running leases may be disturbed.

    :ivar interval: seconds from one decision to the next
    :ivar budget: largest number of VMs that are moved by one decision
    :ivar rest: seconds that a lease runs undisturbed after its start, or after it has moved, and that it has to have
        left to be moved
    """

    interval: int = 3600
    budget: int = 10
    rest: int = 14_400
