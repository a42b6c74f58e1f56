"""The interface of probes (haizea F43, section 9.3)."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.result import RunResult


class Probe:
    """Sees a run go by; a probe overrides what it wants to know.

    In one step the requests come first, then the leases that have ended, then the step itself. Instants are seconds
    from the run's zero.

    :param accounting: where it writes; counters are created here
    """

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting

    def at_request(self, lease: Lease, now: int) -> None:
        """A request has been decided on.

        :param lease: its first value: rejected, planned or in the queue
        """

    def at_end(self, lease: Lease, now: int) -> None:
        """A lease has come to a final state."""

    def at_step(self, plan: Plan, now: int) -> None:
        """Everything that was due at an instant has been done.

        :param plan: live leases and what they hold; only to be looked at
        """

    def finish(self, result: RunResult) -> None:
        """The run is over."""
