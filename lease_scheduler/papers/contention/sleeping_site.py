"""Runs of a site whose hosts sleep (Amini Salehi 2012, section 6.4; contention E12, E13).

External requests are the jobs of BLUE1, the recorded month of Sotomayor 2010. Local requests are injected. The engine
and its power policies are those of a live site.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.power import PowerState, Watts
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.contention import one_site
from lease_scheduler.plan.durations.overhead_model import OverheadRates
from lease_scheduler.simulation.generators.distributions import DiscreteUniform, Uniform
from lease_scheduler.simulation.generators.reservations import SIZES, ReservationRules, generate_by_rules
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Policy of the dissertation -> name of ours.
POLICIES: Mapping[str, str] = MappingProxyType({"GESP": "gesp", "SESP": "sesp", "PEMP": "pemp"})

#: Number of hosts of the site, to which the shares of the workload refer.
HOSTS = 512
DAYS = 30
_HOUR = 3_600
_DAY = 24 * _HOUR
#: Share of the site that external requests use, which BLUE1 does not reach with the run times of the log.
_EXTERNAL_SHARE = 0.348
#: Longest acceptable waiting time, as a multiple of the mean duration of external requests.
_WAITING_FACTOR = 5.0
_VM = Resources({VCPU: 100, MEMORY_MB: 1024})
_WATTS = Watts(awake=117.0)
#: The network is ten times as fast as in chapter 3.
_FASTER = 10.0
_RATES = OverheadRates()
#: Days after the last request at which a run ends. Some policies wake no hosts for queued requests. Requests for more
#: hosts than are ever awake would then wait for ever.
_PATIENCE = 60
#: Seconds between two decisions about requests that wait.
_INTERVAL = 1_800


@dataclass(frozen=True)
class EnergyCase:
    """A run.

    :ivar policy: a key of ``POLICIES``
    :ivar local: work of local requests in per cent
    :ivar hours: mean duration of local requests
    :ivar size: a key of ``SIZES``, their number of nodes
    :ivar hosts: number of hosts
    :ivar is_scaled: whether external requests run longer than in the log, so that they use 34.8 % of 512 hosts
    :ivar of_all: whether ``local`` is a share of the work of all requests, not of what 512 hosts can do
    :ivar wake_s: seconds that a host takes to wake; it takes half as long to fall asleep
    :ivar days: length of the workload
    :ivar seed: seed of the local requests
    """

    policy: str
    local: int = 15
    hours: int = 3
    size: str = "medium"
    hosts: int = HOSTS
    is_scaled: bool = True
    of_all: bool = False
    wake_s: int = 120
    days: int = DAYS
    seed: int = 1

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        external = "scaled" if self.is_scaled else "recorded"
        share = " of-all" if self.of_all else ""
        local = f"local={self.local}{share} hours={self.hours} size={self.size}"
        return (
            f"energy {self.policy} {external} {local} hosts={self.hosts} wake={self.wake_s} days={self.days} "
            f"seed={self.seed}"
        )

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return 13.0 * self.days / DAYS

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        meter = Meter(self.hosts, self.days * _DAY)
        workload = energy_workload(self)
        result = Run(workload, run_settings(self)).execute([meter])
        return {**figures(result), **meter.figures()}


class Meter:
    """A watcher that adds up for how long hosts are on.

    A host is off while it is asleep; while it wakes or falls asleep it is on.

    :param hosts: number of hosts
    :param until: end of the period that is measured, besides the whole run
    """

    def __init__(self, hosts: int, until: int) -> None:
        self._hosts = hosts
        self._until = until
        self._since = 0
        self._on = hosts
        self._seconds = 0
        self._seconds_in_period = 0

    def __call__(self, site: SiteRun) -> None:
        """See ``simulation.site_run.Watcher``."""
        now = site.clock.now()
        self._seconds += self._on * (now - self._since)
        self._seconds_in_period += self._on * (min(now, self._until) - min(self._since, self._until))
        self._since = now
        self._on = self._hosts - site.engine.hosts.sleeping

    def figures(self) -> dict[str, float]:
        """Return the energy in kWh."""
        # Sleeping hosts take no power here, so awake hosts take as much as they would save by sleeping.
        return {
            "energy_kwh": _WATTS.saved_wh(self._seconds_in_period) / 1_000,
            "energy_to_the_end_kwh": _WATTS.saved_wh(self._seconds) / 1_000,
        }


def energy_workload(case: EnergyCase) -> Workload:
    """Return the external requests with the local ones (section 6.4.1)."""
    span = case.days * _DAY
    external = [each for each in external_requests(case.is_scaled) if each.request.submitted < span]
    if case.of_all:
        work = sum(each.request.node_count * each.request.duration for each in external)
        wanted = work * case.local / (100 - case.local)
    else:
        wanted = HOSTS * span * case.local / 100
    smallest, largest = SIZES[case.size]
    mean = case.hours * _HOUR
    count = max(1, round(wanted / (mean * (smallest + largest) / 2)))
    # An hour to either side, if requests do not come more often than that.
    half = min(_HOUR, span // count)
    rules = ReservationRules(
        name="local",
        site=Site.homogeneous(case.hosts, _VM),
        resources=_VM,
        nodes=DiscreteUniform(smallest, largest),
        duration=Uniform(mean - _HOUR / 2, mean + _HOUR / 2),
        interval=Uniform(-half, half),
        span=span,
        count=count,
        notice=notice(case),
    )
    base = Workload("blue1", tuple(external), rules.site)
    return inject(base, generate_by_rules(rules, case.seed))


def notice(case: EnergyCase) -> int:
    """Return how many seconds ahead local requests are made, which suffices to wake any host."""
    return _power_options(case).lead(PowerState.FALLING_ASLEEP)


@cache
def external_requests(is_scaled: bool) -> tuple[WorkloadLease, ...]:
    """Return the jobs of BLUE1 as requests for the time that they ran.

    :param is_scaled: whether to multiply their run times so that they use 34.8 % of 512 hosts in 30 days
    """
    leases = load_workload("blue1").leases
    factor = _EXTERNAL_SHARE * HOSTS * DAYS * _DAY / sum(map(_work, leases)) if is_scaled else 1.0
    return tuple(WorkloadLease(_external(lease, factor)) for lease in leases)


def _external(lease: WorkloadLease, factor: float) -> LeaseRequest:
    duration = max(1, round(_run_time(lease) * factor))
    # What is suspended is on shared storage, so its hosts may sleep.
    return replace(lease.request, duration=duration, preemption_mode=PreemptionMode.SHELVE, origin="peer")


def _work(lease: WorkloadLease) -> int:
    return lease.request.node_count * _run_time(lease)


def _run_time(lease: WorkloadLease) -> int:
    return lease.request.duration if lease.real_duration is None else lease.real_duration


def run_settings(case: EnergyCase) -> RunSettings:
    """Return the settings: those of chapter 3 with MOV, a faster network, and hosts that sleep."""
    settings = one_site.run_settings("mov")
    planning = replace(
        settings.planning,
        suspend_rate=_FASTER * _RATES.suspend_rate,
        resume_rate=_FASTER * _RATES.resume_rate,
    )
    return replace(
        settings.with_policies(power=POLICIES[case.policy]),
        planning=planning,
        engine=EngineOptions(explain_refusals=False, power=_power_options(case)),
        stop_when=StopWhen.EXACT,
        stop_time=(case.days + _PATIENCE) * _DAY,
        policy_options={**settings.policy_options, "power_waiting_factor": str(_WAITING_FACTOR)},
    )


def _power_options(case: EnergyCase) -> PowerOptions:
    """Return the options: a host sleeps once nothing at all is planned on it (section 6.3.2)."""
    return PowerOptions(
        wake_time=case.wake_s,
        shutdown_time=case.wake_s // 2,
        margin=1,
        sleep_horizon=10_000 * _DAY,
        minimum_on_time=0,
        interval=_INTERVAL,
        confirms=False,
    )


def figures(result: RunResult) -> dict[str, Any]:
    """Return the metrics of the dissertation (contention 4.7), as JSON values.

    Requests that are not done when the run ends have waited until then.
    """
    local = [lease for lease in result.leases if lease.request.origin is None]
    external = [lease for lease in result.leases if lease.request.origin is not None]
    mean = sum(lease.request.duration for lease in external) / len(external)
    waits = [_wait(lease, result.end) for lease in external]
    return {
        "violations_percent": 100 * sum(wait > _WAITING_FACTOR * mean for wait in waits) / len(external),
        "mean_wait_h": sum(waits) / len(waits) / _HOUR,
        "local_rejected": sum(lease.state is LeaseState.REJECTED for lease in local),
        # Also those that were accepted and never started.
        "local_late": sum(
            lease.started != lease.request.start for lease in local if lease.state is not LeaseState.REJECTED
        ),
        "external_not_done": sum(lease.state is not LeaseState.DONE for lease in external),
        "local_requests": len(local),
        "preempted_leases": result.counters.get("preempted_leases", 0),
        "lost_work": result.counters.get("preempted_leases", 0) - result.counters.get("preemptions_without_loss", 0),
        "emptied_hosts": result.counters.get("emptied_hosts", 0),
        "host_wakes": result.counters.get("host_wakes", 0),
        "end_days": result.end / _DAY,
        "wall_s": result.wall_s,
    }


def _wait(lease: Lease, end: int) -> int:
    """Return for how many seconds a lease did not run, from its request on."""
    if lease.ended is None:
        return end - lease.request.submitted - lease.accumulated
    return lease.ended - lease.request.submitted - lease.request.duration
