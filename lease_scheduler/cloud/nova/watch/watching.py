"""Assembly of the watcher of a Nova."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from lease_scheduler.cloud.nova.api.connection import Connection
from lease_scheduler.cloud.nova.api.edits import Edits
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.inventories import Inventories
from lease_scheduler.cloud.nova.api.notifications import NotificationListener
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.nova.watch.inspector import Inspector
from lease_scheduler.cloud.nova.watch.silence import Patience
from lease_scheduler.cloud.nova.watch.watcher import Watcher, WatcherOptions


@dataclass(frozen=True)
class WatchingOptions:
    """Options of watcher and inspector.

    :ivar watch_interval: real seconds between two checks of hosts and servers
    :ivar inspect_interval: real seconds between two inspections
    :ivar freepool: name of the aggregate of all hosts that leases may use
    :ivar patience: how long services may be down
    """

    watch_interval: float
    inspect_interval: float
    freepool: str
    patience: Patience


class Watching:
    """Maker of watchers, with inspector and listener (``driver.MakeWatcher``).

    :param make_listener: returns a listener to Nova's notifications, or None to check at intervals only
    """

    def __init__(
        self,
        options: WatchingOptions,
        connection: Connection,
        make_listener: Callable[[], NotificationListener | None],
    ) -> None:
        self._options = options
        self._connection = connection
        self._make_listener = make_listener

    def __call__(
        self,
        hosts: Hosts,
        flavors: FlavorCatalogue,
        is_managed: Callable[[str], bool],
        pool: Callable[[], Collection[str]],
    ) -> Watcher:
        """Return a watcher.

        :param is_managed: returns whether the engine boots the servers of a lease
        :param pool: returns the names of the hosts that leases may use
        """
        options, nova, adapter = self._options, self._connection.nova, self._connection.placement
        inspector = Inspector(
            nova,
            Inventories(adapter, Placement(adapter), pool),
            Edits(nova, hosts.services, options.freepool),
            Strangers(nova, hosts.services),
            options.inspect_interval,
        )
        return Watcher(
            nova,
            hosts,
            flavors,
            is_managed,
            WatcherOptions(options.watch_interval, options.patience),
            self._make_listener(),
            inspector,
            self._connection.user_id,
        )
