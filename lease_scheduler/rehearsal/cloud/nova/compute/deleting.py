"""Servers are deleted, at once or so that they can be restored for a while."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.moving import Moving
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError, Work
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import Action, Server

_GOING = (states.DELETING, states.SOFT_DELETING)


class Deleting:
    """Deletions."""

    def __init__(self, tools: Tools, moving: Moving) -> None:
        self._tools = tools
        self._moving = moving

    def delete(self, server: Server, action: Action, *, softly: bool) -> bool:
        """Delete a server. Return False if Nova ignores this, because the server is being deleted already.

        :param softly: whether it can be restored for a while
        """
        tools, before = self._tools, server.task
        if server.state in (states.SHELVED, states.SHELVED_OFFLOADED):
            tools.remove_image(server.shelved_image)
        if server.host is None and server.state == states.BUILDING:
            # It was not sent to a host yet, or the message is on its way, where it finds nothing to build.
            self._gone(server, action)
            return True
        tools.store.change(server, task=states.SOFT_DELETING if softly else states.DELETING)
        if server.state == states.RESIZED:
            self._moving.confirm_now(server, tools.store.last_migration(server))
        host = tools.store.hosts.get(server.host or "")
        if host is None or not tools.store.is_up(host):
            if softly:
                tools.store.change(server, state=states.SOFT_DELETED, task=None)
                self._reclaim_later(server, action)
            else:
                self._gone(server, action)
            return True
        if before in _GOING:
            return False
        if softly:
            tools.cast(server, action, "soft_delete_instance", lambda: self._kept(server, action))
        else:
            tools.cast(server, action, "terminate_instance", lambda: self._destroyed(server, action), takes_turns=True)
        return True

    def destroy(self, server: Server, action: Action) -> None:
        """Have the host of a server go on with a deletion."""
        self._tools.cast(
            server, action, "terminate_instance", lambda: self._destroyed(server, action), takes_turns=True
        )

    def _destroyed(self, server: Server, action: Action) -> Work:
        tools = self._tools
        if server.deleted:
            return
        tools.tell("delete.start", server, action)
        try:
            yield tools.call(server, "destroy")
        except HypervisorError as error:
            tools.store.fail(server, str(error), state=states.ERROR, task=None)
            raise
        self._gone(server, action)

    def _kept(self, server: Server, action: Action) -> Work:
        tools = self._tools
        tools.tell("soft_delete.start", server, action)
        yield tools.call(server, "power_off")
        tools.expect(server, states.SOFT_DELETING)
        tools.store.change(server, state=states.SOFT_DELETED, task=None, power=states.SHUTDOWN)
        tools.tell("soft_delete.end", server, action)
        self._reclaim_later(server, action)

    def _reclaim_later(self, server: Server, action: Action) -> None:
        since = server.changed

        def reclaim() -> None:
            if not server.deleted and server.state == states.SOFT_DELETED and server.changed == since:
                self.delete(server, action, softly=False)

        store = self._tools.store
        store.timing.call_later(store.options.reclaim_instance_interval, reclaim)

    def _gone(self, server: Server, action: Action) -> None:
        tools, host = self._tools, server.host
        tools.release(server.id)
        tools.store.remove(server)
        for port_id in server.ports:
            if port_id in tools.store.neutron.ports:
                tools.store.neutron.ports[port_id].device_id = ""
        group = tools.store.groups.get(server.group_id or "")
        if group is not None and server.id in group.members:
            group.members.remove(server.id)
        tools.tell("delete.end", server, action, host)
