"""Server groups."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.records import ServerGroup

_POLICIES = ("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity")


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of server groups."""
    handlers = _Groups(context)
    routes.add("GET", "/os-server-groups", handlers.list)
    routes.add("POST", "/os-server-groups", handlers.create)
    routes.add("GET", "/os-server-groups/{group_id}", handlers.show)
    routes.add("DELETE", "/os-server-groups/{group_id}", handlers.delete, 204)


class _Groups:
    def __init__(self, context: Context) -> None:
        self._context = context

    def list(self, request: Request) -> dict[str, Any]:
        identity = self._context.who(request)
        sees_all = identity.is_admin and "all_projects" in request.query
        found = [
            each for each in self._context.store.groups.values() if sees_all or each.project_id == identity.project_id
        ]
        return {"server_groups": [each.shown() for each in found]}

    def create(self, request: Request) -> dict[str, Any]:
        identity, said = self._context.who(request), request.body["server_group"]
        policy = said.get("policy") or said["policies"][0]
        if policy not in _POLICIES:
            raise Refusal(400, f"Invalid input for field/attribute policy. Value: {policy}.")
        made = ServerGroup(
            self._context.store.timing.new_id(), said["name"], policy, identity.project_id, identity.user_id
        )
        self._context.store.groups[made.id] = made
        return {"server_group": made.shown()}

    def show(self, request: Request, group_id: str) -> dict[str, Any]:
        return {"server_group": self._group(request, group_id).shown()}

    def delete(self, request: Request, group_id: str) -> None:
        self._group(request, group_id)
        del self._context.store.groups[group_id]

    def _group(self, request: Request, group_id: str) -> ServerGroup:
        identity = self._context.who(request)
        found = self._context.store.groups.get(group_id)
        if found is None or not (identity.is_admin or found.project_id == identity.project_id):
            raise Refusal(404, f"Instance group {group_id} could not be found.")
        return found
