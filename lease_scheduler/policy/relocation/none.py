"""No running node moves without need."""

from __future__ import annotations

from lease_scheduler.plan.changing.moves import Move, Placement
from lease_scheduler.policy.relocation.base import RelocationPolicy


class NoRelocation(RelocationPolicy):
    """Leaves running nodes on the hosts that the plan chose: it follows the broker (Grit 2007, section 6.4)."""

    relocates = False

    def moves(self, placement: Placement) -> list[Move]:
        """See ``RelocationPolicy.moves``."""
        return []
