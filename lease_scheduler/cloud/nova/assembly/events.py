"""Events in a Nova, and the immediate reactions of the driver."""

from __future__ import annotations

from collections.abc import Callable

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api.hints import CacheHint
from lease_scheduler.cloud.nova.assembly.common import Common
from lease_scheduler.cloud.nova.assembly.vacating import Vacating
from lease_scheduler.cloud.nova.images.precaching import CachePreloading
from lease_scheduler.cloud.nova.images.snapshots import Snapshots
from lease_scheduler.cloud.nova.lease.shares import ServerShares
from lease_scheduler.cloud.nova.repair.overdrafts import Overdrafts
from lease_scheduler.cloud.nova.watch.watcher import Watcher
from lease_scheduler.cloud.observations import AggregateChange, Observer, ServerChange, Stranger


class NovaEvents:
    """See ``cloud.capabilities.Events``.

    :param precaching: is told of images in the caches of hosts
    :param snapshots: reports servers that are deleted without an image
    :param shares: repeats orders to the agents of hosts while events are reported
    """

    def __init__(
        self,
        common: Common,
        vacating: Vacating,
        watcher: Watcher,
        precaching: CachePreloading,
        snapshots: Snapshots,
        shares: ServerShares,
    ) -> None:
        self._common = common
        self._vacating = vacating
        self._watcher = watcher
        self._precaching = precaching
        self._snapshots = snapshots
        self._shares = shares
        self._overdrafts = Overdrafts(
            common.placement,
            common.hosts,
            common.lease_aggregates,
            common.servers.find,
            vacating.guests,
            vacating.away,
            lambda: common.pool,
        )

    @property
    def hears_of_servers(self) -> bool:
        """Whether a notification about a server was received."""
        return self._watcher.hears_of_servers

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """See ``Events.start``. Without an observer, only events of leases and hosts are reported."""
        if observer is not None:
            self._snapshots.on_failure = observer.on_image_missing
        self._shares.start()
        self._watcher.start(_Sink(self, on_event, observer))

    def stop(self) -> None:
        """See ``Events.stop``."""
        self._shares.stop()
        self._watcher.stop()

    def look_after_servers(self) -> None:
        """Bring back servers that gave way, and put away those that run where they must not."""
        try:
            self._vacating.awake.look()
        finally:
            self._vacating.guests.bring_back()

    def look_for_overdrafts(self, service: str | None = None) -> None:
        """Clear up overdrawn capacity.

        :param service: name of the compute service to which a server has come, or None for all hosts
        """
        if service is None:
            self._overdrafts.look()
        else:
            self._overdrafts.look_at(service)

    def note_cache(self, hint: CacheHint) -> None:
        """Pass on a notification about images in the caches of hosts."""
        self._precaching.hear(hint)

    def read_again(self, aggregate: str) -> None:
        """Forget the recent answer about an aggregate, because it has changed."""
        self._common.aggregates.look_again(aggregate)

    def send_away(self, stranger: Stranger) -> None:
        """Have a server leave a host that a lease has for itself."""
        for server in self._common.servers.find(uuid=stranger.server_id):
            self._vacating.preemption.send_away(server, stranger.lease_id)


class _Sink:
    """See ``watch.sink.Sink``. The driver does its own part before the observer is told."""

    def __init__(self, events: NovaEvents, on_event: Callable[[DriverEvent], None], observer: Observer | None) -> None:
        self._events = events
        self._on_event = on_event
        self._observer = observer

    def on_event(self, event: DriverEvent) -> None:
        self._on_event(event)

    def on_server(self, change: ServerChange) -> None:
        if self._observer is not None:
            self._observer.on_server(change)

    def on_cache(self, hint: CacheHint) -> None:
        self._events.note_cache(hint)

    def on_hosts(self, names: frozenset[str]) -> None:
        if self._observer is not None:
            self._observer.on_hosts(names)

    def on_aggregate(self, change: AggregateChange) -> None:
        if self._observer is not None:
            self._events.read_again(change.name)
            self._observer.on_aggregate(change)

    def on_stranger(self, stranger: Stranger) -> None:
        if self._observer is not None:
            self._events.send_away(stranger)
            if not stranger.is_known:
                self._observer.on_stranger(stranger)

    def on_round(self) -> None:
        self._events.look_after_servers()

    def on_inspection(self, service: str | None) -> None:
        if self._observer is not None:
            self._events.look_for_overdrafts(service)
