"""The engine of a site while it leads: every step is written in one transaction, then carried out."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition, Event, Lock, RLock, Thread
from typing import Any

from lease_scheduler.cloud.differences import Difference, Problem
from lease_scheduler.cloud.driver import (
    Driver,
    DriverEvent,
    Expectation,
    HostsOccupiedError,
    Order,
    StepFailedError,
    WaitingClock,
)
from lease_scheduler.cloud.executor import Executor
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import (
    UNAWAITED,
    Admission,
    CloudEvent,
    EventKind,
    Operation,
    OperationKind,
    Penalty,
)
from lease_scheduler.engine.records import (
    FloatingIpRecord,
    HostRecord,
    Intent,
    SeriesRecord,
)
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, StoreFullError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.base import Kept, PricingPolicy
from lease_scheduler.policy.pricing.free import Free
from lease_scheduler.service.announcer import Announcer, coming
from lease_scheduler.service.before_end import BeforeEnd
from lease_scheduler.service.clock import JumpWatch
from lease_scheduler.service.image_carriage import ImageCarriage
from lease_scheduler.service.image_sizes import ImageSizes
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.journal import log_written
from lease_scheduler.service.metrics.engine import EngineMetrics
from lease_scheduler.service.metrics.state import Observation
from lease_scheduler.service.occupied_alarm import OccupiedAlarm
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.orders import order_of
from lease_scheduler.service.preemption_warnings import PreemptionWarnings
from lease_scheduler.service.promised_ends import PromisedEnds
from lease_scheduler.service.reconcile import (
    Leases,
    Reconciliation,
    as_differences,
    compute_hosts,
    count,
    decide,
    expectations,
    settled,
    stuck_leases,
)
from lease_scheduler.service.repairs import Repairs
from lease_scheduler.service.replacements import Replacements
from lease_scheduler.service.site import SiteBuilder
from lease_scheduler.service.terms import Pool
from lease_scheduler.service.unit_of_work import StepClock, UnitOfWork
from lease_scheduler.store.sql.faults import FULL, is_full

LOG = logging.getLogger(__name__)

#: Real seconds for which whoever asks for metrics waits for the engine; the plan of a moment ago will do.
_MOMENT = 0.5

#: Longest real seconds between two looks at the clock. A wait is not cut short when somebody sets the clock, and does
#: not count the time for which a machine sleeps.
_LONGEST_WAIT = 2.0

#: Real seconds after which a step is told of as one that may hang.
_LONG_STEP = 5.0

#: How the store says that a host is out of service until somebody brings it back.
_FOR_GOOD = 2**62


#: Makes a planner for a site.
MakePlanner = Callable[[Site], Planner]

#: Makes a pricing policy that has learnt nothing yet.
MakePricing = Callable[[], PricingPolicy]


#: Exchanges the policies; told what each pricing policy has learnt, by its name.
ReplacePolicies = Callable[[Mapping[str, Mapping[str, Kept]]], None]


def no_prices() -> PricingPolicy:
    """Leases have no prices."""
    return Free(PolicyOptions())


class SiteEngine:
    """Restores the plan from the store, then serves requests and does what is due, until it is closed or broken.

    A step that cannot be written leaves this engine broken: what it holds in memory may differ from the store, so it is
    thrown away and another one is built from the store.

    :param store: taken over by the caller
    :param on_broken: told once when it breaks
    :param make_pricing: what leases cost; what the policy learns is kept by its name
    :param penalty: what terms cost that are not kept; nothing if there is none
    :param metrics: where what happens is counted
    """

    def __init__(
        self,
        store: ServiceStore,
        driver: Driver,
        clock: WaitingClock,
        make_planner: MakePlanner,
        admission: Admission,
        options: ServiceOptions,
        on_broken: Callable[[], None],
        make_pricing: MakePricing = no_prices,
        penalty: Penalty | None = None,
        metrics: EngineMetrics | None = None,
    ) -> None:
        self.store = store
        self.driver = driver
        self.clock = clock
        self.options = options
        self._metrics = (metrics or EngineMetrics()).events
        self._seen: Observation | None = None
        self._on_broken = on_broken
        #: Called after something was written.
        self.on_written: Callable[[], None] | None = None
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._woken = False
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
        #: Sizes of disk images, none if they are not brought ahead.
        self.images = None if self.planner.ahead is None else ImageSizes(driver, options.fallback_image_mb)
        self.pricing = make_pricing()
        #: What pricing policies have learnt, by their names.
        self._learnt = {name: dict(kept) for name, kept in snapshot.pricing.items()}
        self.pricing.restore(snapshot.pricing.get(self.pricing.name, {}))
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
        self._occupied_alarm = OccupiedAlarm(self.transaction, self.work.notify)
        self._executor = Executor(driver, clock, self._record_steps, self._over, options.workers)
        self._repairs = Repairs(driver, self.engine, self.work, self._is_busy)
        self._images_on_their_way = ImageCarriage(driver, clock, lambda: self.engine.site, self._noticed)
        self._ends = PromisedEnds(driver.tell_ends)
        self._announcer = Announcer(self._coming, driver.announce)
        self._jumps = JumpWatch()
        self._pool_lock = Lock()
        #: Takes in hosts that somebody has put into the pool in the cloud; none to leave that to requests.
        self.discover: Callable[[], None] | None = None
        self._observer: Observer | None = None
        self._stopping = Event()
        self._timer = Thread(target=self._run, name="planner", daemon=True)
        self._reconciler = Thread(target=self._reconcile_now_and_then, name="reconcile", daemon=True)

    # -- life ------------------------------------------------------------------------------------------------

    def start(self, observer: Observer | None = None) -> None:
        """Repair what does not agree, go on with what was begun, and do what is due from now on.

        :param observer: is told what the cloud sees by itself
        """
        with self._lock:
            for intent in self.work.open_intents():
                self._executor.submit(order_of(intent, self.work, self.engine.site))
        self._ends.start(self.engine.live_leases())
        self._observer = observer
        # What is due does not wait for a cloud that takes its time to be compared.
        self._timer.start()
        self._reconciler.start()
        if self.options.announce_horizon:
            self._announcer.start()
        self._images_on_their_way.start()

    def close(self) -> None:
        """Finish what is being done at this moment and stop."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()
        self._stopping.set()
        self._announcer.stop()
        self._ends.stop()
        self._images_on_their_way.stop()
        # It may be about to start the driver.
        if self._reconciler.is_alive():
            self._reconciler.join()
        self.driver.stop()
        self._executor.stop()
        if self._timer.is_alive():
            self._timer.join()

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
        with self._lock:
            if self._closed or self._broken:
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
                self._break()
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
        if self._lock.acquire(timeout=_MOMENT):
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
                self._lock.release()
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
        self._metrics.counted(counts, refusals)
        if refusals or not changes.is_empty():
            self._metrics.planned(planning_seconds)
        if not changes.is_empty():
            orders = [order_of(intent, self.work, self.engine.site, changes) for intent in intents]
            began = time.perf_counter()
            self.store.commit(changes)
            self._metrics.written(changes, time.perf_counter() - began)
            log_written(changes, orders)
            for lease in changes.leases.values():
                self._ends.note(lease)
            if changes.messages and self.on_written is not None:
                self.on_written()
            for order in orders:
                self._executor.submit(order)
            self.wake()
        for transfer in self.work.take_transfers():
            self._images_on_their_way.begin(transfer)

    def _take_learnt(self) -> None:
        """Keep what the pricing policy has learnt since the last time."""
        name = self.pricing.name
        for subject, learnt in self.pricing.take_changes().items():
            self.work.changes.pricing[name, subject] = learnt
            self._learnt.setdefault(name, {})[subject] = learnt

    def take_over(self, options: ServiceOptions, replace_policies: ReplacePolicies) -> None:
        """Go on with other options and policies; what the pricing policy has learnt is not lost.

        :param replace_policies: told what pricing policies have learnt
        :raises EngineUnavailableError: the engine is closed or broken
        """
        with self.transaction():
            self._take_learnt()
            replace_policies(self._learnt)
            self.options = options

    def _break(self) -> None:
        self._broken = True
        self._changed.notify_all()
        self._on_broken()

    def wake(self) -> None:
        """Have the planner look whether something is due."""
        with self._lock:
            self._woken = True
            self._changed.notify_all()

    def _run(self) -> None:
        """The planner's thread."""
        while True:
            with self._lock:
                if self._closed or self._broken:
                    return
                if not self._has_work():
                    pause = self._pause()
                    self._changed.wait(_LONGEST_WAIT if pause is None else min(pause, _LONGEST_WAIT))
                    self._note_jump()
                    if not self._has_work() and self._pause() != 0.0:
                        continue
                self._woken = False
                try:
                    # Refused by an engine that was closed or broken in the meantime.
                    with self.transaction():
                        pass
                except EngineUnavailableError:
                    return

    def _has_work(self) -> bool:
        """Whether the planner need not wait until something is due."""
        return self._woken or self._closed or self._broken or self.work.has_reports

    def _note_jump(self) -> None:
        """Have what waits for an instant looked at again if the clock has jumped."""
        jumped = self._jumps.jump()
        if jumped:
            direction = "forward" if jumped > 0 else "back"
            LOG.warning("the clock was set %s by %.0f s, or this machine slept", direction, abs(jumped))
            self._executor.ask_all_again()

    def _pause(self) -> float | None:
        """Real seconds until something is due, none if nothing is."""
        instants = (self.engine.next_due(), self.before_end.next_due(), self._warnings.next_due())
        due = min((instant for instant in instants if instant is not None), default=None)
        return None if due is None else self.clock.seconds_until(due)

    # -- the cloud -------------------------------------------------------------------------------------------

    def _over(self, order: Order, error: StepFailedError | None) -> None:
        """An order is over; called by the executor from one of its workers."""
        intent = Intent(order.intent_id, order.lease_id, order.operation)
        now = self.clock.now()
        event: CloudEvent | None = None
        if order.operation is None or order.operation.kind in UNAWAITED:
            # The engine waits for neither.
            if isinstance(error, HostsOccupiedError):
                event = self._refused(order, error, now)
            elif error is not None:
                LOG.error("lease %s: the cloud could not do what nobody waits for: %s", order.lease_id, error)
            elif order.operation is not None and order.operation.kind is OperationKind.ADJUST and not order.without:
                event = CloudEvent(EventKind.ADJUSTED, now, order.lease_id)
        elif error is None:
            event = CloudEvent(EventKind.COMPLETED, now, order.lease_id)
        elif isinstance(error, HostsOccupiedError):
            event = self._refused(order, error, now)
        else:
            LOG.warning("lease %s: %s has failed: %s", order.lease_id, order.operation.kind.value, error)
            host = None if error.host is None else self.engine.site.index.get(error.host)
            event = CloudEvent(EventKind.FAILED, now, order.lease_id, host, str(error))
        self.work.report(intent, event)
        self.wake()
        if isinstance(error, HostsOccupiedError):
            self._occupied_alarm.raise_for(order.lease_id, error, now)
        elif order.operation is None or not order.without:
            self._occupied_alarm.forget(order.lease_id)

    def _refused(self, order: Order, error: HostsOccupiedError, now: int) -> CloudEvent:
        """Return the event that a lease does not get hosts because others are on them."""
        index = self.engine.site.index
        occupied = frozenset(index[host] for host in error.servers if host in index)
        return CloudEvent(EventKind.FAILED, now, order.lease_id, reason=str(error), occupied=occupied)

    def _happened(self, event: DriverEvent) -> None:
        """Something happened in the cloud by itself; called by the driver."""
        host = None if event.host is None else self.engine.site.index.get(event.host)
        if event.host is None or host is not None:
            self._noticed(CloudEvent(event.kind, self.clock.now(), event.lease_id, host, event.reason))

    def _noticed(self, event: CloudEvent) -> None:
        """Have the engine told of something that no order of a lease waits for."""
        self.work.report(None, event)
        self.wake()

    def _coming(self) -> dict[str, int]:
        with self._lock:
            leases, site = self.engine.live_leases(), self.engine.site
        return coming(leases, site, self.clock.now(), self.options.announce_horizon)

    def ask_again(self, lease_id: str | None, host: str | None) -> None:
        """Something happened to servers of a lease, or on a host, that may be waited for."""
        self._executor.ask_again(lease_id, host)

    def restore_hosts(self, lease_id: str, hosts: frozenset[str] | None) -> None:
        """Have the cloud give a running lease its hosts again if these are not the ones.

        :param hosts: names of those that something of the lease has in the cloud, none if it is gone. It need not have
            all of them; that one is missing from all is seen when lease and cloud are compared
        """
        with self.transaction():
            lease = self.engine.lease(lease_id)
            if lease is None or lease.active_since is None or self._is_busy(lease_id):
                return
            planned = compute_hosts(lease, self.engine.site)
            is_part = len({node_set.resources.get(HOST_SHARE) for node_set in lease.request.nodes}) > 1
            if hosts is None or hosts - planned or (planned - hosts and not is_part):
                found = "none" if hosts is None else ", ".join(sorted(hosts))
                LOG.warning("lease %s is brought back to its hosts; it had %s", lease_id, found)
                self.adjust(lease)

    def _is_busy(self, lease_id: str) -> bool:
        return self._executor.is_busy(lease_id) or any(
            intent.lease_id == lease_id for intent in self.work.open_intents()
        )

    def _record_steps(self, reached: Any) -> None:
        try:
            self.store.record_steps(list(reached))
        except Exception:
            with self._lock:
                self._break()
            raise

    def reconcile(self, *, dry_run: bool = False) -> Reconciliation:
        """Compare intents, leases and cloud, and repair what differs.

        :param dry_run: whether nothing is repaired
        """
        began = time.perf_counter()
        with self._lock:
            before, pool = self._leases(), [host.name for host in self.hosts.values()]
        expected = expectations(before)
        # The cloud may take its time; the plan goes on meanwhile.
        footprints = list(self.driver.footprints())
        found = self.driver.differences(expected, before.vms(), pool)
        with self._lock if dry_run else self.transaction():
            leases = self._leases()
            actions = decide(leases, before, footprints)
            differences = settled(found, leases, before, self.store.of_leases_that_are_over)
            differences += as_differences(actions, differences)
            repaired = count(actions)
            if not dry_run:
                repaired.update(self._repairs.plan(actions, differences))
                self.engine.step()
        if not dry_run:
            repaired.update(self._repair({each.order.lease_id: each for each in expected}, differences))
            self._metrics.reconciled(repaired, time.perf_counter() - began, time.time())
        self._metrics.compared(differences)
        return Reconciliation(tuple(differences), dict(repaired))

    def _leases(self) -> Leases:
        """The live leases as they are now."""
        intents = self.work.open_intents()
        live = {lease.lease_id: lease for lease in self.engine.live_leases()}
        begun = {intent.lease_id for intent in intents}
        busy = begun | {lease_id for lease_id in live if self._executor.is_busy(lease_id)}
        now = self.clock.now()
        documents = dict(self.work.documents)
        return Leases(live, documents, self.engine.site, frozenset(busy), stuck_leases(intents, now), now)

    def nobody(self) -> Leases:
        """No leases at all, which is what there should be when the service is uninstalled."""
        return Leases({}, {}, self.engine.site, frozenset(), frozenset(), self.clock.now())

    def _repair(self, expected: Mapping[str, Expectation], differences: Collection[Difference]) -> Counter[str]:
        """Do what no operation does: of suspended leases, of server groups, and of what is left over."""
        repaired: Counter[str] = Counter()
        with self._lock:
            # So that nothing of it is resumed meanwhile.
            repaired["repaired"] += self._repairs.remember(expected, differences)
        groups = self._repairs.new_groups(differences)
        if groups:
            with self.transaction():
                unwanted = self._repairs.follow_groups(groups)
            self.driver.remove_groups(unwanted)
            repaired["repaired"] += len(groups)
        left_over = [each for each in differences if each.problem is Problem.LEFT_OVER]
        if left_over:
            with self._lock:
                live = self._leases().vms()
            repaired["removed"] += self.driver.remove_left_over(left_over, live)
        return repaired

    def _reconcile_now_and_then(self) -> None:
        """The thread that looks whether leases and cloud still agree, at first before the driver tells anything."""
        try:
            self._try_to_reconcile()
            if not self._stopping.is_set() and not self._watches():
                return
            while not self._stopping.wait(self.options.reconcile_interval):
                self._try_to_reconcile()
        except EngineUnavailableError:
            return

    def _watches(self) -> bool:
        """Have the driver tell what happens; return whether it does. An engine that hears nothing must not lead."""
        try:
            self.driver.start(self._happened, self._observer)
        except Exception:
            LOG.exception("what happens in the cloud cannot be seen; the plan is built anew")
            with self._lock:
                self._break()
            return False
        return True

    def follow_pool(self) -> None:
        """Have the cloud keep the hosts of the pool for leases; what fails is tried again at the next comparison."""
        with self._pool_lock:
            with self._lock:
                names = [host.name for host in self.hosts.values()]
            try:
                self.driver.set_pool(names)
            except Exception:
                LOG.exception("the cloud could not be told which hosts are for leases; it is tried again")

    def _try_to_reconcile(self) -> None:
        """Compare and repair; a cloud that does not answer keeps nobody from planning."""
        if self.discover is not None:
            self.discover()
        self.follow_pool()
        try:
            repaired = self.reconcile().repaired
        except EngineUnavailableError:
            raise
        except Exception:
            self._metrics.not_reconciled()
            LOG.exception("leases and cloud could not be compared; it is tried again")
            return
        if any(repaired.values()):
            LOG.warning("leases and cloud did not agree, repaired: %s", repaired)

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
        assignment = lease.reservations[0].assignment
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
            self.images,
            frozenset(private) if hides_private else frozenset(),
        )

    def put_host(self, host: HostRecord) -> None:
        """Keep a new value of a host."""
        self.hosts[host.host_id] = host
        self.work.changes.hosts[host.host_id] = host
