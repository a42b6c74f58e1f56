"""Leases whose servers cannot be saved or brought back now: nothing of them is deleted, and it is tried again later.

Used where ``EngineOptions.keeps_saved_work`` is set. The pauses are forgotten by an engine that takes over, which tries
at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lease_scheduler.engine.breaches import DEADLINE_MISSED
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.plan import NotPlannableError

#: Seconds between two attempts, at first and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 30, 900

#: Most seconds between two attempts to suspend a lease, for whose hosts others wait.
_LONGEST_PAUSE_ON_HOSTS = 240


class Retries:
    """See the module."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._due: dict[str, int] = {}
        #: How often a lease could not be suspended.
        self._failed: Counter[str] = Counter()

    def next_due(self) -> int | None:
        """Return when something is tried again next, or None."""
        return min(self._due.values(), default=None)

    def is_exhausted(self, lease: Lease) -> bool:
        """Return whether a lease has failed so often that it waits before the next attempt."""
        attempts = self._state.options.boot_attempts
        return self._state.options.keeps_saved_work and self._state.failed_boots[lease.lease_id] >= attempts

    def keeps_work_of(self, lease: Lease) -> bool:
        """Whether a lease that runs has done work before that can be saved again, and must not be lost."""
        has_worked = lease.accumulated > 0 and lease.active_since is not None
        can_suspend = self._state.planner.context.suspension.can_suspend(lease.request)
        return self._state.options.keeps_saved_work and has_worked and can_suspend

    def wait(self, lease: Lease, now: int, why: str) -> None:
        """Have a lease whose memory is saved wait; its owner is told.

        :param lease: is suspended, holds nothing and is planned nowhere
        :param why: what went wrong
        """
        deadline, pause = lease.request.deadline, self._pause(lease)
        latest = None if deadline is None else deadline - lease.remaining
        if latest is not None and latest < now:
            self._due.pop(lease.lease_id, None)
            lease = self._state.breaches.deadline_missed(lease, now)
            what = f"{DEADLINE_MISSED}, and waits until its deadline is changed or it is ended"
        else:
            self._due[lease.lease_id] = now + pause if latest is None else max(now + 1, min(now + pause, latest))
            what = f"it is tried again in {self._due[lease.lease_id] - now} s"
        waiting = self._state.put(replace(lease, reason=f"{why}; {what}"))
        self._state.recorder.waits_with_saved_work(waiting)

    def suspend_later(self, lease: Lease, now: int, why: str) -> int:
        """Have a lease suspended once more after a pause; its owner is told.

        :param why: what went wrong
        :return: when it is tried again
        """
        pause = min(_FIRST_PAUSE << min(self._failed[lease.lease_id], 10), _LONGEST_PAUSE_ON_HOSTS)
        self._failed[lease.lease_id] += 1
        self._due[lease.lease_id] = now + pause
        waiting = self._state.put(
            replace(lease, reason=f"it could not be suspended: {why}; it is tried again in {pause} s")
        )
        self._state.recorder.waits_with_saved_work(waiting)
        return self._due[lease.lease_id]

    def suspended(self, lease: Lease) -> None:
        """Note that a lease has left its hosts."""
        self._failed.pop(lease.lease_id, None)

    def restore(self, leases: list[Lease], now: int) -> None:
        """Take over leases that wait from an engine that is no more."""
        for lease in leases:
            is_waiting = lease.state is LeaseState.SUSPENDED_PENDING and not lease.holdings
            if is_waiting or lease.state is LeaseState.SUSPENDING:
                self._due[lease.lease_id] = now

    def go_on(self, now: int) -> None:
        """Try what is due again."""
        for lease_id in sorted(key for key, instant in self._due.items() if instant <= now):
            del self._due[lease_id]
            lease = self._state.lease(lease_id)
            if lease is None or lease_id in self._state.operations:
                self._failed.pop(lease_id, None)
                continue
            if lease.state is LeaseState.SUSPENDING:
                self._state.begin(OperationKind.SUSPEND, lease, lease.holdings[0].end, now)
            elif lease.state is LeaseState.SUSPENDED_PENDING and not lease.holdings:
                self._plan(lease, now)
            self._state.publish(now)

    def _plan(self, lease: Lease, now: int) -> None:
        if lease.kind is not LeaseKind.DEADLINE:
            self._state.planner.enqueue(lease)
            return
        try:
            self._state.planner.place_rest(lease, now)
        except NotPlannableError as error:
            self.wait(lease, now, str(error))

    def _pause(self, lease: Lease) -> int:
        """Twice as long after each failure, so that what cannot succeed does not keep hosts busy."""
        more = max(0, self._state.failed_boots[lease.lease_id] - self._state.options.boot_attempts)
        return min(_FIRST_PAUSE << min(more, 10), _LONGEST_PAUSE)
