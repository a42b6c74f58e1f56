"""Commands that move or resize servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.locks import check_host, check_lock, check_state
from lease_scheduler.rehearsal.cloud.nova.api.switches import Asking
from lease_scheduler.rehearsal.cloud.nova.records import EVACUATION, Flavor, Migration, Server

_MOVABLE = (states.ACTIVE, states.STOPPED)


class MoveActions:
    """The commands."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        self.commands: Mapping[str, Callable[[Asking, Any], Answer | None]] = {
            "resize": self._resize,
            "migrate": self._migrate,
            "confirmResize": self._confirm,
            "revertResize": self._revert,
            "os-migrateLive": self._migrate_live,
            "evacuate": self._evacuate,
        }

    def _resize(self, asking: Asking, said: Any) -> None:
        server, identity = asking.server, asking.identity
        check_lock(server, identity)
        check_state(server, "resize", _MOVABLE)
        self._check_host_is_up(server)
        flavor = self._store.flavors.get(str(said["flavorRef"]))
        if flavor is None or not (identity.is_admin or flavor.is_public or identity.project_id in flavor.projects):
            raise Refusal(400, f"Flavor {said['flavorRef']} could not be found.")
        if flavor.id == server.flavor.id:
            raise Refusal(400, "When resizing, instances must change flavor!")
        if flavor.disk == 0 and server.flavor.disk and not server.boots_from_volume:
            raise Refusal(400, "Resize to zero disk flavor is not allowed.")
        self._begin(asking, "resize", flavor, None)

    def _migrate(self, asking: Asking, said: Any) -> None:
        server = asking.server
        self._context.admin(asking.request, "os-migrate-server:migrate")
        check_state(server, "migrate", _MOVABLE)
        self._check_host_is_up(server)
        host = (said or {}).get("host")
        self._check_destination(server, host)
        self._begin(asking, "migrate", None, host)

    def _begin(self, asking: Asking, name: str, flavor: Flavor | None, host: str | None) -> None:
        server = asking.server
        self._store.change(server, task=states.RESIZE_PREP)
        self._context.moving.resize(server, self._store.act(server, name, asking.identity), flavor, host)

    def _confirm(self, asking: Asking, said: Any) -> Answer:
        migration = self._finished(asking, "confirmResize")
        action = self._store.act(asking.server, "confirmResize", asking.identity)
        self._context.moving.confirm(asking.server, action, migration)
        return Answer(204)

    def _revert(self, asking: Asking, said: Any) -> None:
        migration = self._finished(asking, "revertResize")
        self._store.change(asking.server, task=states.RESIZE_REVERTING)
        action = self._store.act(asking.server, "revertResize", asking.identity)
        self._context.moving.revert(asking.server, action, migration)

    def _finished(self, asking: Asking, what: str) -> Migration:
        """Return the resize that waits to be confirmed."""
        server = asking.server
        check_lock(server, asking.identity)
        check_state(server, what, (states.RESIZED,))
        found = self._store.last_migration(server)
        if found.status != "finished":
            raise Refusal(400, "Instance has not been resized.")
        return found

    def _migrate_live(self, asking: Asking, said: Any) -> None:
        server, host = asking.server, said.get("host")
        self._context.admin(asking.request, "os-migrate-server:migrate_live")
        check_state(server, "os-migrateLive", (states.ACTIVE, states.PAUSED))
        self._check_destination(server, host)
        self._store.change(server, task=states.MIGRATING)
        action = self._store.act(server, "live-migration", asking.identity)
        self._context.moving.migrate_live(server, action, host)

    def _evacuate(self, asking: Asking, said: Any) -> Answer:
        server, host = asking.server, (said or {}).get("host")
        self._context.admin(asking.request, "os-evacuate")
        check_host(server)
        check_state(server, "evacuate", (states.ACTIVE, states.STOPPED, states.ERROR), None)
        if self._store.is_up(self._store.hosts[str(server.host)]):
            raise Refusal(400, f"Compute service of {server.host} is still in use.")
        self._check_destination(server, host)
        self._store.change(server, task=states.REBUILDING)
        action = self._store.act(server, "evacuate", asking.identity)
        migration = self._store.migrate(server, EVACUATION, action, host)
        self._context.building.evacuate(server, action, migration, host)
        return Answer(200, {"adminPass": "secret"})

    def _check_destination(self, server: Server, host: str | None) -> None:
        if host is not None and host not in self._store.hosts:
            raise Refusal(400, f"Compute host {host} could not be found.")
        if host is not None and host == server.host:
            raise Refusal(400, f"Server {server.id} is on host {host} already.")

    def _check_host_is_up(self, server: Server) -> None:
        check_host(server)
        if not self._store.is_up(self._store.hosts[str(server.host)]):
            raise Refusal(409, f"Service is unavailable at this time: host {server.host} is down.")
