"""Victims one after the other until the request fits, as in the prototype of Amini Salehi 2012, section 7.3.4."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.preemption.overheads import OverheadPolicy


class MinimumOverheadOrdered(OverheadPolicy):
    """Preempts the lease with the least overhead first, of equal ones the one with the most nodes."""

    def choose(self, preemptor: LeaseRequest, candidates: Sequence[Victim], shortage: Shortage) -> Sequence[Victim]:
        """See ``Preemption.choose``."""
        keys = [
            (round(overhead, 6), -victim.lease.request.node_count, victim.lease.sequence)
            for victim, overhead in zip(candidates, self.overheads(candidates, shortage), strict=True)
        ]
        return [candidates[index] for index in sorted(range(len(candidates)), key=keys.__getitem__)]


class MinimumLeasesOrdered(OverheadPolicy):
    """Preempts the lease with the most nodes first, of equal ones the one that was submitted first."""

    def choose(self, preemptor: LeaseRequest, candidates: Sequence[Victim], shortage: Shortage) -> Sequence[Victim]:
        """See ``Preemption.choose``."""
        return sorted(candidates, key=lambda victim: (-victim.lease.request.node_count, victim.lease.sequence))
