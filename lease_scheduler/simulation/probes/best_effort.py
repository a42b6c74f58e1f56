"""Probe ``best-effort``."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import QUEUED_STATES, LeaseState
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation import haizea_columns, metrics
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.result import RunResult


class BestEffortProbe(Probe):
    """Delays of best-effort leases, the number of those that are done, and the length of the queue.

    A lease whose start is planned is not in the queue.
    """

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        self._done = accounting.create_counter("Best-effort completed")
        self._queue = accounting.create_counter("Queue size")

    def at_end(self, lease: Lease, now: int) -> None:
        """See ``Probe.at_end``."""
        if lease.kind is not LeaseKind.BEST_EFFORT:
            return
        self.accounting.set_lease(lease.lease_id, haizea_columns.delays(lease))
        if lease.state is LeaseState.DONE:
            self._done.add(now, lease_id=lease.lease_id)

    def at_step(self, plan: Plan, now: int) -> None:
        """See ``Probe.at_step``."""
        self._queue.put(now, sum(lease.state in QUEUED_STATES for lease in plan.leases.values()))

    def finish(self, result: RunResult) -> None:
        """See ``Probe.finish``."""
        self.accounting.set_run(haizea_columns.best_effort_counts(result.leases))
        self.accounting.set_run({"all-best-effort": metrics.all_best_effort(result)})
