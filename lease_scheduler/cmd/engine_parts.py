"""Configured parts of the engine of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from oslo_config import cfg
from sqlalchemy import Engine as Database
from tooz import coordination

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.cmd.messaging import notification_transport, rpc_transport
from lease_scheduler.cmd.meters import meter
from lease_scheduler.cmd.needs import needs_source
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.cmd.options.subscriptions import delivery_options, notification_drivers
from lease_scheduler.cmd.planning import SitePlanning
from lease_scheduler.cmd.power import power_driver, power_times
from lease_scheduler.model.documents import Document
from lease_scheduler.records.messages import Message
from lease_scheduler.rpc.notifier import Notifier
from lease_scheduler.rpc.server import rpc_server
from lease_scheduler.service.core.metrics.events import EventMetrics
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement, UsageFilter
from lease_scheduler.service.requests.enforcement.telling import Teller
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.telling.outbox import Outbox
from lease_scheduler.service.telling.subscriptions.courier import Courier
from lease_scheduler.service.upkeep.workers import Instruments
from lease_scheduler.store.sql.store import SqlStore
from lease_scheduler.store.sql.subscriptions import SqlDeliveries


class ConfiguredEngine:
    """Configuration of an engine (see ``service.leading.Configured``).

    :param driver: the driver of the cloud
    :raises InvalidValueError: an option is wrong
    """

    def __init__(self, conf: cfg.ConfigOpts, cloud: ConfiguredCloud, driver: Driver) -> None:
        self._conf = conf
        self.planning = SitePlanning(conf)
        self.discovers_hosts: bool = conf.engine.discover_hosts
        self._meter = meter(conf, driver.usage)
        self._needs = needs_source(conf, driver.shares, cloud.adapter)
        self._power = power_driver(conf)

    def options(self) -> ServiceOptions:
        """See ``Configured``."""
        return service_options(self._conf)

    def filters(self) -> Sequence[UsageFilter]:
        """See ``Configured``."""
        return filters(self._conf)

    def instruments(self) -> Instruments:
        """See ``Configured``."""
        return Instruments(self._meter, self._needs, self._power, power_times(self._conf))


class EngineConnections:
    """Connections of an engine to database, lock and messages (see ``service.leading.Connections``).

    :param name: name that no other engine has
    :param events: counts sent notifications
    """

    def __init__(self, conf: cfg.ConfigOpts, name: str, database: Database, events: EventMetrics) -> None:
        self._conf, self._name, self._database, self._events = conf, name, database, events
        self._notification_drivers = notification_drivers(conf)
        self._transport = rpc_transport(conf)
        self._notification_transport = notification_transport(conf)
        self._coordinator = self._start_coordinator()

    def _start_coordinator(self) -> Any:
        url = self._conf.service.coordination_url
        if url.startswith("file://"):
            Path(url.removeprefix("file://")).mkdir(parents=True, exist_ok=True)
        coordinator = coordination.get_coordinator(url, self._name.encode())
        coordinator.start(start_heart=True)
        return coordinator

    def store(self) -> SqlStore:
        """See ``Connections``."""
        return SqlStore(self._database, self._conf.service.site)

    def lock(self) -> Any:
        """See ``Connections``."""
        return self._coordinator.get_lock(f"lease-scheduler-{self._conf.service.site}".encode())

    def server(self, methods: Mapping[str, Callable[..., Document]]) -> Any:
        """See ``Connections``."""
        return rpc_server(self._transport, self._conf.service.site, self._name, methods)

    def senders(self, store: ServiceStore, enforcement: Enforcement) -> list[UpkeepWorker]:
        """See ``Connections``."""
        senders: list[UpkeepWorker] = [Outbox(store, self._send_notification(), self._events.notifications_waiting.dec)]
        if enforcement.follows:
            senders.append(Teller(store, enforcement))
        if self._notification_drivers:
            deliveries, options = SqlDeliveries(self._database), delivery_options(self._conf)
            drivers = self._notification_drivers
            courier = Courier(deliveries, drivers, options, store.is_mine, self._events.delivered)
            senders += [courier, *courier.hands]
        return senders

    def _send_notification(self) -> Callable[[Message], None]:
        """Return a function that sends a notification, or drops it if the list of topics is empty."""
        topics = self._conf.service.notification_topics
        if topics is not None and not topics:
            return lambda message: None
        return Notifier(self._notification_transport, self._name, topics).send

    def close(self) -> None:
        """See ``Connections``."""
        self._coordinator.stop()
        self._transport.cleanup()
        self._notification_transport.cleanup()
        self._database.dispose()
