"""One lease per job (JAWS, section 7.5 of the sources)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from lease_scheduler.guest.controllers.base import renewals, unused
from lease_scheduler.guest.values import Action, Ask, Holding, Job, Limits


class PerJob:
    """Asks for a lease as wide and as long as each job, set-up included (algorithm A44, lease length ``client``).

    Another job uses the nodes of a lease that has enough of them, for long enough, instead of a lease of its own
    (container reuse). A lease whose nodes have left the queue is ended.
    """

    leads = False

    #: Whether a lease lasts one term and is extended until its job is done, whatever the job's time limit is.
    extends: ClassVar[bool] = False

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def decide(self, waiting: Sequence[Job], holdings: Sequence[Holding], now: int) -> list[Action]:
        """Return a lease for each job that has none, and the ends of leases that are not used."""
        staying = [each for each in holdings if not each.is_leaving]
        free = {each.lease_id: each.free for each in staying}
        needed = {each.lease_id for each in staying if each.busy}
        allowed = self._limits.nodes - sum(each.units for each in holdings)
        asks: list[Action] = []
        for job in sorted(waiting, key=lambda each: not any(holding.job == each.id for holding in staying)):
            found = next((each for each in self._in_order(staying, job) if self._fits(each, free, job, now)), None)
            if found is not None:
                free[found.lease_id] -= job.width
                needed.add(found.lease_id)
            elif 0 < job.width <= allowed:
                allowed -= job.width
                asks.append(Ask(job.width, self._length(job), job.id))
        kept = frozenset(needed)
        renewed = renewals(staying, kept, self._limits, now) if self.extends else ()
        return [*renewed, *unused(staying, kept), *asks]

    @staticmethod
    def _in_order(holdings: Sequence[Holding], job: Job) -> list[Holding]:
        """Return the leases in the order in which they are tried: the job's own first."""
        return sorted(holdings, key=lambda each: each.job != job.id)

    def _fits(self, holding: Holding, free: dict[str, int], job: Job, now: int) -> bool:
        if free[holding.lease_id] < job.width:
            return False
        if holding.job == job.id or self.extends:
            return True
        # A lease that has not started is for the job that it was asked for.
        return holding.end is not None and holding.end - now >= self._length(job)

    def _length(self, job: Job) -> int:
        if self.extends or job.seconds is None:
            return self._limits.term
        return self._limits.setup + job.seconds


class PerJobExtended(PerJob):
    """As ``PerJob``, with short leases that are extended until the job is done (lease length ``extend``)."""

    extends: ClassVar[bool] = True
