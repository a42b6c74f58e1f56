"""Assembly of the configured parts of the service."""

from __future__ import annotations

from oslo_config import cfg
from oslo_db.exception import DBConnectionError
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine as Database
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.cmd.engine_parts import ConfiguredEngine, EngineConnections
from lease_scheduler.cmd.memory import keep_what_is_loaded
from lease_scheduler.cmd.messaging import rpc_transport
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.cmd.options.subscriptions import notification_drivers
from lease_scheduler.cmd.planning import SitePlanning
from lease_scheduler.cmd.power import power_driver
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.delays import AcceptableWait
from lease_scheduler.model.errors import InvalidValueError, StoreUnavailableError
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.service.core.clock import AcceleratedClock, RealClock
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.leading import EngineService
from lease_scheduler.store.sql.database import kept_connections, open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore


def database(conf: cfg.ConfigOpts, threads: int = 0) -> Database:
    """Return the configured database, opened.

    :param threads: number of threads that use it regularly
    :raises InvalidValueError: the option is not the URL of a database, or its driver is not installed
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
    """Return the real clock or, if configured, an accelerated one, which continues where it stopped.

    :param found: database, which has the time of the accelerated clock
    """
    speed, start = conf.simulated_cloud.clock_speed, conf.simulated_cloud.clock_start
    if speed == 1.0 and start is None:
        return RealClock()
    kept = SqlStore(found, conf.service.site).read_clock()
    if kept is None:
        kept = RealClock().now() if start is None else start
    return AcceleratedClock(kept, speed)


def check_engine(conf: cfg.ConfigOpts) -> None:
    """Refuse options with which no engine can be assembled. No connection is made.

    :raises InvalidValueError: an option is wrong; the error names it
    """
    _database_url(conf)
    configured_cloud(conf)
    SitePlanning(conf)
    filters(conf)
    service_options(conf)
    power_driver(conf)
    notification_drivers(conf)


def engine_service(conf: cfg.ConfigOpts, name: str, registry: CollectorRegistry | None = None) -> EngineService:
    """Return the engine of a process.

    :param name: name that no other engine has
    :param registry: registry of its metrics; None for no metrics
    :raises InvalidValueError: an option is wrong
    :raises StoreUnavailableError: the database does not answer
    """
    acceptable_wait = AcceptableWait(conf.metrics.acceptable_wait, conf.metrics.acceptable_wait_factor)
    metrics = EngineMetrics(
        registry, per_project=conf.metrics.per_project, pools=conf.pools.names, acceptable_wait=acceptable_wait
    )
    found = database(conf)
    of_site = clock(conf, found)
    cloud = configured_cloud(conf)
    driver = cloud.driver(of_site)
    configured = ConfiguredEngine(conf, cloud, driver)
    connections = EngineConnections(conf, name, found, metrics.events)
    return EngineService(name, of_site, driver, configured, connections, metrics, keep_what_is_loaded)


def default_transport(conf: cfg.ConfigOpts, url: str) -> None:
    """Set the default of the transport URL, for configurations that set none."""
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
    # A quarter of the threads, at least one, stays free for requests that need no engine.
    places = max(1, threads - max(1, threads // 4))
    return RpcEngineClient(transport, conf.service.site, max(least_timeout, conf.service.engine_timeout), places)


def for_api(conf: cfg.ConfigOpts, server_threads: int | None = None) -> tuple[RpcEngineClient, SqlReader, WaitingClock]:
    """Return the engine's client, the reader and the clock, for the REST service.

    :param server_threads: see ``engine_client``
    """
    found = database(conf, server_threads or conf.api.threads)
    return engine_client(conf, server_threads=server_threads), SqlReader(found, conf.service.site), clock(conf, found)
