"""Commands for servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.images import ImageActions
from lease_scheduler.rehearsal.cloud.nova.api.locks import check_host, check_lock, check_state
from lease_scheduler.rehearsal.cloud.nova.api.moves import MoveActions
from lease_scheduler.rehearsal.cloud.nova.api.switches import Asking, SwitchActions

#: Does what is asked; called with the request, and with what its body says of the command.
Command = Callable[[Asking, Any], Answer | None]


def add_routes(routes: Routes, context: Context) -> None:
    """Add the route of commands."""
    routes.add("POST", "/servers/{server_id}/action", _Actions(context).act)


class _Actions:
    def __init__(self, context: Context) -> None:
        self._context = context
        switches, images, moves = SwitchActions(context), ImageActions(context), MoveActions(context)
        self._commands: Mapping[str, Command] = {
            **switches.commands,
            **images.commands,
            **moves.commands,
            "restore": self._restore,
            "forceDelete": self._force_delete,
            "rebuild": self._rebuild,
        }

    def act(self, request: Request, server_id: str) -> Answer:
        identity = self._context.who(request)
        found = self._context.store.server(server_id, identity)
        ((name, said),) = request.body.items()
        if name not in self._commands:
            raise Refusal(400, f"There is no such action: {name}")
        return self._commands[name](Asking(request, identity, found), said) or Answer(202)

    def _restore(self, asking: Asking, said: Any) -> None:
        server = asking.server
        check_lock(server, asking.identity)
        check_state(server, "restore", (states.SOFT_DELETED,))
        store = self._context.store
        action = store.act(server, "restore", asking.identity)
        if server.host is None:
            store.change(server, state=states.ACTIVE, task=None)
            return
        store.change(server, task=states.RESTORING)
        self._context.power.restore(server, action)

    def _force_delete(self, asking: Asking, said: Any) -> None:
        server = asking.server
        check_lock(server, asking.identity)
        action = self._context.store.act(server, "delete", asking.identity)
        if not self._context.deleting.delete(server, action, softly=False):
            server.actions.remove(action)

    def _rebuild(self, asking: Asking, said: Any) -> Answer:
        server, store = asking.server, self._context.store
        check_lock(server, asking.identity)
        check_state(server, "rebuild", (states.ACTIVE, states.STOPPED, states.ERROR))
        check_host(server)
        image = store.glance.images.get(said["imageRef"])
        if image is None or not store.glance.may_see(
            image, asking.identity.project_id, is_admin=asking.identity.is_admin
        ):
            raise Refusal(400, "Cannot find image for rebuild")
        action = store.act(server, "rebuild", asking.identity)
        store.change(server, task=states.REBUILDING, name=said.get("name", server.name))
        if "metadata" in said:
            store.change(server, metadata=dict(said["metadata"]))
        self._context.building.rebuild(server, action, image.id)
        return Answer(202, {"server": {"id": server.id, "adminPass": "secret"}})
