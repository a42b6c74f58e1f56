"""Retries of failed suspensions and resumptions, so that no saved work is deleted.

Used if ``EngineOptions.keeps_saved_work`` is set. Pauses are not stored: an engine that takes over tries at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lease_scheduler.engine.breaches import DEADLINE_MISSED
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.plan import NotPlannableError

#: Minimum and maximum seconds between two attempts.
_FIRST_PAUSE, _LONGEST_PAUSE = 30, 900

#: Maximum seconds between two attempts to suspend a lease: fewer, because other leases wait for its hosts.
_LONGEST_PAUSE_ON_HOSTS = 240


class Retries:
    """Leases that wait for another attempt; see the module."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._due: dict[str, int] = {}
        #: Number of failed attempts to suspend each lease.
        self._failed: Counter[str] = Counter()

    def next_due(self) -> int | None:
        """Return the instant of the next attempt, or None."""
        return min(self._due.values(), default=None)

    def is_exhausted(self, lease: Lease) -> bool:
        """Return whether a lease has failed so often that it must wait before the next attempt."""
        attempts = self._state.options.boot_attempts
        return self._state.options.keeps_saved_work and self._state.runs[lease.lease_id].failed_boots >= attempts

    def keeps_work_of(self, lease: Lease) -> bool:
        """Return whether a running lease has work from an earlier run that must be kept, and can be saved again."""
        has_worked = lease.accumulated > 0 and lease.active_since is not None
        can_suspend = self._state.planner.context.suspension.can_suspend(lease.request)
        return self._state.options.keeps_saved_work and has_worked and can_suspend

    def wait(self, lease: Lease, now: int, why: str) -> None:
        """Let a suspended lease wait for another attempt, and tell its project.

        :param lease: suspended lease without holdings
        :param why: what went wrong
        """
        deadline, pause = lease.request.deadline, self._pause(lease)
        latest = None if deadline is None else deadline - lease.remaining
        if latest is not None and latest < now:
            self._due.pop(lease.lease_id, None)
            lease = self._state.breaches.deadline_missed(lease, now)
            what = f"{DEADLINE_MISSED}; it waits until its deadline is changed or it is ended"
        else:
            self._due[lease.lease_id] = now + pause if latest is None else max(now + 1, min(now + pause, latest))
            what = f"it is tried again in {in_words(self._due[lease.lease_id] - now)}"
        waiting = self._state.put(replace(lease, reason=f"{why}; {what}"))
        self._state.recorder.waits_with_saved_work(waiting)

    def suspend_later(self, lease: Lease, now: int, why: str) -> int:
        """Try to suspend a lease again after a pause, and tell its project.

        :param why: what went wrong
        :return: instant of the next attempt
        """
        pause = min(_FIRST_PAUSE << min(self._failed[lease.lease_id], 10), _LONGEST_PAUSE_ON_HOSTS)
        self._failed[lease.lease_id] += 1
        self._due[lease.lease_id] = now + pause
        waiting = self._state.put(
            replace(lease, reason=f"it could not be suspended: {why}; it is tried again in {in_words(pause)}")
        )
        self._state.recorder.waits_with_saved_work(waiting)
        return self._due[lease.lease_id]

    def suspended(self, lease: Lease) -> None:
        """Record that a lease has been suspended."""
        self._failed.pop(lease.lease_id, None)

    def restore(self, leases: list[Lease], now: int) -> None:
        """Take over waiting leases from an engine that has stopped.

        :param leases: live leases without an operation in progress
        """
        for lease in leases:
            is_waiting = lease.state is LeaseState.SUSPENDED_PENDING and not lease.holdings
            if is_waiting or lease.state is LeaseState.SUSPENDING:
                self._due[lease.lease_id] = now

    def go_on(self, now: int) -> None:
        """Make the attempts that are due."""
        for lease_id in sorted(key for key, instant in self._due.items() if instant <= now):
            del self._due[lease_id]
            lease = self._state.lease(lease_id)
            if lease is None or lease_id in self._state.runs.operating:
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
        """Return the seconds until the next attempt.

        They double with each failure beyond ``boot_attempts``, so that hopeless attempts do not keep hosts busy.
        """
        more = max(0, self._state.runs[lease.lease_id].failed_boots - self._state.options.boot_attempts)
        return min(_FIRST_PAUSE << min(more, 10), _LONGEST_PAUSE)
