"""Metrics of events, which are counted when they are written."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

from lease_scheduler.cloud.differences import REPAIRS, Difference, Kind, Problem
from lease_scheduler.cloud.meters.base import Activity
from lease_scheduler.model.delays import AcceptableWait
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.records.messages import FOR_FILTERS
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.metrics.delays import DelayMetrics
from lease_scheduler.service.core.metrics.labels import LOCAL, ORIGIN, POOL, of_pool
from lease_scheduler.service.core.unit_of_work import Counted, Refused

_Metric = TypeVar("_Metric", bound=MetricWrapperBase)

#: Name that the engine gives to ``engine.interfaces.Recorder.count`` -> description of the counter, for people.
COUNTED = {
    "suspensions": "Suspensions that were begun",
    "resumptions": "Resumptions that were begun",
    "migrations": "Virtual machines whose saved memory was moved",
    "preemptions": "Leases that were preempted or moved for a reservation",
    "preempted_leases": "Leases that were preempted for a request, those that were only moved not included",
    "preempted_nodes": "Nodes of preempted leases",
    "preemptions_with_loss": "Preemptions in which work was lost",
    "preemptions_without_loss": "Leases that were preempted for a request and lose no work",
    "promised_leases": "Leases that started with the promise of a lifetime",
    "broken_promises": "Leases that had to leave their hosts before their promised lifetime was over",
    "evasions": "Running leases that were moved in place of being preempted",
    "fluid_moves": "Running fluid leases that were moved because the fractional policy wanted it",
    "relocated_nodes": "Servers of running leases that were moved because the relocation policy wanted it",
    "early_ends": "Leases that ended before their time",
    "late_starts": "Leases that could not start when they should have",
    "late_operations": "Operations of the cloud that took longer than planned",
    "failed_boots": "Boots of leases that failed",
    "failed_operations": "Other operations of the cloud that failed",
    "host_failures": "Hosts that went out of service",
    "host_sleeps": "Hosts that were told to sleep",
    "host_wakes": "Hosts that were told to wake",
    "failed_host_sleeps": "Hosts that did not fall asleep, and were woken",
    "failed_host_wakes": "Hosts that did not wake in time",
    "late_host_wakes": "Times that a lease was to start on a host that was not awake",
    "emptied_hosts": "Hosts whose leases were moved away so that they could sleep",
    "asleep_refusals": "Reservations that were refused because hosts sleep",
    "occupied_hosts": "Times that a lease could not have a host, because servers on it do not give way",
    "moved_reservations": "Reservations that got other hosts",
    "replans": "Leases that were planned again because others came, left or were late",
    "image_transfers": "Transfers of disk images that were begun",
    "transferred_images": "Hosts that got a disk image",
    "shared_images": "Hosts that got their disk image by the transfer of another lease",
    "reused_images": "Hosts that had their disk image already",
    "evicted_images": "Disk images that hosts gave up for others",
    "failed_transfers": "Transfers of disk images that failed",
}

#: What is done about idle leases.
_IDLE_ACTIONS = ("notified", "ended")

_DURATIONS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_ROUNDS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class EventMetrics:
    """Counters and histograms. They keep their values when the engine stops leading and leads again.

    :param pools: names of the pools; without any, no metric has the label of the pool
    :param acceptable_wait: when a wait for the first run is too long; None for the default of the option
    """

    def __init__(
        self, registry: CollectorRegistry, pools: Sequence[str] = (), acceptable_wait: AcceptableWait | None = None
    ) -> None:
        self._pools: tuple[str | None, ...] = tuple(pools) or (None,)
        pool = [POOL] if pools else []
        self._counted = {
            name: Counter(f"lease_scheduler_{name}", help_text, pool, registry=registry)
            for name, help_text in COUNTED.items()
        }
        self._transitions = Counter(
            "lease_scheduler_lease_transitions",
            "Leases that came into a state",
            ["kind", "state", ORIGIN, *pool],
            registry=registry,
        )
        self._refusals = Counter(
            "lease_scheduler_lease_refusals",
            "Requests that did not become leases",
            ["kind", ORIGIN, *pool],
            registry=registry,
        )
        self._delays = DelayMetrics(registry, self._pools, acceptable_wait or AcceptableWait())
        self._node_seconds = Counter(
            "lease_scheduler_node_seconds",
            "Time for which leases held nodes, counted when a phase ends",
            ["kind", "phase", *pool],
            registry=registry,
        )
        self._revenue = Counter(
            "lease_scheduler_revenue",
            "Money: earned, and missed because of too low a price, for want of a place, or for too high a price",
            ["outcome", *pool],
            registry=registry,
        )
        self.notifications_waiting = Gauge(
            "lease_scheduler_notifications_waiting", "Notifications that wait to be sent", registry=registry
        )
        self._deliveries = Counter(
            "lease_scheduler_deliveries",
            "Attempts to deliver notifications to projects, and deliveries that were given up",
            ["driver", "result"],
            registry=registry,
        )
        self._planning = Histogram(
            "lease_scheduler_planning_duration_seconds",
            "Time to plan what a request asks for, or what is due, before it is written",
            buckets=_DURATIONS,
            registry=registry,
        )
        self._transactions = Histogram(
            "lease_scheduler_transaction_duration_seconds",
            "Time to write what was planned into the database",
            buckets=_DURATIONS,
            registry=registry,
        )
        self._reconciled_at = Gauge(
            "lease_scheduler_reconciliation_last_success_timestamp_seconds",
            "When leases and cloud were last compared",
            registry=registry,
        )
        self._reconciliations = Histogram(
            "lease_scheduler_reconciliation_duration_seconds",
            "Time to compare leases and cloud and to plan what is repaired",
            buckets=_ROUNDS,
            registry=registry,
        )
        self._repaired = Counter(
            "lease_scheduler_reconciliation_repairs",
            "What was repaired because leases and cloud did not agree",
            ["repair"],
            registry=registry,
        )
        self._differences = Gauge(
            "lease_scheduler_reconciliation_differences",
            "What differed when leases and cloud were last compared",
            ["kind", "problem"],
            registry=registry,
        )
        self._failures = Counter(
            "lease_scheduler_reconciliation_failures", "Comparisons of leases and cloud that failed", registry=registry
        )
        self._idle = Gauge(
            "lease_scheduler_idle_leases",
            "Running leases whose servers use nothing, by whether their projects were told",
            ["told"],
            registry=registry,
        )
        self._idle_steps = Counter(
            "lease_scheduler_idle_actions",
            "Projects that were told that a lease is idle, and leases that were ended for it",
            ["action"],
            registry=registry,
        )
        self._measurements = Counter(
            "lease_scheduler_idle_measurements",
            "Measurements of running leases, by what they found",
            ["result"],
            registry=registry,
        )
        self._metering = Histogram(
            "lease_scheduler_idle_metering_duration_seconds",
            "Time to measure all running leases once",
            buckets=_ROUNDS,
            registry=registry,
        )
        self._metering_failures = Counter(
            "lease_scheduler_idle_metering_failures", "Measurements that gave no figures at all", registry=registry
        )
        for action in _IDLE_ACTIONS:
            self._idle_steps.labels(action)
        for activity in Activity:
            self._measurements.labels(activity.value)
        self.idle_leases(0, 0)
        for repair in REPAIRS:
            self._repaired.labels(repair)
        self.compared([])
        for each in self._pools:
            for outcome in ("earned", "undercharged", "rejected", "rejected_by_user"):
                self._of(self._revenue, each, outcome)
            for kind in LeaseKind:
                self._of(self._refusals, each, kind.value, LOCAL)
            for counter in self._counted.values():
                self._of(counter, each)

    def _of(self, metric: _Metric, pool: str | None, *values: str) -> _Metric:
        return of_pool(metric, self._pools, pool, *values)

    def planned(self, seconds: float) -> None:
        """Note that something was planned."""
        self._planning.observe(seconds)

    def written(self, changes: StoreChanges, seconds: float) -> None:
        """Note that a transaction was written."""
        self._transactions.observe(seconds)
        for transition in changes.transitions:
            lease = changes.leases.get(transition.lease_id)
            if lease is not None:
                labels = lease.kind.value, transition.after, lease.request.origin or LOCAL
                self._of(self._transitions, lease.request.pool, *labels).inc()
                self._delays.changed(lease, transition)
        for used in changes.usage:
            taken = used.nodes * (used.end - used.start)
            self._of(self._node_seconds, used.pool, used.kind, used.phase).inc(taken)
        for record in changes.revenue:
            price = record.price or 0.0
            worth = record.max_price if record.max_price is not None else price
            is_earned = record.outcome == "earned"
            self._of(self._revenue, record.pool, record.outcome).inc(price if is_earned else worth)
            if is_earned:
                self._of(self._revenue, record.pool, "undercharged").inc(max(0.0, worth - price))
        waiting = sum(not message.event_type.startswith(FOR_FILTERS) for message in changes.messages)
        self.notifications_waiting.inc(waiting)

    def delivered(self, driver: str, result: str) -> None:
        """Note the result of an attempt to deliver a notification to a project.

        :param result: ``delivered``, ``failed`` or ``given-up``
        """
        self._deliveries.labels(driver, result).inc()

    def counted(self, counts: Counted, refusals: Refused) -> None:
        """Add what the engines have counted since the last call."""
        for (name, pool), number in counts.items():
            if name in self._counted:
                self._of(self._counted[name], pool).inc(number)
        for (kind, origin, pool), number in refusals.items():
            self._of(self._refusals, pool, kind.value, origin or LOCAL).inc(number)

    def reconciled(self, repaired: Mapping[str, int], seconds: float, instant: float) -> None:
        """Note that leases and cloud were compared.

        :param repaired: number of repairs by kind
        :param seconds: duration of the comparison
        :param instant: its end, in real seconds since the epoch
        """
        self._reconciled_at.set(instant)
        self._reconciliations.observe(seconds)
        for repair, number in repaired.items():
            self._repaired.labels(repair).inc(number)

    def compared(self, differences: Iterable[Difference]) -> None:
        """Show what differed when leases and cloud were last compared."""
        found = Counts((each.kind, each.problem) for each in differences)
        for kind in Kind:
            for problem in Problem:
                self._differences.labels(kind.value, problem.value).set(found[kind, problem])

    def idle_leases(self, told: int, untold: int) -> None:
        """Show how many leases are idle.

        :param told: number of those whose projects were told
        :param untold: number of the others
        """
        self._idle.labels("true").set(told)
        self._idle.labels("false").set(untold)

    def idle_notified(self) -> None:
        """Note that a project was told that a lease is idle."""
        self._idle_steps.labels("notified").inc()

    def idle_ended(self) -> None:
        """Note that a lease was ended because it was idle."""
        self._idle_steps.labels("ended").inc()

    def measured(self, found: Mapping[Activity, int]) -> None:
        """Note the results of a measurement.

        :param found: activity -> number of leases
        """
        for activity, number in found.items():
            self._measurements.labels(activity.value).inc(number)

    def metered(self, seconds: float) -> None:
        """Note how long a measurement took."""
        self._metering.observe(seconds)

    def not_measured(self) -> None:
        """Note that a measurement gave no figures at all."""
        self._metering_failures.inc()

    def not_reconciled(self) -> None:
        """Note that leases and cloud could not be compared."""
        self._failures.inc()
