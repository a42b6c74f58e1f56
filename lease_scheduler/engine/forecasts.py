"""Forecasts about leases, and how often they hold (Pucher 2016, section 3.3.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.interfaces import ExpectedDuration
from lease_scheduler.policy.base import Learnt, Policy, PolicyOptions
from lease_scheduler.policy.duration.run_times import complete_run_time
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.coverage import Coverage

#: Share of the leases that are to start within the forecast wait.
START_SHARE = 0.95
#: Number of waits that are kept.
_WAITS = 500
_SUBJECT = "waits"

#: Names of forecasts.
START, DURATION, LIFETIME = "start", "duration", "lifetime"


class Forecasts(Policy):
    """Forecasts of the waits of queued best-effort leases, and the judge of all forecasts by what really happens.

    The forecast is an upper bound, by the method BMBP, computed from the waits of other best-effort leases of the pool
    that did not start at once (Brevik, Nurmi and Wolski, "Predicting bounds on queuing delay for batch-scheduled
    parallel machines", PPoPP 2006): with 95 % confidence, 95 % of them start within it. The bound adapts quickly when
    waits change. The planner does not use it, and it is not a promise.

    A lease that its project ends while it waits counts only if it has waited longer than forecast.

    The last 500 waits and the counts of forecasts are kept. Expectations about running leases are lost at a restart, so
    these leases are not judged.
    """

    name = "bmbp"

    def __init__(self) -> None:
        super().__init__(PolicyOptions())
        self._duration: Callable[[], ExpectedDuration] | None = None
        self._forget()

    def _forget(self) -> None:
        self._waits = Bmbp(START_SHARE, window=_WAITS)
        self._coverage: dict[str, Coverage] = {}
        self._at_once: set[str] = set()
        self._expected: dict[str, tuple[int, float]] = {}
        self._assured: dict[str, tuple[int, float]] = {}
        self._ends: list[tuple[int, str]] = []
        self._changed: set[str] = set()

    def follow_durations(self, duration: Callable[[], ExpectedDuration]) -> None:
        """Judge the durations that a policy expects from now on.

        :param duration: returns the policy
        """
        self._duration = duration

    def take_over(self, leases: Iterable[Lease], now: int) -> None:
        """Watch the promised lifetimes of leases that run when the engine takes over."""
        for lease in leases:
            if lease.started is not None:
                self._watch_lifetime(lease, now)

    def with_expected_wait(self, lease: Lease) -> Lease:
        """Return a best-effort lease with its expected wait; unchanged if too few waits are known."""
        bound = self._waits.bound()
        if bound is None:
            return lease
        told = replace(lease.grant, expected_wait=max(1, round(bound)), expected_wait_from=len(self._waits))
        return replace(lease, grant=told)

    def coverage(self, now: int) -> Mapping[str, Coverage]:
        """Return how often forecasts held, by the name of the forecast."""
        self._pass_to(now)
        return self._coverage

    # -- observation ---------------------------------------------------------------------------------------

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        self._pass_to(now)
        if outcome is Outcome.BROKEN:
            self._lifetime_is_over(lease.lease_id, now, held=False)
        elif lease.is_final:
            self._ended(outcome, lease, now)
        elif outcome is Outcome.QUEUED:
            self._at_once.discard(lease.lease_id)
        elif outcome is Outcome.PLACED:
            is_new = lease.kind is LeaseKind.BEST_EFFORT and lease.started is None
            if is_new and lease.holdings and lease.holdings[0].start <= now == lease.request.submitted:
                self._at_once.add(lease.lease_id)
        elif outcome is Outcome.STARTED and lease.started == now and (before is None or before.started is None):
            self._started(lease, now)

    def _started(self, lease: Lease, now: int) -> None:
        self._watch_lifetime(lease, now)
        if lease.kind is not LeaseKind.BEST_EFFORT:
            return
        if lease.lease_id in self._at_once:
            self._at_once.discard(lease.lease_id)
        else:
            self._waited(lease, now)
        duration = None if self._duration is None else self._duration()
        asked = getattr(duration, "quantile", None)
        if duration is not None and duration.shortens and asked is not None:
            self._expected[lease.lease_id] = duration.expected(lease), asked

    def _waited(self, lease: Lease, now: int) -> None:
        wait, told = max(0, now - lease.request.submitted), lease.grant.expected_wait
        if told is not None:
            self._judge(START, START_SHARE, now, held=wait <= told)
        self._waits.observe(wait, told)
        self._changed.add(_SUBJECT)

    def _ended(self, outcome: Outcome, lease: Lease, now: int) -> None:
        told = lease.grant.expected_wait
        if lease.started is None and told is not None and now - lease.request.submitted > told:
            self._waited(lease, now)
        self._at_once.discard(lease.lease_id)
        expected = self._expected.pop(lease.lease_id, None)
        seconds = complete_run_time(outcome, lease)
        if expected is not None and seconds is not None:
            self._judge(DURATION, expected[1], now, held=seconds <= expected[0])
        # Whether a lease that ended earlier would have reached its lifetime is unknown.
        self._assured.pop(lease.lease_id, None)

    def _watch_lifetime(self, lease: Lease, now: int) -> None:
        until, assurance = lease.assured_until, lease.request.assurance
        if until is not None and assurance is not None and until > now and lease.grant.assured is Assured.STATISTICAL:
            self._assured[lease.lease_id] = until, assurance
            heappush(self._ends, (until, lease.lease_id))

    def _pass_to(self, now: int) -> None:
        while self._ends and self._ends[0][0] <= now:
            until, lease_id = heappop(self._ends)
            if self._assured.get(lease_id, (None, 0.0))[0] == until:
                self._lifetime_is_over(lease_id, until, held=True)

    def _lifetime_is_over(self, lease_id: str, now: int, *, held: bool) -> None:
        known = self._assured.pop(lease_id, None)
        if known is not None:
            self._judge(LIFETIME, known[1], now, held=held)

    def _judge(self, name: str, asked: float, now: int, *, held: bool) -> None:
        self._coverage.setdefault(name, Coverage()).judge(asked, now, held=held)
        self._changed.add(name)

    # -- storage -------------------------------------------------------------------------------------------

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, set()
        found: dict[str, Learnt] = {name: self._coverage[name].stored() for name in changed if name != _SUBJECT}
        if _SUBJECT in changed:
            found[_SUBJECT] = self._waits.state()
        return found

    def restore(self, learnt: Mapping[str, Mapping[str, Any]]) -> None:
        """See ``Policy.restore``. Entries that are damaged, or were written by another version, are ignored."""
        self._forget()
        for name, stored in learnt.items():
            try:
                if name == _SUBJECT:
                    self._waits.restore(stored)
                else:
                    coverage = Coverage()
                    coverage.restore(stored)
                    self._coverage[name] = coverage
            except (InvalidValueError, AttributeError):
                if name == _SUBJECT:
                    self._waits = Bmbp(START_SHARE, window=_WAITS)
