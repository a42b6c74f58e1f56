"""Failed operations: they are tried on other hosts, later, or from the beginning."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.relocation import Relocation
from lease_scheduler.engine.retries import Retries
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.outages import block, unblock


class Failures:
    """Handles failed operations.

    :param relocation: finds other places
    :param retries: leases that wait for another attempt
    """

    def __init__(self, state: EngineState, relocation: Relocation, retries: Retries) -> None:
        self._state = state
        self._relocation = relocation
        self._retries = retries

    def operation_failed(self, lease: Lease, kind: OperationKind, now: int, host: int | None, reason: str) -> None:
        """Handle an operation that the cloud could not carry out.

        :param host: the host on which it failed, if known; the lease is not placed there again at once
        """
        if kind is OperationKind.STOP:
            # A lease must be able to end, so what is left of its VMs is destroyed.
            self._state.cloud.discard(lease.lease_id, now)
            self._state.finish(lease, LeaseState.DONE, now, f"its VMs had to be destroyed: {reason}")
            return
        keeps = self._state.options.keeps_saved_work
        self._state.recorder.count("failed_boots" if kind is OperationKind.START else "failed_operations")
        if kind is OperationKind.MIGRATE and keeps:
            kept = lease.to(LeaseState.SUSPENDED_SCHEDULED).to(LeaseState.SUSPENDED_PENDING, holdings=())
            self._retries.wait(kept, now, f"its memory could not be moved: {reason}")
            return
        self._state.failed_boots[lease.lease_id] += 1
        is_last = self._state.failed_boots[lease.lease_id] >= self._state.options.boot_attempts
        if kind is OperationKind.RESUME and (not is_last or keeps):
            self.put_away(lease, now, reason)
            return
        self._state.cloud.discard(lease.lease_id, now)
        if is_last:
            self._relocation.fail(
                lease, now, f"{kind.value} failed {self._state.options.boot_attempts} times, last: {reason}"
            )
            return
        plan = self._state.planner.plan
        avoid = host is not None and host not in plan.outages
        if avoid and host is not None:
            block(plan, host, now, now + 1)
        try:
            self._relocation.replace_lost(lease, now, reason)
        finally:
            if avoid and host is not None:
                unblock(plan, host)

    def refused_hosts(self, lease: Lease, kind: OperationKind, now: int, reason: str) -> None:
        """Handle a start or resumption for which the cloud could not clear the hosts.

        That is not the lease's fault, so the number of attempts is not limited.
        """
        if kind is OperationKind.RESUME:
            self.put_away(lease, now, reason)
            return
        self._state.cloud.discard(lease.lease_id, now)
        self._relocation.replace_lost(lease, now, reason)

    def put_away(self, lease: Lease, now: int, reason: str) -> None:
        """Suspend a lease again that could not be resumed, so that its work is not lost."""
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        first = lease.holdings[0]
        end = now + self._state.planner.context.suspension.suspend_time(lease.request, first.assignment)
        closing = replace(first, run_start=now, run_end=now, end=end, closing=Closing.SUSPEND)
        # Later holdings are dropped: they count on the run that did not happen.
        suspending = lease.to(LeaseState.SUSPENDING, reason=reason, holdings=(closing,))
        self._state.put(suspending)
        self._state.begin(OperationKind.SUSPEND, suspending, end, now)
        self._relocation.make_way(closing.hosts, now, end, keep=lease.lease_id)
