"""Assembles the parts of the service as configured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from oslo_config import cfg
from oslo_db.exception import DBConnectionError
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine as Database
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError
from tooz import coordination

from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.cmd.memory import keep_what_is_loaded
from lease_scheduler.cmd.messaging import notification_transport, rpc_transport
from lease_scheduler.cmd.meters import meter
from lease_scheduler.cmd.needs import needs_source
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.cmd.options.subscriptions import delivery_options, notification_drivers
from lease_scheduler.cmd.planning import SitePlanning
from lease_scheduler.cmd.power import power_driver, power_times
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.errors import (
    EngineUnavailableError,
    InvalidValueError,
    StoreFullError,
    StoreUnavailableError,
)
from lease_scheduler.records.messages import Message
from lease_scheduler.records.writes import DeposedError
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.rpc.interface import methods_of
from lease_scheduler.rpc.notifier import Notifier
from lease_scheduler.rpc.server import rpc_server
from lease_scheduler.service.core.clock import AcceleratedClock, RealClock
from lease_scheduler.service.core.leadership import Leader, Leadership
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approvals import Approvals
from lease_scheduler.service.requests.budgets import BudgetReport
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.proposals import keep_message, report_ends
from lease_scheduler.service.requests.enforcement.telling import Teller
from lease_scheduler.service.requests.feeds import FeedKeeper
from lease_scheduler.service.requests.fewer_hosts import FewerHostsReport
from lease_scheduler.service.requests.flows import FlowKeeper
from lease_scheduler.service.requests.forecasts import ForecastReport
from lease_scheduler.service.requests.inspection import Inspection
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.negotiations import Negotiations
from lease_scheduler.service.requests.observer import SiteObserver
from lease_scheduler.service.requests.offers import Offers
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.quotes import Quotes
from lease_scheduler.service.requests.series import SeriesKeeper
from lease_scheduler.service.requests.subscriptions import SubscriptionKeeper
from lease_scheduler.service.requests.uninstall import Uninstall
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.telling.outbox import Outbox
from lease_scheduler.service.telling.subscriptions.courier import Courier
from lease_scheduler.store.sql.database import kept_connections, open_database
from lease_scheduler.store.sql.faults import FULL, is_full
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from lease_scheduler.store.sql.subscriptions import SqlDeliveries

#: Real seconds for which requests are refused because the disk is full, until the next attempt to lead.
_REFUSING = 3.0

#: A thread that sends what the transactions of an engine leave to be sent.
Sender = Outbox | Teller | Courier


def database(conf: cfg.ConfigOpts, threads: int = 0) -> Database:
    """Open the configured database.

    :param threads: number of threads that use it again and again
    :raises InvalidValueError: the option is not the URL of a database for which there is a driver here
    :raises StoreUnavailableError: the database does not answer
    """
    kept, more = kept_connections(conf.database.max_pool_size, conf.database.max_overflow, threads)
    try:
        return open_database(
            _database_url(conf),
            max_pool_size=kept,
            max_overflow=more,
            max_retries=conf.database.max_retries,
            retry_interval=conf.database.retry_interval,
            pool_timeout=conf.database.pool_timeout,
            connection_recycle_time=conf.database.connection_recycle_time,
        )
    except DBConnectionError as error:
        raise StoreUnavailableError("the database does not answer; see database.connection") from error


def _database_url(conf: cfg.ConfigOpts) -> str:
    url = conf.database.connection
    if not url:
        raise InvalidValueError("database.connection", "is needed, e.g. mysql+pymysql://user:password@host/name")
    try:
        make_url(url).get_dialect().import_dbapi()
    except (ArgumentError, ImportError, ValueError) as error:
        raise InvalidValueError("database.connection", f"is no URL of a database known here: {error}") from error
    return str(url)


def clock(conf: cfg.ConfigOpts, found: Database) -> WaitingClock:
    """Return the real clock or, if so configured, an accelerated one that continues from where it stopped.

    :param found: the database, which holds the time of an accelerated clock
    """
    speed, start = conf.simulated_cloud.clock_speed, conf.simulated_cloud.clock_start
    if speed == 1.0 and start is None:
        return RealClock()
    kept = SqlStore(found, conf.service.site).read_clock()
    if kept is None:
        kept = RealClock().now() if start is None else start
    return AcceleratedClock(kept, speed)


def check_engine(conf: cfg.ConfigOpts) -> None:
    """Refuse options with which no engine can be assembled; connect to nothing and keep nothing.

    :raises InvalidValueError: naming the option
    """
    _database_url(conf)
    configured_cloud(conf)
    SitePlanning(conf)
    filters(conf)
    service_options(conf)
    power_driver(conf)
    notification_drivers(conf)


class _LeadingEngine:
    """The parts that exist while an engine leads."""

    def __init__(self, engine: SiteEngine, server: Any, senders: Sequence[Sender], metrics: EngineMetrics) -> None:
        self._engine = engine
        self._server = server
        self._senders = senders
        self._metrics = metrics

    def close(self) -> None:
        """Refuse further requests, then finish the current work."""
        self._server.stop()
        self._server.wait()
        self._engine.close()
        for sender in self._senders:
            sender.stop()
        self._metrics.unbind()


class EngineService:
    """The engine of a process, which leads whenever it can.

    :param name: a name that no other engine has
    :param registry: where its metrics go; None for no metrics
    """

    def __init__(self, conf: cfg.ConfigOpts, name: str, registry: CollectorRegistry | None = None) -> None:
        self._conf = conf
        pools = conf.pools.names
        self._metrics = EngineMetrics(registry, per_project=conf.metrics.per_project, pools=pools)
        self._name = name
        self._database = database(conf)
        self.clock = clock(conf, self._database)
        cloud = configured_cloud(conf)
        self.driver = cloud.driver(self.clock)
        self._planning = SitePlanning(conf)
        self._filters = filters(conf)
        self._meter = meter(conf, self.driver)
        self._needs = needs_source(conf, self.driver, cloud.adapter)
        self._power_driver = power_driver(conf)
        self._notification_drivers = notification_drivers(conf)
        self._enforcement: Enforcement | None = None
        self._changing = Lock()
        self._transport = rpc_transport(conf)
        self._notification_transport = notification_transport(conf)
        self._coordinator = self._start_coordinator()
        self.plan: SiteTransactions | None = None
        #: The methods that can be called while the engine leads, by name.
        self.methods: dict[str, Callable[..., dict[str, Any]]] = {}
        self._store: SqlStore | None = None
        lock_name = f"lease-scheduler-{conf.service.site}".encode()
        self.leadership = Leadership(
            lambda: self._coordinator.get_lock(lock_name),
            self._lead,
            self._heartbeat,
            SqlStore(self._database, conf.service.site).sign_of_life,
        )
        self._metrics.leading.set_function(self.leadership.is_leading.is_set)
        self._metrics.hosts_without_shares.set_function(lambda: len(self.driver.without_shares()))

    def _start_coordinator(self) -> Any:
        url = self._conf.service.coordination_url
        if url.startswith("file://"):
            Path(url.removeprefix("file://")).mkdir(parents=True, exist_ok=True)
        coordinator = coordination.get_coordinator(url, self._name.encode())
        coordinator.start(start_heart=True)
        return coordinator

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
        store = SqlStore(self._database, self._conf.service.site)
        store.take_over(self._name, self.clock.now())
        return self._site_engine(store, lambda: None)

    def end(self) -> None:
        """Release the connections that exist even without leading."""
        self._coordinator.stop()
        self._transport.cleanup()
        self._notification_transport.cleanup()
        self._database.dispose()

    def take_over_options(self) -> None:
        """Apply the changed options that may change; an engine that leads later reads them anyway."""
        with self._changing:
            self._filters = filters(self._conf)
            try:
                if self.plan is None or self._enforcement is None:
                    raise EngineUnavailableError("there is no engine yet")
                self._enforcement.replace_filters(self._filters)
                self.plan.take_over(service_options(self._conf))
            except EngineUnavailableError:
                # The next engine makes its policies from what is configured then.
                self._planning.check()

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

        def refuse(context: dict[str, Any], **arguments: Any) -> dict[str, Any]:
            raise StoreFullError(FULL)

        server = rpc_server(self._transport, self._conf.service.site, self._name, defaultdict(lambda: refuse))
        server.start()
        self.leadership.wait_for_stop(_REFUSING)
        server.stop()
        server.wait()

    def _build(self, on_broken: Callable[[], None]) -> Leader:
        conf = self._conf
        self._store = None
        store = SqlStore(self._database, conf.service.site)
        store.take_over(self._name, self.clock.now())
        self._store = store
        waiting = store.count_messages()
        engine = self._site_engine(store, on_broken)
        plan = engine.plan
        self._metrics.bind(plan.look, waiting)
        enforcement = self._enforcement = Enforcement(self._filters, keep_message(plan), store.has_lease)
        if enforcement.follows:
            report_ends(plan)
        senders = self._senders(store, enforcement)
        try:
            return self._start(engine, enforcement, senders)
        except BaseException:
            # The caller never sees these parts, so it could not end them.
            engine.close()
            for sender in senders:
                sender.stop()
            self._metrics.unbind()
            raise

    def _site_engine(self, store: SqlStore, on_broken: Callable[[], None]) -> SiteEngine:
        options, planning = service_options(self._conf), self._planning
        plan = SiteTransactions(
            store, self.driver, self.clock, planning.policies, options, on_broken, self._metrics, planning.pools
        )
        return SiteEngine(plan, self._meter, self._power_driver, power_times(self._conf), self._needs)

    def _start(self, engine: SiteEngine, enforcement: Enforcement, senders: list[Sender]) -> Leader:
        plan = engine.plan
        leases, quotes, pool = Leases(plan, enforcement), Quotes(plan, enforcement), PoolKeeper(engine)
        if self._conf.engine.discover_hosts:
            engine.reconciler.discover = pool.discover
        engine.start(SiteObserver(engine, pool))
        self.plan = plan

        def wake() -> None:
            for sender in senders:
                sender.wake()

        engine.on_written = wake
        wake()
        series = SeriesKeeper(plan, leases)
        parts = (
            leases,
            quotes,
            Offers(plan, enforcement),
            Approvals(plan),
            Negotiations(plan, leases, quotes),
            pool,
            series,
            SubscriptionKeeper(plan),
            FeedKeeper(plan),
            FlowKeeper(plan),
            ForecastReport(plan),
            BudgetReport(plan, enforcement),
            FewerHostsReport(plan),
            Uninstall(engine, leases, pool, series),
            Inspection(engine),
        )
        methods = methods_of(*parts)
        self.methods = methods
        server = rpc_server(self._transport, self._conf.service.site, self._name, self._metrics.timed(methods))
        keep_what_is_loaded()
        server.start()
        return _LeadingEngine(engine, server, senders, self._metrics)

    def _senders(self, store: SqlStore, enforcement: Enforcement) -> list[Sender]:
        """Return the parts that send notifications and report to filters."""
        events = self._metrics.events
        waiting = events.notifications_waiting
        senders: list[Sender] = [Outbox(store, self._send_notification(), waiting.dec)]
        if enforcement.follows:
            senders.append(Teller(store, enforcement))
        if self._notification_drivers:
            deliveries, options = SqlDeliveries(self._database), delivery_options(self._conf)
            drivers = self._notification_drivers
            senders.append(Courier(deliveries, drivers, options, store.is_mine, events.delivered))
        return senders

    def _send_notification(self) -> Callable[[Message], None]:
        """Return a function that sends a notification, or drops it if the list of topics is empty."""
        topics = self._conf.service.notification_topics
        if topics is not None and not topics:
            return lambda message: None
        return Notifier(self._notification_transport, self._name, topics).send

    def _heartbeat(self) -> bool:
        """Give a sign of life; return False if another engine has taken over."""
        if self._store is not None:
            try:
                self._store.write_clock(self.clock.now())
            except DeposedError:
                return False
        return True


def default_transport(conf: cfg.ConfigOpts, url: str) -> None:
    """Set the default of the transport URL."""
    rpc_transport(conf).cleanup()
    conf.set_default("transport_url", url)


def engine_client(
    conf: cfg.ConfigOpts, least_timeout: float = 0.0, server_threads: int | None = None
) -> RpcEngineClient:
    """Return a client of the engine.

    :param least_timeout: lower bound of the configured timeout, in seconds
    :param server_threads: number of threads of the server; None for the configured number
    """
    transport = rpc_transport(conf)
    threads = conf.api.threads if server_threads is None else server_threads
    # Some threads stay free for requests that need no engine.
    places = max(1, threads - max(1, threads // 4))
    return RpcEngineClient(transport, conf.service.site, max(least_timeout, conf.service.engine_timeout), places)


def for_api(conf: cfg.ConfigOpts, server_threads: int | None = None) -> tuple[RpcEngineClient, SqlReader, WaitingClock]:
    """Return what the REST service needs: the engine's client, the reader and the clock.

    :param server_threads: see ``engine_client``
    """
    found = database(conf, server_threads or conf.api.threads)
    return engine_client(conf, server_threads=server_threads), SqlReader(found, conf.service.site), clock(conf, found)
