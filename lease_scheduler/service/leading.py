"""The engine of a process: it leads its site whenever it can, and answers requests while it leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Protocol

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, StoreFullError
from lease_scheduler.records.writes import DeposedError
from lease_scheduler.rpc.interface import Methods
from lease_scheduler.service.core.leadership import Leader, Leadership
from lease_scheduler.service.core.leadership import Lock as LeaderLock
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.core.observing import SiteObservations
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.operations import operations
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement, UsageFilter
from lease_scheduler.service.requests.enforcement.proposals import keep_message, report_ends
from lease_scheduler.service.requests.observer import SiteObserver
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.workers import Instruments
from lease_scheduler.store.sql.faults import FULL, is_full

#: Real seconds for which requests are refused because the disk is full, until the next attempt to lead.
_REFUSAL_SECONDS = 3.0


class Planning(Protocol):
    """How the leases of a site are planned."""

    @property
    def policies(self) -> SitePolicies:
        """The policies of a site that has only one pool."""
        ...

    @property
    def pools(self) -> Mapping[str, PoolPlanning]:
        """How the leases of each pool are planned, in the configured order; empty if the site has only one."""
        ...

    def check(self) -> None:
        """Refuse policies that do not exist, and options that they do not take.

        :raises InvalidValueError: naming the option
        """
        ...


class Configured(Protocol):
    """The present configuration. It is read again when an engine begins to lead, and when options have changed."""

    @property
    def planning(self) -> Planning:
        """How leases are planned."""
        ...

    @property
    def discovers_hosts(self) -> bool:
        """Whether hosts that an operator adds to the pool in the cloud are registered."""
        ...

    def options(self) -> ServiceOptions:
        """Return the options of the service."""
        ...

    def filters(self) -> Sequence[UsageFilter]:
        """Return the enabled filters, in order.

        :raises InvalidValueError: a filter does not exist, or one of its options is wrong
        """
        ...

    def instruments(self) -> Instruments:
        """Return the meter, the source of needs and the power driver of the site."""
        ...


class LeaderStore(ServiceStore, Protocol):
    """The store of a site, as an engine that leads or wants to lead uses it (see ``store.sql.store``)."""

    def sign_of_life(self) -> object:
        """Return a value that changes with every sign of life of the engine that leads, or None."""
        ...

    def count_messages(self) -> int:
        """Return the number of notifications that wait to be sent."""
        ...


class RequestServer(Protocol):
    """Server that receives requests and passes them to methods."""

    def start(self) -> None:
        """Receive requests."""
        ...

    def stop(self) -> None:
        """Receive no further requests."""
        ...

    def wait(self) -> None:
        """Wait until the requests that were received are answered."""
        ...


class Connections(Protocol):
    """Connections of an engine to other programs."""

    def store(self) -> LeaderStore:
        """Return a store of the site that has not taken over."""
        ...

    def lock(self) -> LeaderLock:
        """Return the lock that all engines of the site share."""
        ...

    def server(self, methods: Mapping[str, Callable[..., Document]]) -> RequestServer:
        """Return a server that has these methods answer requests."""
        ...

    def senders(self, store: ServiceStore, enforcement: Enforcement) -> Sequence[UpkeepWorker]:
        """Return the workers that send what was stored: notifications, deliveries, and reports to filters."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class _LeadingEngine:
    """The parts that exist while an engine leads."""

    def __init__(self, engine: SiteEngine, server: RequestServer, metrics: EngineMetrics) -> None:
        self._engine = engine
        self._server = server
        self._metrics = metrics

    def close(self) -> None:
        """Refuse further requests, then finish the current work."""
        self._server.stop()
        self._server.wait()
        self._engine.close()
        self._metrics.unbind()


class EngineService:
    """The engine of a process, which leads whenever it can.

    :param name: a name that no other engine has
    :param clock: the clock of the site
    :param driver: driver of the cloud
    :param configured: the present configuration
    :param connections: closed by ``end``
    :param metrics: bound to an engine while it leads
    :param before_serving: called when everything is loaded, before requests are answered
    :ivar leadership: tries to lead
    :ivar plan: the plan of the engine that has led last, or None
    :ivar methods: the methods that can be called while the engine leads, by name
    """

    def __init__(
        self,
        name: str,
        clock: WaitingClock,
        driver: Driver,
        configured: Configured,
        connections: Connections,
        metrics: EngineMetrics,
        before_serving: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self.clock, self.driver = clock, driver
        self._configured, self._connections = configured, connections
        self._metrics = metrics
        self._before_serving = before_serving
        self._filters = configured.filters()
        self._enforcement: Enforcement | None = None
        self._changing = Lock()
        self.plan: SiteTransactions | None = None
        self.methods: Methods = {}
        self._store: LeaderStore | None = None
        sign_of_life = connections.store().sign_of_life
        self.leadership = Leadership(connections.lock, self._lead, self._heartbeat, sign_of_life)
        metrics.leading.set_function(self.leadership.is_leading.is_set)
        metrics.hosts_without_shares.set_function(lambda: len(driver.shares.degraded))

    def start(self) -> None:
        """Start trying to lead."""
        self.leadership.start()

    def stop(self) -> None:
        """Stop leading, and release all resources."""
        self.leadership.stop()
        self.end()

    def at_rest(self) -> SiteEngine:
        """Take over the site, and return an engine that has read it but carries out nothing.

        The caller holds the lock of the leader.
        """
        return self._site_engine(self._take_over(), lambda: None)

    def end(self) -> None:
        """Close the connections, which exist even while the engine does not lead."""
        self._connections.close()

    def take_over_options(self) -> None:
        """Apply the options that may change at run time. An engine that begins to lead later reads them anyway."""
        with self._changing:
            self._filters = self._configured.filters()
            try:
                if self.plan is None or self._enforcement is None:
                    raise EngineUnavailableError("there is no engine yet")
                self._enforcement.replace_filters(self._filters)
                self.plan.take_over(self._configured.options())
            except EngineUnavailableError:
                # The next engine makes its policies from what is configured then.
                self._configured.planning.check()

    def _take_over(self) -> LeaderStore:
        store = self._connections.store()
        store.take_over(self._name, self.clock.now())
        return store

    def _lead(self, on_broken: Callable[[], None]) -> Leader:
        try:
            # The lock keeps the options from changing while the plan is built.
            with self._changing:
                return self._build(on_broken)
        except Exception as error:
            if not is_full(error):
                raise
            self._refuse_for_a_while()
            raise StoreFullError(FULL) from error

    def _refuse_for_a_while(self) -> None:
        """Answer requests with "disk full" for some seconds, so that callers do not wait in vain."""

        def refuse(context: dict[str, Any], **arguments: Any) -> Document:
            raise StoreFullError(FULL)

        server = self._connections.server(defaultdict(lambda: refuse))
        server.start()
        self.leadership.wait_for_stop(_REFUSAL_SECONDS)
        server.stop()
        server.wait()

    def _build(self, on_broken: Callable[[], None]) -> Leader:
        self._store = None
        self._store = store = self._take_over()
        waiting = store.count_messages()
        engine = self._site_engine(store, on_broken)
        plan = engine.plan
        self._metrics.bind(SiteObservations(plan).look, waiting)
        enforcement = self._enforcement = Enforcement(self._filters, keep_message(plan), store.has_lease)
        if enforcement.follows:
            report_ends(plan)
        try:
            return self._start(engine, enforcement, self._connections.senders(store, enforcement))
        except BaseException:
            # The caller never sees these parts, so it could not end them.
            engine.close()
            self._metrics.unbind()
            raise

    def _site_engine(self, store: ServiceStore, on_broken: Callable[[], None]) -> SiteEngine:
        options, planning = self._configured.options(), self._configured.planning
        plan = SiteTransactions(
            store, self.driver, self.clock, planning.policies, options, on_broken, self._metrics, planning.pools
        )
        return SiteEngine(plan, self._configured.instruments())

    def _start(self, engine: SiteEngine, enforcement: Enforcement, senders: Sequence[UpkeepWorker]) -> Leader:
        pool = PoolKeeper(engine)
        if self._configured.discovers_hosts:
            engine.reconciler.discover = pool.discover
        engine.start(SiteObserver(engine, pool), senders)
        self.plan = engine.plan
        self.methods = operations(engine, enforcement, pool)
        server = self._connections.server(self._metrics.timed(self.methods))
        self._before_serving()
        server.start()
        return _LeadingEngine(engine, server, self._metrics)

    def _heartbeat(self) -> bool:
        """Give a sign of life; return False if another engine has taken over."""
        if self._store is not None:
            try:
                self._store.write_clock(self.clock.now())
            except DeposedError:
                return False
        return True
