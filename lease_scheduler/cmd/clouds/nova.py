"""The OpenStack cloud that group ``nova`` configures.

Modules that only a driver needs are imported when one is made, so that the REST service and the tools start faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from keystoneauth1 import loading
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.cloud.nova.api.pci_aliases import parse
from lease_scheduler.cmd.agents import agent_secret
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.records.trust_marks import TrustMark

if TYPE_CHECKING:
    from lease_scheduler.cloud.nova.api.connection import Connection
    from lease_scheduler.cloud.nova.api.notifications import NotificationListener
    from lease_scheduler.cloud.nova.driver import NovaDriver
    from lease_scheduler.cloud.nova.watch.watching import Watching

_GROUP = "nova"


class ConfiguredNova(ConfiguredCloud):
    """The OpenStack cloud that group ``nova`` configures.

    :raises InvalidValueError: a PCI alias is not one that Nova accepts, or an option of the agents is wrong
    """

    def __init__(self, conf: Any) -> None:
        super().__init__(conf)
        self._pci_aliases = parse(conf[_GROUP].pci_alias)
        agent_secret(conf)

    def driver(self, clock: WaitingClock) -> NovaDriver:
        """See ``ConfiguredCloud.driver``."""
        from lease_scheduler.cloud.nova.api.lost import LostOptions
        from lease_scheduler.cloud.nova.api.placement import Placement
        from lease_scheduler.cloud.nova.assembly.clients import NovaClients
        from lease_scheduler.cloud.nova.assembly.options import DriverOptions
        from lease_scheduler.cloud.nova.driver import NovaDriver
        from lease_scheduler.cloud.nova.images.snapshots import SnapshotOptions
        from lease_scheduler.cloud.nova.lease.reservations import BlazarOptions
        from lease_scheduler.cloud.nova.vacating.options import Escalation, IntruderAction, RoomOptions
        from lease_scheduler.cmd.agents import agent_client

        group, blazar, connection = self.conf[_GROUP], self.conf.blazar, self.connection()
        options = DriverOptions(
            freepool=group.aggregate_freepool_name,
            watch_interval=group.watch_interval,
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
                blazar.profile, blazar.preemptible_servers == "delete", blazar.before_end == "snapshot"
            ),
            snapshots=SnapshotOptions(blazar.image_prefix, group.image_timeout),
            tells_trespassers=not group.ordinary_servers,
            pci_aliases=self._pci_aliases,
            shares_per_vcpu=group.cpu_shares_per_vcpu,
            renew_interval=self.conf.agent.renew_interval,
        )
        clients = NovaClients(
            nova=connection.nova,
            nova_with_facts=connection.nova_with_facts,
            placement=Placement(connection.placement),
            network=lambda: connection.network,
            glance=lambda: connection.glance,
            on_behalf_of=connection.on_behalf_of,
            end_trust=connection.end_trust,
            trusts=partial(given_trusts, connection.trusts, self._trust_mark(), clock),
            user_id=connection.user_id,
            agents=partial(agent_client, self.conf),
        )
        return NovaDriver(clock, clients, options, self.watching(connection))

    @property
    def preparation_time(self) -> int:
        """See ``ConfiguredCloud.preparation_time``."""
        return int(self.conf[_GROUP].preparation_time)

    def trustee(self) -> Adapter:
        """See ``ConfiguredCloud.trustee``."""
        return self._adapter("identity", min_version="3", max_version="3.latest")

    def adapter(self, service_type: str) -> Adapter:
        """See ``ConfiguredCloud.adapter``."""
        return self._adapter(service_type)

    def upgrade_warning(self) -> str | None:
        """Return a warning if servers without a lease may get capacity that was promised to leases, or None.

        There are two causes: Placement grants concurrent claims that together exceed the capacity, or nova-scheduler
        has placed servers on hosts where ``LeaseFilter`` would have refused them.
        """
        from lease_scheduler.cloud.nova.api.placement import Placement
        from lease_scheduler.cloud.nova.api.probing import oversells
        from lease_scheduler.cloud.nova.repair.trespassers import unfiltered

        connection = self.connection()

        def filtering() -> str | None:
            let_in = unfiltered(connection.nova, self.conf[_GROUP].aggregate_freepool_name)
            if not let_in:
                return None
            return f"server {let_in[0].name} {let_in[0].detail}; {len(let_in)} such servers in all"

        def selling() -> str | None:
            if not oversells(Placement(connection.placement)):
                return None
            return (
                "Placement grants claims that meet more than there is, so servers may get what leases were promised: "
                "set [placement] allocation_conflict_retry_count = 1 in placement.conf"
            )

        return "; ".join(filter(None, (_result("Nova", filtering), _result("Placement", selling)))) or None

    def connection(self) -> Connection:
        """Return clients of the services of this OpenStack."""
        from lease_scheduler.cloud.nova.api.connection import Connection

        group = self.conf[_GROUP]
        return Connection(self._log_in, group.interface, group.region_name)

    def _trust_mark(self) -> TrustMark:
        return TrustMark(self.conf.service.site, self.conf[_GROUP].region_name)

    def watching(self, connection: Connection) -> Watching:
        """Return the factory of this cloud's watcher."""
        from lease_scheduler.cloud.nova.watch.silence import Patience
        from lease_scheduler.cloud.nova.watch.watching import Watching, WatchingOptions

        group = self.conf[_GROUP]
        options = WatchingOptions(
            group.watch_interval,
            group.inspect_interval,
            group.aggregate_freepool_name,
            Patience(group.down_grace, group.reconnection_grace),
        )
        return Watching(options, connection, self._listener)

    def _listener(self) -> NotificationListener | None:
        from lease_scheduler.cloud.nova.api.notifications import NotificationListener
        from lease_scheduler.cmd.messaging import listening_transport

        group = self.conf[_GROUP]
        if not group.notification_topics:
            return None
        return NotificationListener(
            # Called only when needed, because only the engine that leads listens.
            lambda: listening_transport(self.conf, group.notification_transport_url),
            group.notification_exchange,
            group.notification_topics,
            f"lease-scheduler.{self.conf.service.site}",
        )

    def _adapter(self, service_type: str, **versions: Any) -> Adapter:
        group = self.conf[_GROUP]
        return Adapter(
            self._log_in(),
            service_type=service_type,
            interface=group.interface,
            region_name=group.region_name,
            **versions,
        )

    def _log_in(self, **options: Any) -> Session:
        """Return a session.

        :param options: options that take precedence over those of the group
        """
        auth = loading.load_auth_from_conf_options(self.conf, _GROUP, **options)
        session: Session = loading.load_session_from_conf_options(self.conf, _GROUP, auth=auth)
        return session


def given_trusts(
    trusts: Callable[[], Mapping[str, int | None]], mark: TrustMark, clock: WaitingClock
) -> dict[str, bool]:
    """Return trusts as id -> whether the trust is abandoned unless a lease has it."""
    return {trust_id: mark.is_abandoned(uses, clock.now()) for trust_id, uses in trusts().items()}


def _result(name: str, check: Callable[[], str | None]) -> str | None:
    """Return the warning of a check, or a message that it failed, so that the checks of other services still count."""
    try:
        return check()
    except Exception as error:
        return f"{name} could not be examined: {error}"
