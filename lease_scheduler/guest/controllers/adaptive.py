"""Leases of a fixed term that follow the queue (GROC, section 7.4 of the sources)."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.guest.controllers.base import renewals, unused
from lease_scheduler.guest.values import Action, Ask, Holding, Job, Limits


class Adaptive:
    """Asks for what waiting jobs need beyond the nodes that are free (algorithm A43).

    The sources ask for one lease of ``need`` nodes, of which one is enough. Here each node is a lease of its own: then
    each is granted or refused for itself, and a node that is not needed any more goes back for itself.
    A lease with a job in its last seconds is extended (``job_must_fit = false`` in the words of the sources).
    """

    leads = False

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def decide(self, waiting: Sequence[Job], holdings: Sequence[Holding], now: int) -> list[Action]:
        """Return new leases, extensions, and the ends of leases that are not used."""
        staying = [each for each in holdings if not each.is_leaving]
        backlog = sum(job.width for job in waiting)
        needed = {each.lease_id for each in staying if each.busy}
        for each in sorted(staying, key=lambda holding: (holding.end is None, holding.free == holding.units)):
            if each.free and backlog > 0:
                backlog -= each.free
                needed.add(each.lease_id)
        kept = frozenset(needed)
        actions: list[Action] = [*renewals(staying, kept, self._limits, now), *unused(staying, kept)]
        allowed = self._limits.nodes - sum(each.units for each in holdings)
        actions += [Ask(1, self._limits.term)] * max(0, min(backlog, allowed))
        return actions
