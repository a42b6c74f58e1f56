"""Servers move: by resizes, cold and live migrations."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.building import NO_HOST
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError, PreemptedError, Work
from lease_scheduler.rehearsal.cloud.nova.compute.tools import Tools
from lease_scheduler.rehearsal.cloud.nova.records import COLD, LIVE, RESIZE, Action, Flavor, Migration, Server


class Moving:
    """Resizes and migrations."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    # -- resizes and cold migrations -------------------------------------------------------------------------

    def resize(self, server: Server, action: Action, flavor: Flavor | None, destination: str | None) -> None:
        """Resize a server, or migrate it while it is switched off.

        :param flavor: new flavor; None to migrate it with its own
        :param destination: the only host that it may get; None for any
        """
        self._tools.conduct(
            server, action, "migrate_server", lambda: self._begin_resize(server, action, flavor, destination)
        )

    def _begin_resize(self, server: Server, action: Action, flavor: Flavor | None, destination: str | None) -> None:
        tools = self._tools
        tools.expect(server, states.RESIZE_PREP)
        may_stay = flavor is not None and tools.store.options.allow_resize_to_same_host
        ignored = frozenset() if may_stay else frozenset({str(server.host)})
        wanted = flavor or server.flavor
        choice = tools.scheduler.choose(server, wanted, ignored=ignored, destination=destination)
        if choice is None:
            tools.store.fail(server, NO_HOST, task=None)
            tools.store.notices.no_host(server, action, "migrate_server.error")
            raise PreemptedError(NO_HOST)
        migration = tools.store.migrate(server, RESIZE if flavor is not None else COLD, action, choice.host)
        migration.old_flavor, migration.status = server.flavor, "pre-migrating"
        tools.move_claims(server, migration.uuid, choice.amounts)
        tools.tell("resize_prep.end", server, action, choice.host)
        tools.cast(
            server,
            action,
            "resize_instance",
            lambda: self._sent(server, action, migration, wanted, choice.amounts),
        )

    def _sent(self, server: Server, action: Action, migration: Migration, flavor: Flavor, amounts: object) -> Work:
        tools = self._tools
        tools.expect(server, states.RESIZE_PREP)
        migration.status = "migrating"
        tools.store.change(server, task=states.RESIZE_MIGRATING, old_state=server.state)
        tools.tell("resize.start", server, action)
        try:
            yield tools.call(server, "migrate_disk_and_power_off")
        except HypervisorError as error:
            self._give_up(server, migration, str(error))
            raise
        # The host is set before Nova looks whether something else was done with the server.
        if not server.deleted:
            tools.store.change(server, host=migration.destination, planned=migration.destination)
        try:
            tools.expect(server, states.RESIZE_MIGRATING)
        except PreemptedError as error:
            # Nova writes the task after the error, and never clears it.
            self._give_up(server, migration, str(error), task=states.RESIZE_MIGRATED)
            raise
        migration.status = "post-migrating"
        tools.store.change(server, task=states.RESIZE_MIGRATED)
        tools.tell("resize.end", server, action, migration.source)
        tools.cast(server, action, "finish_resize", lambda: self._finished(server, action, migration, flavor, amounts))

    def _give_up(self, server: Server, migration: Migration, why: str, task: str | None = None) -> None:
        tools = self._tools
        migration.status = "error"
        if server.deleted:
            tools.release(migration.uuid)
            return
        tools.return_claims(server, migration.uuid)
        tools.store.fail(server, why, state=states.ERROR, task=task)

    def _fail(self, server: Server, migration: Migration, error: Exception) -> None:
        migration.status = "error"
        if not server.deleted:
            self._tools.store.fail(server, str(error), state=states.ERROR, task=None)

    def _finished(self, server: Server, action: Action, migration: Migration, flavor: Flavor, amounts: object) -> Work:
        tools = self._tools
        tools.expect(server, states.RESIZE_MIGRATED)
        tools.store.change(server, task=states.RESIZE_FINISH, flavor=flavor.copy(), devices=amounts)
        tools.tell("resize_finish.start", server, action)
        try:
            yield tools.call(server, "finish_migration")
            tools.expect(server, states.RESIZE_FINISH)
        except (HypervisorError, PreemptedError) as error:
            self._fail(server, migration, error)
            raise
        migration.status = "finished"
        now = tools.store.timing.stamp()
        tools.store.change(server, state=states.RESIZED, task=None, launched_at=now)
        tools.tell("resize_finish.end", server, action)

    def confirm(self, server: Server, action: Action, migration: Migration) -> None:
        """Confirm that a server stays where it was moved."""
        migration.status = "confirming"
        self._tools.cast(
            server,
            action,
            "confirm_resize",
            lambda: self._confirmed(server, action, migration),
            host=migration.source,
            takes_turns=True,
        )

    def _confirmed(self, server: Server, action: Action, migration: Migration) -> Work:
        tools = self._tools
        tools.tell("resize_confirm.start", server, action, migration.source)
        try:
            yield tools.call(server, "confirm_migration")
        except HypervisorError as error:
            self._fail(server, migration, error)
            raise
        self.confirm_now(server, migration)
        tools.tell("resize_confirm.end", server, action)

    def confirm_now(self, server: Server, migration: Migration) -> None:
        """Release what a migration has, and have its server stay where it is."""
        self._tools.release(migration.uuid)
        migration.status = "confirmed"
        if server.deleted or server.state != states.RESIZED:
            return
        was_stopped = server.old_state == states.STOPPED
        task = server.task if server.task in (states.DELETING, states.SOFT_DELETING) else None
        self._tools.store.change(server, state=states.STOPPED if was_stopped else states.ACTIVE, task=task)

    def revert(self, server: Server, action: Action, migration: Migration) -> None:
        """Bring a server back to the host and the flavor that it had. The API has set its task."""
        migration.status = "reverting"
        self._tools.cast(
            server, action, "revert_resize", lambda: self._reverted(server, action, migration), takes_turns=True
        )

    def _reverted(self, server: Server, action: Action, migration: Migration) -> Work:
        tools, old = self._tools, migration.old_flavor
        tools.tell("resize_revert.start", server, action)
        try:
            yield tools.call(server, "destroy")
            tools.expect(server, states.RESIZE_REVERTING)
            tools.return_claims(server, migration.uuid)
            tools.store.change(server, host=migration.source, planned=migration.source, flavor=old or server.flavor)
            yield tools.call(server, "finish_revert_migration")
        except HypervisorError as error:
            self._fail(server, migration, error)
            raise
        tools.expect(server, states.RESIZE_REVERTING)
        migration.status = "reverted"
        was_stopped = server.old_state == states.STOPPED
        tools.store.change(server, state=states.STOPPED if was_stopped else states.ACTIVE, task=None)
        tools.tell("resize_revert.end", server, action)

    # -- live migrations -------------------------------------------------------------------------------------

    def migrate_live(self, server: Server, action: Action, destination: str | None) -> None:
        """Migrate a running server.

        :param destination: the only host that it may get; None for any
        """
        self._tools.conduct(
            server, action, "live_migrate_instance", lambda: self._begin_live(server, action, destination)
        )

    def _begin_live(self, server: Server, action: Action, destination: str | None) -> None:
        tools = self._tools
        tools.expect(server, states.MIGRATING)
        migration = tools.store.migrate(server, LIVE, action, destination)
        ignored = frozenset({str(server.host)})
        choice = tools.scheduler.choose(server, server.flavor, ignored=ignored, destination=destination)
        if choice is None:
            migration.status = "error"
            tools.store.fail(server, NO_HOST, task=None)
            tools.store.notices.no_host(server, action, "migrate_server.error")
            raise PreemptedError(NO_HOST)
        migration.destination, migration.status = choice.host, "preparing"
        tools.move_claims(server, migration.uuid, choice.amounts)
        tools.cast(server, action, "live_migration", lambda: self._live(server, action, migration, choice.amounts))

    def _live(self, server: Server, action: Action, migration: Migration, amounts: object) -> Work:
        tools = self._tools
        migration.status = "running"
        tools.tell("live_migration_pre.end", server, action)
        try:
            yield tools.call(server, "live_migration")
            tools.expect(server, states.MIGRATING)
        except (HypervisorError, PreemptedError) as error:
            migration.status = "error"
            tools.return_claims(server, migration.uuid)
            if isinstance(error, PreemptedError):
                raise
            tools.store.fail(server, str(error), task=None)
            tools.tell("live_migration_rollback.end", server, action)
            return
        power = {"host": migration.destination, "planned": migration.destination, "task": None, "devices": amounts}
        tools.store.change(server, **power)
        tools.tell("live_migration_post.end", server, action, migration.source)
        if tools.release(migration.uuid):
            migration.status = "completed"
            return
        migration.status = "error"
        tools.store.fail(server, f"Failed to delete allocations for consumer {migration.uuid}.", state=states.ERROR)
