"""Relocation to the hosts that the planner chose."""

from __future__ import annotations

from lease_scheduler.plan.changing.moves import Move, Placement
from lease_scheduler.policy.relocation.base import RelocationPolicy, to_wished


class FollowBroker(RelocationPolicy):
    """Moves nodes back to the hosts that the planner chose for them (shirako F115, A19).

    Grit 2007, section 6.4, where a broker chooses the hosts and a provider follows it.
    """

    def moves(self, placement: Placement) -> list[Move]:
        """See ``RelocationPolicy.moves``."""
        return to_wished(placement)
