"""Failed operations: the lease is tried again on other hosts, or later, or it starts over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.relocation import Relocation
from lease_scheduler.engine.retries import Retries
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block, unblock

#: Seconds between attempts to start a lease with a fixed interval: up to ``_MANY`` failures, and after more.
_FIRST_PAUSE, _LONG_PAUSE, _MANY = 2, 60, 30


class Failures:
    """Handling of failed operations.

    :param state: state that the parts of the engine share
    :param relocation: finds other places
    :param retries: leases that wait for another attempt
    """

    def __init__(self, state: EngineState, relocation: Relocation, retries: Retries) -> None:
        self._state = state
        self._relocation = relocation
        self._retries = retries

    def operation_failed(self, lease: Lease, kind: OperationKind, now: int, host: int | None, reason: str) -> None:
        """Handle an operation that the cloud could not carry out.

        :param host: host on which it failed, or None if unknown; the lease is not placed there again right away
        """
        if kind is OperationKind.STOP:
            # A lease must be able to end, so what is left of its servers is destroyed.
            self._state.cloud.discard(lease.lease_id, now)
            self._state.finish(lease, LeaseState.DONE, now, f"its VMs had to be destroyed: {reason}")
            return
        keeps = self._state.options.keeps_saved_work
        self._state.recorder.count("failed_boots" if kind is OperationKind.START else "failed_operations")
        if kind is OperationKind.MIGRATE and keeps:
            kept = lease.to(LeaseState.SUSPENDED_SCHEDULED).to(LeaseState.SUSPENDED_PENDING, holdings=())
            self._retries.wait(kept, now, f"its memory could not be moved: {reason}")
            return
        self._state.runs[lease.lease_id].failed_boots += 1
        is_last = self._state.runs[lease.lease_id].failed_boots >= self._state.options.boot_attempts
        if kind is OperationKind.RESUME and (not is_last or keeps):
            self.put_away(lease, now, reason)
            return
        self._state.cloud.discard(lease.lease_id, now)
        if kind is OperationKind.START and keeps and lease.kind.promises_interval:
            self._start_again(lease, now, host, reason)
            return
        if is_last:
            self._relocation.fail(
                lease, now, f"{kind.value} failed {self._state.options.boot_attempts} times, last: {reason}"
            )
            return
        with self._avoided(host, now):
            self._relocation.replace_lost(lease, now, reason)

    @contextmanager
    def _avoided(self, host: int | None, now: int) -> Iterator[None]:
        """Keep leases off a host within the block."""
        plan = self._state.planner.plan
        if host is None or host in plan.outages:
            yield
            return
        block(plan, host, now, now + 1)
        try:
            yield
        finally:
            unblock(plan, host)

    def _start_again(self, lease: Lease, now: int, host: int | None, reason: str) -> None:
        """Start a lease with a fixed interval again: on other hosts, or on its own hosts after a pause.

        Its hosts are promised to it for the whole interval, and the cause may be a fault of the cloud that ends before.
        So attempts continue until the interval is over, and only then the lease fails.

        :param host: host on which it failed, or None if unknown
        """
        state, first = self._state, lease.holdings[0]
        failures = state.runs[lease.lease_id].failed_boots
        if host is not None and failures < state.options.boot_attempts:
            away = [node for node, at in enumerate(first.assignment) if at == host]
            with self._avoided(host, now):
                placed = self._relocation.place_anew(lease, away, now)
            if placed is not None:
                return
        again = now + (_FIRST_PAUSE if failures <= _MANY else _LONG_PAUSE)
        later = self._relocation.start_later(lease, again, now, f"start failed {failures} times, last: {reason}")
        if later is not None:
            left = later.holdings[0].run_start - now
            state.put(replace(later, reason=f"its start has failed and is tried again in {in_words(left)}: {reason}"))

    def refused_hosts(self, lease: Lease, kind: OperationKind, now: int, reason: str) -> None:
        """Handle a start or resumption for which the cloud could not clear the hosts.

        The lease is not the cause, so the number of attempts is not limited.
        """
        if kind is OperationKind.RESUME:
            self.put_away(lease, now, reason)
            return
        self._state.cloud.discard(lease.lease_id, now)
        self._relocation.replace_lost(lease, now, reason)

    def put_away(self, lease: Lease, now: int, reason: str) -> None:
        """Suspend a lease that could not be resumed again, so that its work is not lost."""
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        first = lease.holdings[0]
        end = now + self._state.planner.context.suspension.suspend_time(lease.request, first.assignment)
        closing = replace(first, run_start=now, run_end=now, end=end, closing=Closing.SUSPEND)
        # Later holdings are dropped, because they rely on a run that did not happen.
        suspending = lease.to(LeaseState.SUSPENDING, reason=reason, holdings=(closing,))
        self._state.put(suspending)
        self._state.begin(OperationKind.SUSPEND, suspending, end, now)
        self._relocation.make_way(closing.hosts, now, end, keep=lease.lease_id)
