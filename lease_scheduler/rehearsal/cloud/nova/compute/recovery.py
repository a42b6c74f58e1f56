"""What a compute service does with its servers when it has started (Nova's ``init_host``)."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.deleting import Deleting
from lease_scheduler.rehearsal.cloud.nova.compute.power import Power
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import EVACUATION, Action, Host, Server

_BUILDING = (states.SCHEDULING, states.BLOCK_DEVICES, states.NETWORKING, states.SPAWNING)
_REBUILDING = (states.REBUILDING, states.REBUILD_DEVICES, states.REBUILD_SPAWNING)
_IMAGING = (
    states.IMAGE_SNAPSHOT_PENDING,
    states.IMAGE_PENDING,
    states.IMAGE_UPLOADING,
    states.IMAGE_SNAPSHOT,
    states.IMAGE_BACKUP,
)
_FORGOTTEN = (
    states.RESIZE_PREP,
    states.REBOOT_STARTED,
    states.REBOOT_STARTED_HARD,
    states.REBOOTING,
    states.REBOOTING_HARD,
    states.REBOOT_PENDING,
    states.REBOOT_PENDING_HARD,
    states.PAUSING,
    states.UNPAUSING,
)


class Recovery:
    """The start of a compute service."""

    def __init__(self, tools: Tools, power: Power, deleting: Deleting) -> None:
        self._tools = tools
        self._power = power
        self._deleting = deleting

    def recover(self, host: Host) -> None:
        """Bring the servers of a host out of what was begun before the service stopped."""
        self._forget_evacuated(host)
        for server in self._tools.store.on(host.name):
            self._recover(server)

    def _forget_evacuated(self, host: Host) -> None:
        """Remove servers that were built anew elsewhere meanwhile, and what they have of this host."""
        placement = self._tools.store.placement
        for each in self._tools.store.migrations:
            if (each.kind, each.status, each.source) != (EVACUATION, "done", host.name):
                continue
            each.status = "completed"
            server = self._tools.store.servers[each.server_id]
            mine = {provider.id for provider in placement.tree(host.provider_id)}
            held = placement.held(server.id)
            if not server.deleted and held.keys() & mine:
                self._tools.claim(server, {key: amounts for key, amounts in held.items() if key not in mine})

    def _recover(self, server: Server) -> None:
        store, task = self._tools.store, server.task
        if task is None or server.state == states.SOFT_DELETED:
            return
        action = server.actions[0]
        if task == states.DELETING:
            self._deleting.destroy(server, action)
        elif server.state == states.ERROR and task != states.RESIZE_MIGRATING:
            return
        elif server.state == states.BUILDING or task in _BUILDING or task in _REBUILDING:
            store.fail(server, f"{task} was interrupted", state=states.ERROR, task=None)
        elif task in _IMAGING or task == states.RESIZE_MIGRATING:
            store.change(server, task=None)
        elif task in _FORGOTTEN:
            store.change(server, task=None, state=states.ACTIVE)
        elif task == states.MIGRATING:
            self._abort_live(server)
        else:
            self._again(server, action)

    def _abort_live(self, server: Server) -> None:
        migration = self._tools.store.last_migration(server)
        migration.status = "error"
        self._tools.return_claims(server, migration.uuid)
        self._tools.store.change(server, task=None)

    def _again(self, server: Server, action: Action) -> None:
        """Do again what was lost; other tasks stay until somebody resets the state of the server."""
        if server.task == states.POWERING_OFF:
            self._power.stop(server, action)
        elif server.task == states.POWERING_ON:
            self._power.start(server, action)
