"""The interface of probes (haizea F43; Sotomayor 2010, section 4.5)."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.result import RunResult


class Probe:
    """An observer of a run, whose subclasses override the methods for the events that they record.

    At each step, requests are reported first, then leases that have ended, then the step itself. Instants are seconds
    from the run's zero.

    :param accounting: records of the probe; the constructor creates its counters there
    """

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting

    def at_request(self, lease: Lease, now: int) -> None:
        """Record a request that has been decided on.

        :param lease: first value of the lease: rejected, planned or in the queue
        """

    def at_end(self, lease: Lease, now: int) -> None:
        """Record a lease that has reached a final state."""

    def at_step(self, plan: Plan, now: int) -> None:
        """Record the state after everything that was due at an instant has been done.

        :param plan: live leases and their holdings; it must not be changed
        """

    def finish(self, result: RunResult) -> None:
        """Record the result of the completed run."""
