"""Everything that the parts of Nova share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.rehearsal.cloud.glance.store import Store as Glance
from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.neutron.store import Store as Neutron
from lease_scheduler.rehearsal.cloud.nova.notices import Notices
from lease_scheduler.rehearsal.cloud.nova.records import (
    Action,
    Event,
    Flavor,
    Host,
    HostAggregate,
    Migration,
    Server,
    ServerGroup,
)
from lease_scheduler.rehearsal.cloud.nova.states import DELETED, NO_POWER
from lease_scheduler.rehearsal.cloud.options import Options
from lease_scheduler.rehearsal.cloud.placement.store import Store as Placement
from lease_scheduler.rehearsal.cloud.timing import Timing

#: Zone of hosts that are in no other one.
DEFAULT_ZONE = "nova"


@dataclass
class Store:
    """What Nova knows, and the services that it uses.

    :ivar options: may be replaced at any time, as when an operator restarts services
    """

    timing: Timing
    options: Options
    placement: Placement
    glance: Glance
    neutron: Neutron
    notices: Notices
    hosts: dict[str, Host] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)
    flavors: dict[str, Flavor] = field(default_factory=dict)
    aggregates: dict[int, HostAggregate] = field(default_factory=dict)
    migrations: list[Migration] = field(default_factory=list)
    groups: dict[str, ServerGroup] = field(default_factory=dict)
    _present: dict[str, Server] = field(default_factory=dict)
    next_aggregate: int = 1
    next_server: int = 1

    # -- servers ---------------------------------------------------------------------------------------------

    def server(self, server_id: str, identity: Identity) -> Server:
        """Return a server that somebody may see.

        :raises Refusal: there is none
        """
        found = self.servers.get(server_id)
        if found is None or found.deleted or not (identity.is_admin or found.project_id == identity.project_id):
            raise Refusal(404, f"Instance {server_id} could not be found.")
        return found

    def add(self, server: Server) -> None:
        """Add a new server."""
        self.servers[server.id] = self._present[server.id] = server
        self.next_server += 1

    def remove(self, server: Server) -> None:
        """Note that a server is deleted. Nova still shows it to those who ask for deleted servers."""
        self._present.pop(server.id, None)
        now = self.timing.stamp()
        self.change(server, state=DELETED, task=None, deleted=True, terminated_at=now, power=NO_POWER)

    def present(self) -> Iterable[Server]:
        """Return the servers that are not deleted."""
        return list(self._present.values())

    def on(self, host: str) -> list[Server]:
        """Return the servers of a host."""
        return [each for each in self.present() if each.host == host]

    def change(self, server: Server, **values: Any) -> None:
        """Set attributes of a server."""
        for name, value in values.items():
            setattr(server, name, value)
        server.updated = self.timing.stamp()
        server.changed = self.timing.time()

    def fail(self, server: Server, message: str, *, code: int = 500, **values: Any) -> None:
        """Note why something failed, and set attributes of a server."""
        fault = {"code": code, "message": message, "created": self.timing.stamp(), "details": message}
        self.change(server, fault=fault, **values)

    def act(self, server: Server, name: str, identity: Identity) -> Action:
        """Note that somebody asks Nova to do something with a server."""
        made = Action(
            name,
            f"req-{self.timing.new_id()}",
            identity.project_id,
            identity.user_id,
            self.timing.precise_stamp(),
        )
        server.actions.insert(0, made)
        return made

    def begin(self, action: Action, name: str, host: str | None = None) -> Event:
        """Note that a service of Nova begins a part of an action."""
        made = Event(name, self.timing.precise_stamp(), host)
        action.events.insert(0, made)
        return made

    def finish(self, event: Event, error: str | None = None) -> None:
        """Note that a service of Nova has done a part of an action."""
        event.finish_time = self.timing.precise_stamp()
        event.result = "Success" if error is None else "Error"
        event.details = error

    # -- hosts -----------------------------------------------------------------------------------------------

    def is_up(self, host: Host) -> bool:
        """Return whether Nova takes a compute service for up."""
        return not host.forced_down and self.timing.time() - self.last_report(host) <= self.options.service_down_time

    def last_report(self, host: Host) -> float:
        """Return the instant at which a compute service has reported last."""
        if not host.runs:
            return host.reported
        passed, interval = self.timing.time() - host.reported, self.options.report_interval
        return host.reported + passed // interval * interval

    def zone(self, host: str) -> str:
        """Return the availability zone of a host."""
        zones = (each.availability_zone for each in self.aggregates.values() if host in each.hosts)
        return next((zone for zone in zones if zone is not None), DEFAULT_ZONE)

    # -- migrations ------------------------------------------------------------------------------------------

    def migrate(self, server: Server, kind: str, action: Action, destination: str | None = None) -> Migration:
        """Note a move of a server."""
        made = Migration(
            len(self.migrations) + 1,
            self.timing.new_id(),
            server.id,
            kind,
            "accepted",
            str(server.host),
            action.project_id,
            action.user_id,
            self.timing.precise_stamp(),
            destination,
        )
        self.migrations.append(made)
        return made

    def last_migration(self, server: Server) -> Migration:
        """Return the last move of a server.

        :raises LookupError: there is none
        """
        for each in reversed(self.migrations):
            if each.server_id == server.id:
                return each
        raise LookupError(f"server {server.id} was never moved")
