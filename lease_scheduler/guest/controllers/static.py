"""A fixed number of nodes, whether or not there are jobs: the static leased container (sections 7.3 of the sources)."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.guest.controllers.base import renewals
from lease_scheduler.guest.values import Action, Ask, Holding, Job, Limits


class Static:
    """Keeps as many nodes as the limits allow. A lease that ended is asked for anew (algorithm A42)."""

    leads = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def decide(self, waiting: Sequence[Job], holdings: Sequence[Holding], now: int) -> list[Action]:
        """Return one lease for all nodes that are missing, and the extensions that are due."""
        actions: list[Action] = list(
            renewals(holdings, frozenset(each.lease_id for each in holdings), self._limits, now)
        )
        missing = self._limits.nodes - sum(each.units for each in holdings)
        if missing > 0:
            actions.append(Ask(missing, self._limits.term))
        return actions
