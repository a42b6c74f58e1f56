"""Servers are built, and built anew."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError, PreemptedError, Work
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import Action, Migration, Server

NO_HOST = "No valid host was found. There are not enough hosts available."

#: Number of hosts that are tried for one server.
_ATTEMPTS = 3


class Building:
    """Boots, rebuilds and evacuations."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    # -- boots -----------------------------------------------------------------------------------------------

    def build(self, server: Server, action: Action, tried: frozenset[str] = frozenset()) -> None:
        """Build a new server.

        :param tried: hosts that have failed to
        """
        timing, seconds = self._tools.store.timing, self._tools.computes.seconds("schedule")
        timing.call_later(seconds, lambda: self._schedule(server, action, tried))

    def _schedule(self, server: Server, action: Action, tried: frozenset[str]) -> None:
        tools = self._tools
        if server.deleted:
            return
        choice = None
        if len(tried) < _ATTEMPTS:
            choice = tools.scheduler.choose(
                server,
                server.flavor,
                ignored=tried,
                destination=server.asked.destination,
                forced=server.asked.forced_host,
            )
        if choice is None:
            why = f"Exceeded maximum number of retries for {server.id}." if tried else NO_HOST
            tools.store.fail(server, why, state=states.ERROR, task=None, host=None, planned=None)
            tools.store.notices.no_host(server, action)
            return
        tools.claim(server, choice.amounts)
        tools.store.change(server, planned=choice.host, devices=choice.amounts)
        tools.cast(
            server,
            action,
            "build_and_run_instance",
            lambda: self._built(server, action, choice.host, tried),
            host=choice.host,
            takes_turns=True,
        )

    def _built(self, server: Server, action: Action, host: str, tried: frozenset[str]) -> Work:
        tools = self._tools
        if server.deleted or server.task == states.DELETING:
            tools.release(server.id)
            return
        tools.store.change(server, host=host, state=states.BUILDING, task=None)
        tools.tell("create.start", server, action)
        tools.store.change(server, task=states.SPAWNING)
        try:
            yield tools.call(server, "spawn")
            tools.expect(server, states.SPAWNING)
        except HypervisorError as error:
            tools.tell("create.error", server, action)
            tools.release(server.id)
            tools.store.fail(server, str(error), host=None, planned=None, task=states.SCHEDULING)
            self.build(server, action, tried | {host})
            return
        except PreemptedError:
            # What a server has is released with its deletion, which may be over already.
            if tools.is_gone(server):
                tools.release(server.id)
            raise
        now = tools.store.timing.stamp()
        tools.store.change(server, state=states.ACTIVE, power=states.RUNNING, task=None, launched_at=now)
        tools.tell("create.end", server, action)

    # -- rebuilds --------------------------------------------------------------------------------------------

    def rebuild(self, server: Server, action: Action, image_id: str) -> None:
        """Build a server anew on its host, from an image."""
        self._tools.conduct(server, action, "rebuild_server", lambda: self._begin_rebuild(server, action, image_id))

    def _begin_rebuild(self, server: Server, action: Action, image_id: str) -> None:
        self._tools.expect(server, states.REBUILDING)
        self._tools.cast(server, action, "rebuild_instance", lambda: self._rebuilt(server, action, image_id))

    def _rebuilt(self, server: Server, action: Action, image_id: str) -> Work:
        tools, was_stopped = self._tools, server.state == states.STOPPED
        tools.tell("rebuild.start", server, action)
        try:
            tools.expect(server, states.REBUILDING)
            yield tools.call(server, "destroy")
            tools.expect(server, states.REBUILDING)
            tools.store.change(server, task=states.REBUILD_SPAWNING)
            yield tools.call(server, "spawn")
            tools.expect(server, states.REBUILD_SPAWNING)
        except (HypervisorError, PreemptedError) as error:
            if not server.deleted and server.task not in (states.DELETING, states.SOFT_DELETING):
                tools.store.fail(server, str(error), state=states.ERROR, task=None)
            tools.tell("rebuild.error", server, action)
            raise
        state, power = (states.STOPPED, states.SHUTDOWN) if was_stopped else (states.ACTIVE, states.RUNNING)
        now = tools.store.timing.stamp()
        tools.store.change(server, image_id=image_id, state=state, power=power, task=None, launched_at=now, fault=None)
        tools.tell("rebuild.end", server, action)

    # -- evacuations -----------------------------------------------------------------------------------------

    def evacuate(self, server: Server, action: Action, migration: Migration, destination: str | None) -> None:
        """Build a server anew elsewhere, because its host is down."""
        self._tools.conduct(
            server,
            action,
            "rebuild_server",
            lambda: self._begin_evacuation(server, action, migration, destination),
        )

    def _begin_evacuation(self, server: Server, action: Action, migration: Migration, destination: str | None) -> None:
        tools = self._tools
        tools.expect(server, states.REBUILDING)
        ignored = frozenset({str(server.host)})
        choice = tools.scheduler.choose(server, server.flavor, ignored=ignored, destination=destination)
        if choice is None:
            migration.status = "error"
            tools.store.fail(server, NO_HOST, state=states.ERROR, task=None)
            tools.store.notices.no_host(server, action, "rebuild_server.error")
            return
        held = tools.store.placement.held(server.id)
        tools.claim(server, {**held, **choice.amounts})
        migration.destination = choice.host
        tools.cast(
            server,
            action,
            "rebuild_instance",
            lambda: self._evacuated(server, action, migration, choice.host),
            host=choice.host,
        )

    def _evacuated(self, server: Server, action: Action, migration: Migration, host: str) -> Work:
        tools, was_stopped = self._tools, server.state == states.STOPPED
        tools.tell("rebuild.start", server, action, host)
        try:
            tools.expect(server, states.REBUILDING)
            tools.store.change(server, task=states.REBUILD_SPAWNING)
            yield tools.call(server, "spawn")
            tools.expect(server, states.REBUILD_SPAWNING)
        except (HypervisorError, PreemptedError) as error:
            migration.status = "failed"
            if not server.deleted:
                tools.store.fail(server, str(error), state=states.ERROR, task=None)
            raise
        state, power = (states.STOPPED, states.SHUTDOWN) if was_stopped else (states.ACTIVE, states.RUNNING)
        tools.store.change(server, host=host, planned=host, state=state, power=power, task=None)
        migration.status = "done"
        tools.tell("rebuild.end", server, action)
