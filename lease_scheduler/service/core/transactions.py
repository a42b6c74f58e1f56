"""The in-memory plan of a site, and the transactions that change it together with the store."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.engine.interfaces import Operation, OperationKind, WaitingClock
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, StoreFullError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.power import PowerState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.policy.queueing.report import FlowReport
from lease_scheduler.prediction.coverage import Covered
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.before_end import BeforeEnd
from lease_scheduler.service.core.clock import real_time
from lease_scheduler.service.core.flow_weights import STORED, FlowWeights, stored_weights
from lease_scheduler.service.core.host_states import HostStates
from lease_scheduler.service.core.journal import log_written
from lease_scheduler.service.core.known_images import KnownImages
from lease_scheduler.service.core.learning import Learning, by_pool_and_family, learners
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.core.orders import order_of
from lease_scheduler.service.core.peer_book import PeerBook
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies
from lease_scheduler.service.core.pools import Pools
from lease_scheduler.service.core.refusals import refusals
from lease_scheduler.service.core.reminders import BeforeStart, PreemptionWarnings, Reminders
from lease_scheduler.service.core.replacements import Replacements
from lease_scheduler.service.core.restoring import pool_parts, restored_engines, restored_work
from lease_scheduler.service.core.site_records import SiteRecords
from lease_scheduler.service.core.terms import Pool
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.telling.subscriptions.book import SubscriptionBook
from lease_scheduler.store.sql.faults import FULL, is_full

LOG = logging.getLogger(__name__)

#: Real seconds after which a running step is reported as possibly hanging.
_LONG_STEP = 5.0


class SiteTransactions:
    """The plan of a site in memory, restored from the store, and the transactions that keep both equal.

    Every change is first written, then carried out. When a step cannot be written, memory and store may differ. The
    plan is then broken: it is discarded, and a new one is built from the store.

    :param store: the caller has taken it over
    :param policies: what they learn is stored by pool, family and name
    :param on_broken: called once when the plan breaks
    :param metrics: counts events
    :param pools: how each pool is planned, in the configured order; None if the site has only one, which is planned by
        the policies
    :raises InvalidValueError: a host or a live lease is in a pool that is not among them
    :ivar lock: hold it to read or change the plan
    :ivar real: real time, for what does not follow the clock of the site
    :ivar carry_out: called with what was written and with the new orders. By default, nothing is carried out
    :ivar follow_wishes: called after the wanted power of hosts was written. By default, nothing is switched
    :ivar bring: called with each transfer of an image that begins. By default, nothing is brought
    :ivar unfiltered: servers that the cloud had let onto hosts that leases have for themselves, at the last comparison
    """

    def __init__(
        self,
        store: ServiceStore,
        driver: Driver,
        clock: WaitingClock,
        policies: SitePolicies,
        options: ServiceOptions,
        on_broken: Callable[[], None],
        metrics: EngineMetrics | None = None,
        pools: Mapping[str, PoolPlanning] | None = None,
    ) -> None:
        self.store, self.driver, self.clock, self.options = store, driver, clock, options
        self.real = real_time(clock)
        self.metrics = (metrics or EngineMetrics()).events
        self.carry_out: Callable[[StoreChanges, Sequence[AnyOrder]], None] = lambda changes, orders: None
        self.bring: Callable[[Transfer], None] = lambda transfer: None
        self._on_broken = on_broken
        self.lock = RLock()
        self.follow_wishes: Callable[[], None] = lambda: None
        self._closed = False
        self._broken = False
        #: Real instant at which the current step began.
        self._begun: float | None = None
        self.unfiltered: frozenset[str] = frozenset()
        #: Whether everything that the current block made due has been done.
        self._is_settled = True
        self.pools = Pools(pools or {})
        if self.pools.first is not None:
            store.join_pool(self.pools.first)
        snapshot = store.load()
        self.pools.check(snapshot)
        self.work = restored_work(snapshot, clock.now())
        self.records = SiteRecords(snapshot, self.work)
        self.host_states = HostStates(self.records)
        #: Idle leases, by id: since when they are idle.
        self.idleness: dict[str, Idleness] = dict(snapshot.idleness)
        #: Subscriptions of projects to notifications.
        self.subscriptions = SubscriptionBook(snapshot.subscriptions, self.real.wall)
        self.images = KnownImages(driver, options.fallback_image_mb, self.real.steady)
        where = (self.records.site(), self.records.pool_of_units())
        #: Parts of the engine of each pool.
        self.parts = pool_parts(*where, self.pools.plannings or {None: PoolPlanning(policies, options.engine)})
        #: Weights of flows, the same in all pools.
        self.weights = FlowWeights(stored_weights(snapshot.policy_state))
        self._follow_weights()
        self.peers = PeerBook(snapshot.policy_state)
        self._learning = Learning(learners(self.parts), snapshot.policy_state)
        self.engine = restored_engines(snapshot, self.work, *where, self.parts)
        #: Reminders before the ends of leases: which are due, and how they are sent.
        self.ends = BeforeEnd(
            self.work,
            lambda: 60 * self.options.minutes_before_end,
            lambda lease_id: lease_id in self.engine.operations,
            saves_by_default=options.before_end == "snapshot",
        )
        self.before_end = Reminders(self.ends, self.work.documents)
        #: Reminders that depend on the plan, so that every change of a lease may make one due at once.
        self._planned = (
            Reminders(PreemptionWarnings(self.work, options.preemption_warning), self.work.leases),
            Reminders(BeforeStart(self.work, 60 * options.minutes_before_start), self.work.leases),
        )
        self._replacements = Replacements(
            self.work, self.engine, self.ends, options.quote_lifetime if options.replacement_offers else 0
        )

    @property
    def is_broken(self) -> bool:
        """Whether the plan is broken and can do nothing any more."""
        return self._broken

    @contextmanager
    def request(self, context: Mapping[str, Any]) -> Iterator[None]:
        """Run the block as a request that changes something: in one transaction, with refusals as ``RefusedError``.

        :param context: the context of the request. ``expires`` is the real instant after which the caller no longer
            waits for the answer; with ``sees_site``, refusals name hosts
        :raises RefusedError: the block refuses the request
        :raises EngineUnavailableError: as in ``transaction``, or the request has expired
        """
        with self._transaction(context.get("expires"), follows=True), refusals(context):
            yield

    @contextmanager
    def inquiry(self, context: Mapping[str, Any]) -> Iterator[None]:
        """Run the block as a request that only reads the plan: like ``request``, but without a step after the block."""
        with self._transaction(context.get("expires"), follows=False), refusals(context):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do what is due, run the block, and do what it made due; then write all of it and carry it out.

        A block that raises a refusal must have left the plan unchanged. What was due before it is still written.

        :raises EngineUnavailableError: the engine is closed or broken, or the store could not be written
        """
        with self._transaction(None, follows=True):
            yield

    def step(self) -> None:
        """Do what is due.

        :raises EngineUnavailableError: as in ``transaction``
        """
        with self._transaction(None, follows=False):
            pass

    def settle(self) -> None:
        """Do what the block made due now instead of after the block.

        A block whose answer depends on it calls this, and must not change the plan afterwards.
        """
        self.engine.step()
        self._is_settled = True

    @contextmanager
    def _transaction(self, expires: float | None, *, follows: bool) -> Iterator[None]:
        """Run a transaction, see ``transaction``.

        :param expires: real instant after which the block must not run, as its caller no longer waits
        :param follows: whether the block may make something due
        """
        with self.lock:
            if self.is_over:
                raise EngineUnavailableError("the engine is stopping")
            if expires is not None and self.real.wall() > expires:
                raise EngineUnavailableError("the request waited for too long; try again later")
            refused: LeaseSchedulerError | None = None
            began = time.perf_counter()
            self._begun = self.real.steady()
            try:
                # The plan cannot go back in time, even if the clock is set back.
                self.work.now = max(self.work.now, self.clock.now())
                self.engine.step()
                self._replacements.offer()
                self.before_end.send(self.work.now)
                self._is_settled = not follows
                try:
                    yield
                except LeaseSchedulerError as error:
                    refused = error
                if refused is None and not self._is_settled:
                    self.engine.step()
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
        """Return what keeps this engine or its leases from working at present, or None. Never waits for the lock."""
        if self._broken:
            return "the engine builds its plan anew"
        begun = self._begun
        if begun is not None and (seconds := self.real.steady() - begun) > _LONG_STEP:
            return f"the engine has been busy with one step for {in_words(seconds)}"
        if self.unfiltered:
            return (
                f"LeaseFilter does not answer in nova-scheduler: it let in {len(self.unfiltered)} servers where leases "
                "have the hosts for themselves"
            )
        return None

    def wishes(self) -> dict[str, PowerState] | None:
        """Return the recorded power states of hosts, by name, or None if this engine must not act any more."""
        with self.lock:
            return None if self.is_over else self.host_states.wishes()

    def may_act(self) -> bool:
        """Return whether this engine still leads, according to the store."""
        return not self.is_over and self.store.is_mine()

    def record_steps(self, reached: Iterable[tuple[int, int]]) -> None:
        """Record the steps that intents have reached. The plan breaks if that fails.

        :param reached: pairs of intent id and number of the next step
        """
        try:
            self.store.record_steps(list(reached))
        except Exception:
            self.break_off()
            raise

    def forecasts(self) -> dict[str | None, dict[str, Covered]]:
        """Return how often forecasts came true, by pool and name. Hold the lock."""
        return {pool: self.engine.forecasts(pool) for pool in self.parts}

    def _write(self, planning_seconds: float) -> None:
        for lease_id in list(self.work.changes.leases):
            self.ends.follow(lease_id)
            self.before_end.note(lease_id)
        for reminders in self._planned:
            for lease_id in self.work.changes.leases:
                reminders.note(lease_id)
            reminders.send(self.work.now)
        self.host_states.note_outages(self.engine.outages)
        if self.work.changes.hosts:
            self._follow_weights()
        self.host_states.note_powers(self.engine.powers)
        self._learning.write(self.work.changes)
        self.work.changes.lateness.update(self.engine.take_lateness())
        self.work.changes.cached_images.update(self.engine.take_cache_changes())
        changes, intents = self.work.take(self.work.now)
        self.subscriptions.tell(changes, self.options.subscriptions)
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
            self.carry_out(changes, orders)
        if self.host_states.take_new_wishes():
            self.follow_wishes()
        for transfer in self.work.intents.take_transfers():
            self.bring(transfer)

    def take_over(self, options: ServiceOptions) -> None:
        """Switch to new options and to the policies that are configured now. They keep what policies have learnt.

        :raises EngineUnavailableError: the engine is closed or broken
        :raises InvalidValueError: a policy does not exist, or one of its options is wrong; nothing has changed
        """
        policies = {pool: parts.planning.policies.make() for pool, parts in self.parts.items()}
        with self.transaction():
            self._learning.write(self.work.changes)
            self._learning.replace(by_pool_and_family(policies))
            self.engine.use(policies)
            self.options = options
            self._follow_weights()
            self.engine.brief_policies()

    @property
    def is_over(self) -> bool:
        """Whether the plan takes no further steps, because it was stopped or is broken."""
        return self._closed or self._broken

    def stop(self) -> None:
        """Take no further steps."""
        with self.lock:
            self._closed = True

    def break_off(self) -> None:
        """Take no further steps, because memory and store may differ."""
        with self.lock:
            self._broken = True
            self._on_broken()

    def next_due(self) -> int | None:
        """Return the next instant at which something is due, or None."""
        reminders = (each.next_due() for each in (self.before_end, *self._planned))
        instants = (self.engine.next_due(), *reminders)
        return min((instant for instant in instants if instant is not None), default=None)

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def change_site(self) -> None:
        """Bring the plan up to date with the hosts and addresses in the records."""
        merged = self.engine.change_site(self.records.site(), self.records.pool_of_units())
        self.records.number(self.store.units, merged)

    # -- flows -----------------------------------------------------------------------------------------------

    def _follow_weights(self) -> None:
        options = self.options
        self.weights.configure(options.flow_weights, self.records.hosts.values(), options.flow_donor_property)
        for parts in self.parts.values():
            parts.planner.weights = self.weights.present

    def set_weight(self, name: str, weight: float | None) -> None:
        """Set the weight of a flow, or return to its configured one if it is None. Call it within a transaction."""
        self.weights.set(name, weight)
        for pool in self.parts:
            self.work.changes.policy_state[(pool or "", *STORED, name)] = None
        if weight is not None:
            self.work.changes.policy_state[(self.pools.first or "", *STORED, name)] = {"weight": weight}
        self._follow_weights()

    def flow_reports(self, pool: str | None) -> Sequence[FlowReport]:
        """Return the state of the flows among which the queueing policy of a pool shares its hosts."""
        self.parts[pool].planner.brief_queueing()
        return self.engine.policies(pool).queueing.flows(self.work.now)

    def adjust(self, lease: Lease) -> None:
        """Make the cloud follow a change of a lease whose servers run."""
        assignment = lease.holdings[0].assignment
        now = self.work.now
        self.work.intents.begin(Operation(OperationKind.ADJUST, lease.lease_id, assignment, now, now))

    def put_idleness(self, lease_id: str, idleness: Idleness | None) -> None:
        """Store since when a lease is idle; None if it is not. Call it within a transaction."""
        if self.idleness.get(lease_id) == idleness:
            return
        self.work.changes.idleness[lease_id] = idleness
        if idleness is None:
            del self.idleness[lease_id]
        else:
            self.idleness[lease_id] = idleness

    def pool(self, name: str | None, *, hides_private: bool = False) -> Pool:
        """Return the hosts, addresses and flavors that requests can choose from.

        Hosts and addresses are those of the whole site, so that a refusal can say that a named one is in another pool.

        :param name: the pool in which the request is planned, or None if the site has only one
        :param hides_private: whether queries find no private properties of hosts
        """
        return Pool(
            tuple(self.records.hosts.values()),
            tuple(self.records.floating_ips.values()),
            self.driver.flavors,
            self.images if any(parts.planner.ahead is not None for parts in self.parts.values()) else None,
            self.records.private_names() if hides_private else frozenset(),
            self.records.nested_in(name),
        )
