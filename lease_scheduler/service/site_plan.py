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
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.journal import log_written
from lease_scheduler.service.known_images import KnownImages
from lease_scheduler.service.metrics.engine import EngineMetrics
from lease_scheduler.service.metrics.state import Observation
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.orders import order_of
from lease_scheduler.service.policies import ReplacePolicies, SitePolicies, learning_policies
from lease_scheduler.service.refusals import refusals
from lease_scheduler.service.reminders import BeforeEnd, PreemptionWarnings, Reminders
from lease_scheduler.service.replacements import Replacements
from lease_scheduler.service.site_records import SiteRecords
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


class SitePlan(ABC):
    """Restores the plan from the store, and keeps both alike: every change is written, then handed on.

    A step that cannot be written leaves it broken: what it holds in memory may differ from the store, so it is thrown
    away and another one is built from the store.

    :param store: taken over by the caller
    :param policies: what they learn is kept by family and name
    :param on_broken: told once when it breaks
    :param metrics: where what happens is counted
    :ivar lock: held by whoever reads or changes the plan
    :ivar changed: told when it is closed or broken, and whenever something is to be done
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
        #: Whether everything is done that is due because of the present block.
        self._is_settled = True
        snapshot = store.load()
        self.work = UnitOfWork(snapshot.next_intent)
        self.work.now = clock.now()
        self.work.restore(snapshot.leases, snapshot.documents, snapshot.intents)
        self.records = SiteRecords(snapshot, self.work)
        self.planner = policies.make_planner(self.records.site())
        self.images = KnownImages(driver, options.fallback_image_mb)
        self.pricing = policies.make_pricing()
        self._policies = learning_policies(policies, self.planner, self.pricing)
        #: What policies have learnt, by (family, name).
        self._learnt = {key: dict(entries) for key, entries in snapshot.policy_state.items()}
        for family, policy in self._policies.items():
            # A policy that served an engine that broke may have learnt what was never written.
            policy.restore(self._learnt.get((family, policy.name), {}))
        self.engine = Engine(
            self.planner,
            policies.admission,
            StepClock(self.work),
            cloud=self.work.intents,
            store=self.work,
            recorder=self.work,
            options=options.engine,
            pricing=self.pricing,
            carrier=self.work.intents,
            penalty=policies.penalty,
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
        #: Tells projects that their leases end soon.
        self.before_end = Reminders(
            BeforeEnd(
                self.work,
                lambda lease_id: lease_id in self.engine.operations,
                saves_by_default=options.before_end == "snapshot",
            ),
            self.work.documents,
        )
        lifetime = options.quote_lifetime if options.replacement_offers else 0
        self._replacements = Replacements(self.work, self.engine, lifetime)
        self._warnings = Reminders(PreemptionWarnings(self.work, options.preemption_warning), self.work.leases)

    @property
    def is_broken(self) -> bool:
        """Whether it can do nothing any more."""
        return self._broken

    @contextmanager
    def request(self, context: Mapping[str, Any]) -> Iterator[None]:
        """Run the block as a request that changes something: in time, in one transaction, refused in plain words.

        :param context: of the request; ``expires`` is the real instant after which nobody waits for the answer, and
            with ``sees_site`` refusals name hosts
        :raises RefusedError: the block refuses the request
        :raises EngineUnavailableError: as in ``transaction``
        """
        with self._transaction(context.get("expires"), follows=True), refusals(context):
            yield

    @contextmanager
    def inquiry(self, context: Mapping[str, Any]) -> Iterator[None]:
        """Run the block as a request that only looks at the plan: ``request`` without a step afterwards."""
        with self._transaction(context.get("expires"), follows=False), refusals(context):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do what is due, then what the block does, then what is due because of it; write all of it, then carry it out.

        A refusal raised by the block leaves the plan as it was, so what was due is written all the same.

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
        """Do what is due because of the block now instead of after it, where its answer depends on that.

        The block must not change the plan any more.
        """
        self.engine.step()
        self._is_settled = True

    @contextmanager
    def _transaction(self, expires: float | None, *, follows: bool) -> Iterator[None]:
        """See ``transaction``.

        :param expires: real instant after which the block must not be run, because nobody waits for it any more
        :param follows: whether something may be due because of the block
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
        for host in list(self.records.hosts.values()):
            until = outages[host.name][1] or _FOR_GOOD if host.name in outages else None
            if host.out_until != until:
                self.records.put_host(replace(host, out_until=until))

    def look(self) -> Observation | None:
        """The present state of the site for metrics; an earlier one while the engine is busy."""
        if self.lock.acquire(timeout=_MOMENT):
            try:
                self._seen = Observation(
                    now=self.clock.now(),
                    leases=tuple(self.work.leases.values()),
                    documents=dict(self.work.documents),
                    orders=tuple(self.work.intents.open_intents()),
                    hosts=tuple(self.records.hosts.values()),
                    floating_ips=tuple(self.records.floating_ips.values()),
                    site=self.engine.site,
                    price_rate=self.pricing.rate(None, None) if self.pricing.charges else None,
                )
            finally:
                self.lock.release()
        return self._seen

    def _write(self, planning_seconds: float) -> None:
        for lease_id in self.work.changes.leases:
            self._warnings.note(lease_id)
        self._warnings.send(self.work.now)
        if self.engine.outages or any(host.out_until is not None for host in self.records.hosts.values()):
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
        for transfer in self.work.intents.take_transfers():
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
        """Have the plan follow the hosts and addresses of the records."""
        self.records.number(self.store.units, self.engine.change_site(self.records.site()))

    def adjust(self, lease: Lease) -> None:
        """Have the cloud follow a change of a lease whose VMs run."""
        assignment = lease.holdings[0].assignment
        now = self.work.now
        self.work.intents.begin(Operation(OperationKind.ADJUST, lease.lease_id, assignment, now, now))

    def pool(self, *, hides_private: bool = False) -> Pool:
        """What there is to choose from.

        :param hides_private: whether private properties of hosts are as if there were none of them
        """
        return Pool(
            tuple(self.records.hosts.values()),
            tuple(self.records.floating_ips.values()),
            self.driver.flavors(),
            None if self.planner.ahead is None else self.images,
            self.records.private_names() if hides_private else frozenset(),
        )
