"""The plan of a site in memory, and the transactions in which it changes together with the store."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition, RLock
from typing import Any

from lease_scheduler.cloud.driver import Driver, Order, WaitingClock
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import UNAWAITED, Operation, OperationKind
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, StoreFullError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.base import Learnt, Policy, PolicyOptions
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.pricing.free import Free
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.before_end import BeforeEnd
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.journal import log_written
from lease_scheduler.service.known_images import KnownImages
from lease_scheduler.service.metrics.engine import EngineMetrics
from lease_scheduler.service.metrics.state import Observation
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.orders import order_of
from lease_scheduler.service.preemption_warnings import PreemptionWarnings
from lease_scheduler.service.replacements import Replacements
from lease_scheduler.service.site import SiteBuilder
from lease_scheduler.service.terms import Pool
from lease_scheduler.service.unit_of_work import StepClock, UnitOfWork
from lease_scheduler.store.sql.faults import FULL, is_full

LOG = logging.getLogger(__name__)


#: Real seconds for which whoever asks for metrics waits for the engine; the plan of a moment ago will do.
_MOMENT = 0.5

#: Real seconds after which a step is told of as one that may hang.
_LONG_STEP = 5.0

#: How the store says that a host is out of service until somebody brings it back.
_FOR_GOOD = 2**62

#: Makes a planner for a site.
MakePlanner = Callable[[Site], Planner]

#: Makes a pricing policy that has learnt nothing yet.
MakePricing = Callable[[], PricingPolicy]

#: Exchanges the policies; told what policies have learnt, by (family, name).
ReplacePolicies = Callable[[Mapping[tuple[str, str], Mapping[str, Learnt]]], None]


def no_prices() -> PricingPolicy:
    """Leases have no prices."""
    return Free(PolicyOptions())


def _learning(
    planner: Planner, admission: AdmissionPolicy, pricing: PricingPolicy, penalty: PenaltyPolicy | None
) -> dict[str, Policy]:
    """Return the policies of an engine by family, those that can learn."""
    context = planner.context
    policies: dict[str, Any] = {
        "admission": admission,
        "preemption": context.preemption,
        "host_selection": context.selection,
        "mapper": context.mapper,
        "pricing": pricing,
        "penalty": penalty,
    }
    # The planner's own default mapper is no policy.
    return {family: policy for family, policy in policies.items() if hasattr(policy, "take_changes")}


class SitePlan(ABC):
    """Restores the plan from the store, and keeps both alike: every change is written, then handed on.

    A step that cannot be written leaves it broken: what it holds in memory may differ from the store, so it is thrown
    away and another one is built from the store.

    :param store: taken over by the caller
    :param on_broken: told once when it breaks
    :param make_pricing: what leases cost; what the policy learns is kept by its name
    :param penalty: what terms cost that are not kept; nothing if there is none
    :param metrics: where what happens is counted
    :ivar lock: held by whoever reads or changes the plan
    :ivar changed: told when it is closed or broken, and whenever something is to be done
    """

    def __init__(
        self,
        store: ServiceStore,
        driver: Driver,
        clock: WaitingClock,
        make_planner: MakePlanner,
        admission: AdmissionPolicy,
        options: ServiceOptions,
        on_broken: Callable[[], None],
        make_pricing: MakePricing = no_prices,
        penalty: PenaltyPolicy | None = None,
        metrics: EngineMetrics | None = None,
    ) -> None:
        self.store = store
        self.driver = driver
        self.clock = clock
        self.options = options
        self.metrics = (metrics or EngineMetrics()).events
        self._seen: Observation | None = None
        self._on_broken = on_broken
        self.lock = RLock()
        self.changed = Condition(self.lock)
        self._closed = False
        self._broken = False
        #: Real instant at which the present step began.
        self._begun: float | None = None
        snapshot = store.load()
        self.hosts: dict[int, HostRecord] = {host.host_id: host for host in snapshot.hosts}
        self.floating_ips: dict[str, FloatingIpRecord] = {ip.floating_ip_id: ip for ip in snapshot.floating_ips}
        self.private_properties = dict(snapshot.private_properties)
        self.series: dict[str, SeriesRecord] = {series.series_id: series for series in snapshot.series}
        #: Ids of hosts are never given twice while this engine leads.
        self.last_host_id = max(self.hosts, default=0)
        self.work = UnitOfWork(snapshot.next_intent)
        self.work.now = clock.now()
        self.work.restore(snapshot.leases, snapshot.documents, snapshot.intents)
        self._site_builder = SiteBuilder()
        self.planner = make_planner(self._site_builder.build(snapshot.hosts, snapshot.floating_ips))
        self.images = KnownImages(driver, options.fallback_image_mb)
        self.pricing = make_pricing()
        self._policies = _learning(self.planner, admission, self.pricing, penalty)
        #: What policies have learnt, by (family, name).
        self._learnt = {key: dict(entries) for key, entries in snapshot.policy_state.items()}
        for family, policy in self._policies.items():
            # One that served an engine that broke may have learnt what was never written.
            policy.restore(self._learnt.get((family, policy.name), {}))
        self.engine = Engine(
            self.planner,
            admission,
            StepClock(self.work),
            self.work,
            self.work,
            self.work,
            options.engine,
            self.pricing,
            self.work,
            penalty=penalty,
        )
        self.work.name_of = lambda number: self.engine.site.hosts[number].name
        self.work.capacity_of = lambda number: self.engine.site.hosts[number].capacity
        current = {
            intent.lease_id: intent.operation
            for intent in snapshot.intents
            if intent.operation is None or intent.operation.kind not in UNAWAITED
        }
        outages = {
            host.name: (clock.now(), None if host.out_until == _FOR_GOOD else host.out_until)
            for host in snapshot.hosts
            if host.out_until is not None
        }
        self.engine.restore(
            snapshot.leases,
            [operation for operation in current.values() if operation is not None],
            snapshot.next_sequence,
            outages,
            # Which of them are dead the driver tells when it begins; what runs must not be moved before.
            closed=outages,
            lateness=snapshot.lateness,
            cached=snapshot.cached_images,
        )
        self.before_end = BeforeEnd(
            self.work,
            lambda lease_id: lease_id in self.engine.operations,
            saves_by_default=options.before_end == "snapshot",
        )
        lifetime = options.quote_lifetime if options.replacement_offers else 0
        self._replacements = Replacements(self.work, self.engine, lifetime)
        self._warnings = PreemptionWarnings(self.work, options.preemption_warning)

    @property
    def is_broken(self) -> bool:
        """Whether it can do nothing any more."""
        return self._broken

    @contextmanager
    def transaction(self, expires: float | None = None) -> Iterator[None]:
        """Do what is due, then what the block does; all of it is written, then carried out.

        A refusal raised by the block leaves the plan as it was, so what was due is written all the same.

        :param expires: real instant after which the block must not be run, because nobody waits for it any more
        :raises EngineUnavailableError: the engine is closed or broken, or the store could not be written
        """
        with self.lock:
            if self.is_over:
                raise EngineUnavailableError("the engine is stopping")
            if expires is not None and time.time() > expires:
                raise EngineUnavailableError("the request waited for too long; try again later")
            refused: LeaseSchedulerError | None = None
            began = time.perf_counter()
            self._begun = time.monotonic()
            try:
                # A clock that is set back must not take the plan along.
                self.work.now = max(self.work.now, self.clock.now())
                self.engine.step()
                self._replacements.offer()
                self.before_end.tell(self.work.now)
                try:
                    yield
                except LeaseSchedulerError as error:
                    refused = error
                self._write(time.perf_counter() - began)
            except BaseException as error:
                self.break_off()
                if isinstance(error, Exception) and is_full(error):
                    LOG.error("%s; the plan is built anew", FULL)
                    raise StoreFullError(FULL) from error
                if isinstance(error, Exception):
                    LOG.exception("what was planned could not be written; the plan is built anew")
                    raise EngineUnavailableError("what was planned could not be written down; try again") from error
                raise
            finally:
                self._begun = None
            if refused is not None:
                raise refused

    def problem(self) -> str | None:
        """Return what keeps this engine from working at present, or None; never waits for long."""
        if self._broken:
            return "the engine builds its plan anew"
        begun = self._begun
        if begun is not None and (seconds := time.monotonic() - begun) > _LONG_STEP:
            return f"the engine has been busy with one step for {seconds:.0f} s"
        return None

    def _note_outages(self) -> None:
        """Keep which hosts are out of service, so that it is known after a restart."""
        outages = self.engine.outages
        for host in list(self.hosts.values()):
            until = outages[host.name][1] or _FOR_GOOD if host.name in outages else None
            if host.out_until != until:
                self.put_host(replace(host, out_until=until))

    def look(self) -> Observation | None:
        """The present state of the site for metrics; an earlier one while the engine is busy."""
        if self.lock.acquire(timeout=_MOMENT):
            try:
                self._seen = Observation(
                    now=self.clock.now(),
                    leases=tuple(self.work.leases.values()),
                    documents=dict(self.work.documents),
                    orders=tuple(self.work.open_intents()),
                    hosts=tuple(self.hosts.values()),
                    floating_ips=tuple(self.floating_ips.values()),
                    site=self.engine.site,
                    price_rate=self.pricing.rate(None, None) if self.pricing.charges else None,
                )
            finally:
                self.lock.release()
        return self._seen

    def _write(self, planning_seconds: float) -> None:
        self._warnings.note(self.work.changes.leases.values())
        self._warnings.tell(self.work.now)
        if self.engine.outages or any(host.out_until is not None for host in self.hosts.values()):
            self._note_outages()
        self._take_learnt()
        self.work.changes.lateness.update(self.engine.take_lateness())
        self.work.changes.cached_images.update(self.engine.take_cache_changes())
        changes, intents = self.work.take(self.work.now)
        counts, refusals = self.work.take_counts()
        self.metrics.counted(counts, refusals)
        if refusals or not changes.is_empty():
            self.metrics.planned(planning_seconds)
        if not changes.is_empty():
            orders = [order_of(intent, self.work, self.engine.site, changes) for intent in intents]
            began = time.perf_counter()
            self.store.commit(changes)
            self.metrics.written(changes, time.perf_counter() - began)
            log_written(changes, orders)
            self._carry_out(changes, orders)
        for transfer in self.work.take_transfers():
            self._bring(transfer)

    @abstractmethod
    def _carry_out(self, changes: StoreChanges, orders: Sequence[Order]) -> None:
        """Have done and told what was written."""

    @abstractmethod
    def _bring(self, transfer: Transfer) -> None:
        """Have an image brought to a host."""

    def _take_learnt(self) -> None:
        """Write what policies have learnt since the last time."""
        for family, policy in self._policies.items():
            for subject, learnt in policy.take_changes().items():
                self.work.changes.policy_state[family, policy.name, subject] = learnt
                self._learnt.setdefault((family, policy.name), {})[subject] = learnt

    def take_over(self, options: ServiceOptions, replace_policies: ReplacePolicies) -> None:
        """Go on with other options and policies; what policies have learnt is not lost.

        :param replace_policies: told what policies have learnt
        :raises EngineUnavailableError: the engine is closed or broken
        """
        with self.transaction():
            self._take_learnt()
            replace_policies(self._learnt)
            self.options = options

    @property
    def is_over(self) -> bool:
        """Whether it was stopped or is broken."""
        return self._closed or self._broken

    def stop(self) -> None:
        """Take no further step."""
        with self.lock:
            self._closed = True
            self.changed.notify_all()

    def break_off(self) -> None:
        """Take no further step, because memory and store may differ."""
        with self.lock:
            self._broken = True
            self.changed.notify_all()
            self._on_broken()

    def next_due(self) -> int | None:
        """Return the next instant at which something is due, or None."""
        instants = (self.engine.next_due(), self.before_end.next_due(), self._warnings.next_due())
        return min((instant for instant in instants if instant is not None), default=None)

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def change_site(self) -> None:
        """Have the plan follow ``hosts`` and ``floating_ips``."""
        site = self._site_builder.build(self.hosts.values(), self.floating_ips.values())
        known = self.engine.change_site(site)
        for host in self.hosts.values():
            self.store.units.assign(str(host.host_id), known.index[host.name])
        for floating_ip in self.floating_ips.values():
            self.store.units.assign(floating_ip.floating_ip_id, known.index[floating_ip.floating_ip_address])

    def adjust(self, lease: Lease) -> None:
        """Have the cloud follow a change of a lease whose VMs run."""
        assignment = lease.holdings[0].assignment
        now = self.work.now
        self.work.begin(Operation(OperationKind.ADJUST, lease.lease_id, assignment, now, now))

    def pool(self, *, hides_private: bool = False) -> Pool:
        """What there is to choose from.

        :param hides_private: whether private properties of hosts are as if there were none of them
        """
        private = {name for (_, name), is_private in self.private_properties.items() if is_private}
        return Pool(
            tuple(self.hosts.values()),
            tuple(self.floating_ips.values()),
            self.driver.flavors(),
            None if self.planner.ahead is None else self.images,
            frozenset(private) if hides_private else frozenset(),
        )

    def put_host(self, host: HostRecord) -> None:
        """Keep a new value of a host."""
        self.hosts[host.host_id] = host
        self.work.changes.hosts[host.host_id] = host
