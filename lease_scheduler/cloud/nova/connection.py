"""Clients of OpenStack's services. One section of the configuration says how to log in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from typing import Any

from keystoneauth1 import loading
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import NotFound
from keystoneauth1.session import Session
from novaclient import client

from lease_scheduler.cloud.driver import WaitingClock
from lease_scheduler.cloud.nova.driver import DriverOptions, NovaDriver
from lease_scheduler.cloud.nova.edits import Edits
from lease_scheduler.cloud.nova.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.hosts import Hosts
from lease_scheduler.cloud.nova.inspector import Inspector
from lease_scheduler.cloud.nova.inventories import Inventories
from lease_scheduler.cloud.nova.lost import LostOptions
from lease_scheduler.cloud.nova.notifications import NotificationListener, notification_transport
from lease_scheduler.cloud.nova.placement import Placement
from lease_scheduler.cloud.nova.reservations import BlazarOptions
from lease_scheduler.cloud.nova.room import Escalation, IntruderAction, RoomOptions
from lease_scheduler.cloud.nova.silence import Patience
from lease_scheduler.cloud.nova.snapshots import SnapshotOptions
from lease_scheduler.cloud.nova.strangers import Strangers
from lease_scheduler.cloud.nova.watcher import Watcher

_GROUP = "nova"

#: Unshelving to a host came with 2.91. 2.87 is the last version that shows the vCPUs and CPU of a hypervisor.
_MICROVERSION = "2.93"
_MICROVERSION_OF_FACTS = "2.87"

#: Maximum number of clients for trusts that are kept, with their tokens.
_KEPT_SESSIONS = 1_000


class Connection:
    """Logs in as the service itself, or for a user who gave the service a trust.

    :param conf: oslo.config's object
    """

    def __init__(self, conf: Any) -> None:
        self._conf = conf
        self._session = self._log_in()
        self._for_consumer = lru_cache(_KEPT_SESSIONS)(self._of_trust)

    @property
    def nova(self) -> Any:
        """Nova for the service itself."""
        return self._nova(self._session, _MICROVERSION)

    @property
    def nova_with_facts(self) -> Any:
        """Nova for the service itself, with the API version that shows all facts of hypervisors."""
        return self._nova(self._session, _MICROVERSION_OF_FACTS)

    @property
    def placement(self) -> Adapter:
        """Placement for the service itself."""
        return self._adapter(service_type="placement")

    @property
    def network(self) -> Adapter:
        """Neutron for the service itself."""
        return self._adapter(service_type="network")

    @property
    def glance(self) -> Adapter:
        """Glance for the service itself."""
        return self._adapter(service_type="image")

    def on_behalf_of(self, trust_id: str | None) -> Any:
        """Return Nova for the user who gave a trust, or for the service itself if there is none."""
        return self.nova if trust_id is None else self._for_consumer(trust_id)

    def user_id(self) -> str | None:
        """Return the id of the service's own user."""
        found: str | None = self._session.get_user_id()
        return found

    def end_trust(self, trust_id: str) -> None:
        """Delete a trust, if it exists."""
        identity = self._adapter(service_type="identity", min_version="3", max_version="3.latest")
        with suppress(NotFound):
            identity.delete(f"/OS-TRUST/trusts/{trust_id}")

    def trusts(self) -> frozenset[str]:
        """Return the ids of the trusts that were given to the service."""
        identity = self._adapter(service_type="identity", min_version="3", max_version="3.latest")
        found = identity.get("/OS-TRUST/trusts", params={"trustee_user_id": self.user_id()}).json()["trusts"]
        return frozenset(str(each["id"]) for each in found)

    def _of_trust(self, trust_id: str) -> Any:
        # The trust itself determines the project.
        scope = {"project_id": None, "project_name": None, "project_domain_id": None, "project_domain_name": None}
        return self._nova(self._log_in(trust_id=trust_id, **scope), _MICROVERSION)

    def _log_in(self, **options: Any) -> Session:
        auth = loading.load_auth_from_conf_options(self._conf, _GROUP, **options)
        return loading.load_session_from_conf_options(self._conf, _GROUP, auth=auth)

    def _adapter(self, **options: Any) -> Adapter:
        group = self._conf[_GROUP]
        return Adapter(self._session, interface=group.interface, region_name=group.region_name, **options)

    def _nova(self, session: Session, version: str) -> Any:
        group = self._conf[_GROUP]
        return client.Client(version, session=session, endpoint_type=group.interface, region_name=group.region_name)


class Watching:
    """Makes watchers of the cloud, as option group ``nova`` describes them.

    :param conf: oslo.config's object
    """

    def __init__(self, conf: Any, connection: Connection) -> None:
        self._conf = conf
        self._connection = connection

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
        group, nova, adapter = self._conf[_GROUP], self._connection.nova, self._connection.placement
        inspector = Inspector(
            nova,
            Inventories(adapter, Placement(adapter), pool),
            Edits(nova, hosts.services, group.aggregate_freepool_name),
            Strangers(nova, hosts.services),
            group.inspect_interval,
        )
        return Watcher(
            nova,
            hosts,
            flavors,
            is_managed,
            group.watch_interval,
            self._listener(),
            inspector,
            self._connection.user_id,
            Patience(group.down_grace, group.reconnection_grace),
        )

    def _listener(self) -> NotificationListener | None:
        group = self._conf[_GROUP]
        if not group.notification_topics:
            return None
        return NotificationListener(
            # Made when it is needed: only the engine that leads listens.
            lambda: notification_transport(self._conf, group.notification_transport_url),
            group.notification_exchange,
            group.notification_topics,
            f"lease-scheduler.{self._conf.service.site}",
        )


def from_configuration(conf: Any, clock: WaitingClock) -> NovaDriver:
    """Return the driver for the cloud of option group ``nova``.

    :param conf: oslo.config's object
    """
    connection, group = Connection(conf), conf[_GROUP]
    options = DriverOptions(
        operations=group.operations,
        operations_per_host=group.operations_per_host,
        boot_timeout=group.boot_timeout,
        room=RoomOptions(
            Escalation(group.escalation),
            group.escalate_after,
            IntruderAction(group.intruders),
            group.intruder_patience,
        ),
        lost=LostOptions(group.lost_after, group.stalled_after, group.hung_after),
        blazar=BlazarOptions(
            conf.blazar.profile, conf.blazar.preemptible_servers == "delete", conf.blazar.before_end == "snapshot"
        ),
        snapshots=SnapshotOptions(conf.blazar.image_prefix, group.image_timeout),
        tells_trespassers=not group.ordinary_servers,
    )
    return NovaDriver(
        clock,
        connection.nova,
        connection.nova_with_facts,
        Placement(connection.placement),
        lambda: connection.network,
        lambda: connection.glance,
        connection.on_behalf_of,
        connection.end_trust,
        group.watch_interval,
        group.aggregate_freepool_name,
        options,
        Watching(conf, connection),
        connection.trusts,
        connection.user_id,
    )
