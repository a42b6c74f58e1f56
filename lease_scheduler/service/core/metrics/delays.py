"""Metrics of how long leases wait, and for which of them that is too long."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from lease_scheduler.model.delays import AcceptableWait, bounded_slowdown, waited_in_vain, waiting_time
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.history import Transition
from lease_scheduler.service.core.metrics.labels import LOCAL, ORIGIN, POOL, of_pool

_SECONDS = (1, 10, 60, 300, 900, 3_600, 4 * 3_600, 86_400, 3 * 86_400, 7 * 86_400)
_SLOWDOWNS = (1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100, 1_000)
_FINAL = frozenset(state.value for state in FINAL_STATES)
_ACCEPTABLE, _TOO_LONG = "acceptable", "too-long"


class DelayMetrics:
    """Waits and bounded slowdowns of leases, and the numbers of waits that were acceptable and too long.

    The last two give the rates of violations of Amini Salehi 2012: equation 5.14 (contention F51), section 6.4.2 (F69).

    :param pools: names of the pools; only None if no metric has the label of the pool
    :param acceptable_wait: when a wait is too long
    """

    def __init__(
        self, registry: CollectorRegistry, pools: Sequence[str | None], acceptable_wait: AcceptableWait
    ) -> None:
        self._pools = pools
        self._acceptable = acceptable_wait
        pool = [] if tuple(pools) == (None,) else [POOL]
        self._waits = Histogram(
            "lease_scheduler_lease_wait_seconds",
            "Time from the submission, or the earliest start of a deadline lease, to the first run",
            ["kind", *pool],
            buckets=_SECONDS,
            registry=registry,
        )
        self._judged = Counter(
            "lease_scheduler_lease_waits",
            "Leases whose wait for their first run is over, by whether it was acceptable",
            ["kind", "result", ORIGIN, *pool],
            registry=registry,
        )
        self._slowdowns = Histogram(
            "lease_scheduler_lease_bounded_slowdown_ratio",
            "Time from submission to end over run time, run times below 10 s counted as 10 s, of leases that are done",
            ["kind", *pool],
            buckets=_SLOWDOWNS,
            registry=registry,
        )
        for each in pools:
            for kind in LeaseKind:
                if kind is not LeaseKind.RESERVATION:
                    for result in (_ACCEPTABLE, _TOO_LONG):
                        of_pool(self._judged, pools, each, kind.value, result, LOCAL)

    def changed(self, lease: Lease, transition: Transition) -> None:
        """Note what happened to a lease. What leaves its state alone changes nothing here.

        :param lease: the lease after that
        """
        if transition.before == transition.after:
            return
        pool, kind = lease.request.pool, lease.kind.value
        if transition.after == LeaseState.ACTIVE.value and lease.started == transition.instant:
            waited = waiting_time(lease)
            if waited is not None:
                of_pool(self._waits, self._pools, pool, kind).observe(waited)
                self._judge(lease, _ACCEPTABLE if self._acceptable.allows(lease, waited) else _TOO_LONG)
        if transition.after in _FINAL:
            waited = waited_in_vain(lease, transition.instant)
            # A project that gives up early has not waited too long, but nothing has shown that it would not have.
            if waited is not None and not self._acceptable.allows(lease, waited):
                self._judge(lease, _TOO_LONG)
        if transition.after == LeaseState.DONE.value:
            slowdown = bounded_slowdown(lease, lease.accumulated)
            if slowdown is not None:
                of_pool(self._slowdowns, self._pools, pool, kind).observe(slowdown)

    def _judge(self, lease: Lease, result: str) -> None:
        labels = lease.kind.value, result, lease.request.origin or LOCAL
        of_pool(self._judged, self._pools, lease.request.pool, *labels).inc()
