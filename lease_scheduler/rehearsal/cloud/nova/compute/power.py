"""Servers are switched on and off, paused, suspended and rescued."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError, Work
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import Action, Server

_HARD = "HARD"

#: Messages after which a server has failed if its hypervisor does. After others, it is as it was before.
_FATAL = frozenset({"suspend_instance", "resume_instance", "rescue_instance", "unrescue_instance"})


class Power:
    """What changes whether a server runs. The API has set the task of the server before."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def stop(self, server: Server, action: Action) -> None:
        """Stop a server."""
        self._cast(server, action, "stop_instance", "power_off", states.STOPPED, states.SHUTDOWN, "power_off", True)

    def start(self, server: Server, action: Action) -> None:
        """Start a stopped server."""
        self._cast(server, action, "start_instance", "power_on", states.ACTIVE, states.RUNNING, "power_on")

    def pause(self, server: Server, action: Action) -> None:
        """Pause a server."""
        self._cast(server, action, "pause_instance", "pause", states.PAUSED, states.POWER_PAUSED, "pause")

    def unpause(self, server: Server, action: Action) -> None:
        """Have a paused server go on."""
        self._cast(server, action, "unpause_instance", "unpause", states.ACTIVE, states.RUNNING, "unpause")

    def suspend(self, server: Server, action: Action) -> None:
        """Suspend a server to the disk of its host."""
        self._cast(server, action, "suspend_instance", "suspend", states.SUSPENDED, states.POWER_SUSPENDED, "suspend")

    def resume(self, server: Server, action: Action) -> None:
        """Resume a suspended server."""
        self._cast(server, action, "resume_instance", "resume", states.ACTIVE, states.RUNNING, "resume")

    def rescue(self, server: Server, action: Action) -> None:
        """Boot a server from a rescue image."""
        self._cast(server, action, "rescue_instance", "rescue", states.RESCUED, states.RUNNING, "rescue")

    def unrescue(self, server: Server, action: Action) -> None:
        """Boot a rescued server from its own disk."""
        self._cast(server, action, "unrescue_instance", "unrescue", states.ACTIVE, states.RUNNING, "unrescue")

    def restore(self, server: Server, action: Action) -> None:
        """Start a server that was deleted and could be restored."""
        self._cast(server, action, "restore_instance", "power_on", states.ACTIVE, states.RUNNING, "restore")

    def set_password(self, server: Server, action: Action) -> None:
        """Change the password of a server."""
        self._cast(server, action, "set_admin_password", "set_admin_password", server.state, server.power, "password")

    def reboot(self, server: Server, action: Action, kind: str) -> None:
        """Reboot a server.

        :param kind: ``SOFT`` or ``HARD``
        """
        self._tools.cast(
            server, action, "reboot_instance", lambda: self._rebooted(server, action, kind), takes_turns=True
        )

    def _cast(
        self,
        server: Server,
        action: Action,
        message: str,
        method: str,
        state: str,
        power: int,
        event: str,
        takes_turns: bool = False,
    ) -> None:
        def work() -> Work:
            tools, task = self._tools, server.task
            tools.tell(f"{event}.start", server, action)
            try:
                yield tools.call(server, method)
            except HypervisorError as error:
                if message in _FATAL:
                    tools.store.fail(server, str(error), state=states.ERROR, task=None)
                raise
            tools.expect(server, task)
            tools.store.change(server, state=state, power=power, task=None)
            tools.tell(f"{event}.end", server, action)

        self._tools.cast(server, action, message, work, takes_turns=takes_turns)

    def _rebooted(self, server: Server, action: Action, kind: str) -> Work:
        tools = self._tools
        is_hard = kind == _HARD
        tools.expect(server, *(states.HARD_REBOOTS if is_hard else states.SOFT_REBOOTS))
        tools.store.change(server, task=states.REBOOT_PENDING_HARD if is_hard else states.REBOOT_PENDING)
        tools.tell("reboot.start", server, action)
        state = states.RESCUED if server.state == states.RESCUED else states.ACTIVE
        tools.store.change(server, task=states.REBOOT_STARTED_HARD if is_hard else states.REBOOT_STARTED)
        try:
            yield tools.call(server, "reboot")
        except HypervisorError as error:
            tools.store.fail(server, str(error), task=None)
            tools.tell("reboot.error", server, action)
        if server.deleted:
            return
        # Whatever was done with the server meanwhile: Nova does not look here.
        tools.store.change(server, state=state, power=states.RUNNING, task=None)
        tools.tell("reboot.end", server, action)
