"""One site of a simulation: the engine with a simulated cloud and the requests that it gets (haizea F18)."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import Ports
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.quote import Quote
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.cloud import InMemoryCloud
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.metrics import users_rate
from lease_scheduler.simulation.probes.disk_usage import DISK_USAGE
from lease_scheduler.simulation.probes.loader import load_probes
from lease_scheduler.simulation.probes.observed_store import ObservedStore
from lease_scheduler.simulation.recorder import RunRecorder
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.settings import FailureHandling, RunSettings, StopWhen
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Called with a site after each of its steps, and when the simulation is over. It must not change the site.
Watcher = Callable[["SiteRun"], None]


class RunFailedError(LeaseSchedulerError):
    """A lease failed in a run whose settings say to stop at a failure."""


class SiteRun:
    """A site in a simulation.

    The world that it belongs to moves the clock, and calls ``step`` when the instant of ``next_instant`` has come.

    :param workload: the requests that the site gets from its own users
    :param settings: how to run it
    :param clock: the clock, which the sites of a world share
    :param site: the hosts; None for those of the workload
    :ivar last_instant: the instant of the last step, or of the end if the site stops at a fixed instant after it
    :raises InvalidValueError: there is no site, or a policy is unknown
    """

    def __init__(
        self, workload: Workload, settings: RunSettings, clock: SimulatedClock, site: Site | None = None
    ) -> None:
        chosen = site or workload.site
        if chosen is None:
            raise InvalidValueError("site", f"workload {workload.name} names no hosts; give a site")
        self.site = chosen
        self.workload = workload
        self.settings = settings
        self.policies = load_policies(settings.policies, PolicyOptions(settings.policy_options))
        self.planner = Planner(
            chosen,
            settings.planning,
            self.policies,
            deadline_preemption=settings.deadline_preemption,
            transfers=settings.transfers,
        )
        self.planner.weights = settings.flow_weights
        self.clock = clock
        self.recorder = RunRecorder()
        self._accounting = Accounting(settings.attributes)
        self._probes = load_probes(settings.probes, self._accounting)
        self.store = ObservedStore(self._probes)
        self._real_durations = {
            lease.request.lease_id: lease.real_duration for lease in workload.leases if lease.real_duration is not None
        }
        self.cloud = InMemoryCloud(settings.cloud, self._real_durations)
        self.engine = Engine(
            self.planner,
            self.policies,
            Ports(self.clock, self.cloud, self.store, self.recorder, self.cloud),
            settings.engine,
        )
        self._next_request = 0
        self._best_effort_count = sum(lease.request.kind is LeaseKind.BEST_EFFORT for lease in workload.leases)
        self._last_submission = workload.last_submission
        # Whether requests from outside the workload wait for the next step.
        self._was_asked = False
        self._is_stopped = False
        self.last_instant = clock.now()

    # -- the passing of time -----------------------------------------------------------------------------

    def next_instant(self, *, expects: bool = False) -> int | None:
        """Return the next instant at which something is due, or None; it may have passed already.

        :param expects: whether more requests may be submitted with ``submit``. If not, nothing is due once all leases
            have ended, whatever else happens in the cloud.
        """
        if self._is_stopped:
            return None
        if self._was_asked:
            return self.clock.now()
        found, stop_time = self._next_event(expects), self.settings.stop_time
        return None if found is not None and stop_time is not None and found > stop_time else found

    def step(self, watchers: Sequence[Watcher] = ()) -> None:
        """Do everything that is due at the present instant, which includes submitting requests of the workload.

        :raises RunFailedError: a lease failed, and the settings say to stop at a failure
        """
        now = self.last_instant = self.clock.now()
        self._was_asked = False
        self._submit_due(now)
        self.engine.step()
        if self.policies.fractional.shares:
            self.cloud.share(self._shares(), now)
        if self._probes:
            self.store.tell(self.planner.plan, now)
        if self.settings.check_invariants:
            check_plan(self.planner.plan, now)
        if self.settings.failure_handling is not FailureHandling.CANCEL:
            self._stop_on_failure()
        for watch in watchers:
            watch(self)
        self._is_stopped = self._is_over()

    def end(self) -> None:
        """Cancel the leases that still wait when no further event can give them a place.

        The world calls this when ``next_instant`` has returned None and no request is expected. A site that stops at a
        fixed instant or at a condition keeps its leases.
        """
        stop_time = self.settings.stop_time
        if stop_time is not None and not self._is_stopped and self._next_event(expects=False) is not None:
            self.last_instant = max(self.last_instant, stop_time)
        elif self.is_open_ended:
            while leases := self.engine.live_leases():
                self.engine.cancel(leases[0].lease_id, "still without a place when no events were left")

    @property
    def is_open_ended(self) -> bool:
        """Whether the site runs until all leases are done, and does not stop at an instant or at another condition."""
        return self.settings.stop_when is StopWhen.ALL_LEASES_DONE and self.settings.stop_time is None

    def _next_event(self, expects: bool) -> int | None:
        found = earlier(self.engine.next_due(), self.cloud.next_event())
        if self._next_request < len(self.workload.leases):
            return earlier(found, self.workload.leases[self._next_request].request.submitted)
        return None if not expects and self.engine.is_idle else found

    def _is_over(self) -> bool:
        stop_when = self.settings.stop_when
        if stop_when is StopWhen.BEST_EFFORT_SUBMITTED:
            rest = self.workload.leases[self._next_request :]
            return not any(lease.request.kind is LeaseKind.BEST_EFFORT for lease in rest)
        if stop_when is StopWhen.BEST_EFFORT_DONE:
            return self.store.ended_of(LeaseKind.BEST_EFFORT) == self._best_effort_count
        return False

    def _shares(self) -> dict[str, int]:
        """Return the yield in thousandths of each fluid lease that runs."""
        live = self.planner.plan.leases.values()
        return {
            lease.lease_id: lease.progress.permille
            for lease in live
            if lease.progress is not None and lease.active_since is not None
        }

    def _stop_on_failure(self) -> None:
        failed = self.store.ended_in(LeaseState.FAILED)
        if failed is None:
            return
        message = f"lease {failed.lease_id} failed at {failed.ended}: {failed.reason}"
        if self.settings.failure_handling is FailureHandling.EXIT_RAISE:
            raise RuntimeError(message)
        raise RunFailedError(message)

    # -- requests ----------------------------------------------------------------------------------------

    def submit(self, lease: WorkloadLease) -> None:
        """Submit a request that does not come from the workload of the site; the next step decides it.

        :raises InvalidValueError: the id has been used before, or the site is not open-ended
        """
        request = lease.request
        self._check_open_ended(request)
        self._ask(lease)
        if lease.real_duration is not None:
            self._real_durations[request.lease_id] = lease.real_duration
        self._last_submission = max(self._last_submission, request.submitted)
        self._was_asked = True

    def decide(
        self, request: LeaseRequest, *, offered_for: int | None = None, real_duration: int | None = None
    ) -> Lease:
        """Submit a request that does not come from the workload of the site, and decide it at once.

        :param offered_for: seconds for which the lease is held until it is accepted; None if it need not be
        :param real_duration: as in ``WorkloadLease``
        :return: the lease, which has ended if it was refused
        :raises InvalidValueError: the id has been used before, the site is not open-ended, or the lease cannot be held
        """
        self._check_open_ended(request)
        self.planner.plan.pass_to(self.clock.now())
        if real_duration is not None:
            self._real_durations[request.lease_id] = real_duration
        self.engine.submit(request, offered_for=offered_for)
        self._last_submission = max(self._last_submission, self.clock.now())
        self.step()
        lease = self.store.lease(request.lease_id)
        assert lease is not None
        return lease

    def _check_open_ended(self, request: LeaseRequest) -> None:
        if not self.is_open_ended:
            raise InvalidValueError("site", f"may stop before lease {request.lease_id} is done; let it be open-ended")

    def _submit_due(self, now: int) -> None:
        leases = self.workload.leases
        while self._next_request < len(leases) and leases[self._next_request].request.submitted <= now:
            self._ask(leases[self._next_request])
            self._next_request += 1

    def _ask(self, lease: WorkloadLease) -> None:
        self.engine.submit(self._with_max_price(lease.request), grant=lease.grant)

    def _with_max_price(self, request: LeaseRequest) -> LeaseRequest:
        """Return the request with the most that its user would pay, if leases have prices (haizea F77)."""
        rate = users_rate(request) if self.policies.pricing.charges else None
        return request if rate is None else replace(request, max_price=rate * request.node_hours)

    # -- looking at it -----------------------------------------------------------------------------------

    def view(self) -> SiteView:
        """Return the present state. It must be used before the next change."""
        return SiteView(self.planner.plan, self.clock.now())

    def quote(self, request: LeaseRequest) -> Quote:
        """Return what would become of a request if it were submitted now. Nothing changes.

        :raises InvalidValueError: the id has been used before
        """
        # Time has passed since the last step of the site. No transfer of a disk image may be planned in it.
        self.planner.plan.pass_to(self.clock.now())
        return self.engine.quote(self._with_max_price(request))

    def ended(self) -> int:
        """Return the number of leases that have ended."""
        return sum(self.store.ended_of(kind) for kind in LeaseKind)

    # -- the result --------------------------------------------------------------------------------------

    def result(self, wall_s: float) -> RunResult:
        """Return the result, once, when the simulation is over.

        :param wall_s: seconds of real time that the simulation took
        """
        result = RunResult(
            workload_name=self.workload.name,
            site=self.site,
            leases=tuple(self.store.load()),
            occupations=tuple(self.recorder.occupations),
            counters=dict(sorted(self._counters().items())),
            start=0,
            end=self.last_instant,
            last_submission=self._last_submission,
            wall_s=wall_s,
            breaches=tuple(self.recorder.breaches),
            peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
        return self._accounted(result)

    def _counters(self) -> dict[str, int]:
        """Return the counters of the run; breaches are counted only if there are penalties, since Haizea has none."""
        counted = Counter(self.recorder.counters)
        if self.policies.penalty.charges:
            counted.update(f"breaches_{breach.kind.value.replace('-', '_')}" for breach in self.recorder.breaches)
        return counted

    def _accounted(self, result: RunResult) -> RunResult:
        """Return the result with the records of the probes."""
        if self._probes:
            self.store.tell(self.planner.plan, result.end)
        for probe in self._probes:
            probe.finish(result)
        leases, order = self._accounting.leases, (lease.lease_id for lease in result.leases)
        self._accounting.leases = {lease_id: leases[lease_id] for lease_id in order if lease_id in leases}
        counter = self._accounting.counters.get(DISK_USAGE)
        used = tuple((entry.instant, int(entry.value)) for entry in counter.entries) if counter is not None else ()
        return replace(result, accounting=self._accounting, disk_usage=used)


def earlier(one: int | None, other: int | None) -> int | None:
    """Return the earlier of two instants. None means no instant."""
    return other if one is None or (other is not None and other < one) else one
