"""Running a workload with the engine, on a simulated clock and a simulated cloud (haizea F18)."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from lease_scheduler.cloud.in_memory import InMemoryCloud
from lease_scheduler.engine.engine import Engine
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import LeaseKind, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.metrics import users_rate
from lease_scheduler.simulation.probes.disk_usage import DISK_USAGE
from lease_scheduler.simulation.probes.loader import load_probes
from lease_scheduler.simulation.probes.observed_store import ObservedStore
from lease_scheduler.simulation.recorder import RunRecorder
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.settings import FailureHandling, RunSettings, StopWhen
from lease_scheduler.simulation.workload import Workload

#: Called after every step of a run, and at its end. It must not change the run.
Watcher = Callable[["Run"], None]


class RunFailedError(LeaseSchedulerError):
    """A lease failed in a run whose settings say to stop at a failure."""


class Run:
    """A run in progress.

    :param workload: the requests
    :param settings: how to run it
    :param site: the hosts; None for those of the workload
    :raises InvalidValueError: there is no site, or a policy is unknown
    """

    def __init__(self, workload: Workload, settings: RunSettings, site: Site | None = None) -> None:
        chosen = site or workload.site
        if chosen is None:
            raise InvalidValueError("site", f"workload {workload.name} names no hosts; give a site")
        self.site = chosen
        self.workload = workload
        self.settings = settings
        options = PolicyOptions(settings.policy_options)
        self.planner = Planner(
            chosen,
            settings.planning,
            load_policy("host_selection", settings.host_selection, options),
            load_policy("preemption", settings.preemption, options),
            deadline_preemption=settings.deadline_preemption,
            transfers=settings.transfers,
            mapper=load_policy("mapper", settings.mapper, options),
            queueing=load_policy("queueing", settings.queueing, options),
            duration=load_policy("duration", settings.duration, options),
        )
        self.clock = SimulatedClock()
        self.recorder = RunRecorder()
        self._accounting = Accounting(settings.attributes)
        self._probes = load_probes(settings.probes, self._accounting)
        self.store = ObservedStore(self._probes)
        self.cloud = InMemoryCloud(
            settings.cloud,
            {
                lease.request.lease_id: lease.real_duration
                for lease in workload.leases
                if lease.real_duration is not None
            },
        )
        self.pricing = load_policy("pricing", settings.pricing, options)
        self.penalty = load_policy("penalty", settings.penalty, options)
        self.engine = Engine(
            self.planner,
            load_policy("admission", settings.admission, options),
            self.clock,
            self.cloud,
            self.store,
            self.recorder,
            settings.engine,
            self.pricing,
            self.cloud,
            self.penalty,
        )
        self._next_request = 0
        self._open_best_effort = sum(lease.request.kind is LeaseKind.BEST_EFFORT for lease in workload.leases)

    def execute(self, watchers: Sequence[Watcher] = ()) -> RunResult:
        """Run to the end.

        :raises RunFailedError: a lease failed, and the settings say to stop at a failure
        """
        began = time.perf_counter()
        while (instant := self._next_instant()) is not None:
            if self.settings.stop_time is not None and instant > self.settings.stop_time:
                self.clock.set(max(self.clock.now(), self.settings.stop_time))
                break
            self.clock.set(max(self.clock.now(), instant))
            self._submit_due()
            self.engine.step()
            if self._probes:
                self.store.tell(self.planner.plan, self.clock.now())
            if self.settings.check_invariants:
                check_plan(self.planner.plan, self.clock.now())
            if self.settings.failure_handling is not FailureHandling.CANCEL:
                self._stop_on_failure()
            for watch in watchers:
                watch(self)
            if self._is_over():
                break
        if self.settings.stop_when is StopWhen.ALL_LEASES_DONE and self.settings.stop_time is None:
            self._end_stranded()
        for watch in watchers:
            watch(self)
        return self._accounted(self._result(time.perf_counter() - began))

    def ended(self) -> int:
        """Return the number of leases that have ended."""
        return sum(self.store.ended_of(kind) for kind in LeaseKind)

    def _next_instant(self) -> int | None:
        candidates = [self.engine.next_due(), self.cloud.next_event()]
        if self._next_request < len(self.workload.leases):
            candidates.append(self.workload.leases[self._next_request].request.submitted)
        elif self.engine.is_idle:
            return None
        return min((instant for instant in candidates if instant is not None), default=None)

    def _submit_due(self) -> None:
        now = self.clock.now()
        leases = self.workload.leases
        while self._next_request < len(leases) and leases[self._next_request].request.submitted <= now:
            self.engine.submit(self._as_its_user_asks(leases[self._next_request].request))
            self._next_request += 1

    def _as_its_user_asks(self, request: LeaseRequest) -> LeaseRequest:
        """Return the request with the most that its user would pay, if leases have prices (haizea F77)."""
        rate = users_rate(request) if self.pricing.charges else None
        return request if rate is None else replace(request, max_price=rate * request.node_hours)

    def _is_over(self) -> bool:
        stop_when = self.settings.stop_when
        if stop_when is StopWhen.BEST_EFFORT_SUBMITTED:
            rest = self.workload.leases[self._next_request :]
            return not any(lease.request.kind is LeaseKind.BEST_EFFORT for lease in rest)
        if stop_when is StopWhen.BEST_EFFORT_DONE:
            return self.store.ended_of(LeaseKind.BEST_EFFORT) == self._open_best_effort
        return False

    def _stop_on_failure(self) -> None:
        failed = self.store.ended_in(LeaseState.FAILED)
        if failed is None:
            return
        message = f"lease {failed.lease_id} failed at {failed.ended}: {failed.reason}"
        if self.settings.failure_handling is FailureHandling.EXIT_RAISE:
            raise RuntimeError(message)
        raise RunFailedError(message)

    def _end_stranded(self) -> None:
        """Cancel the leases that still wait when no further event can give them a place."""
        while leases := self.engine.live_leases():
            self.engine.cancel(leases[0].lease_id, "still without a place when no events were left")

    def _counters(self) -> dict[str, int]:
        """Return the counters of the run; breaches are counted only if there are penalties, since Haizea has none."""
        counted = Counter(self.recorder.counters)
        if self.penalty.charges:
            counted.update(f"breaches_{breach.kind.value.replace('-', '_')}" for breach in self.recorder.breaches)
        return counted

    def _result(self, wall_s: float) -> RunResult:
        return RunResult(
            workload_name=self.workload.name,
            site=self.site,
            leases=tuple(self.store.load()),
            occupations=tuple(self.recorder.occupations),
            counters=dict(sorted(self._counters().items())),
            start=0,
            end=self.clock.now(),
            last_submission=self.workload.last_submission,
            wall_s=wall_s,
            breaches=tuple(self.recorder.breaches),
            peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )

    def _accounted(self, result: RunResult) -> RunResult:
        """Return the result with the records of the probes."""
        if self._probes:
            self.store.tell(self.planner.plan, self.clock.now())
        for probe in self._probes:
            probe.finish(result)
        leases, order = self._accounting.leases, (lease.lease_id for lease in result.leases)
        self._accounting.leases = {lease_id: leases[lease_id] for lease_id in order if lease_id in leases}
        counter = self._accounting.counters.get(DISK_USAGE)
        used = tuple((entry.instant, int(entry.value)) for entry in counter.entries) if counter is not None else ()
        return replace(result, accounting=self._accounting, disk_usage=used)
