"""What was asked for servers, and how far Nova has come with it."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.records import Server


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of actions."""
    handlers = _Actions(context)
    routes.add("GET", "/servers/{server_id}/os-instance-actions", handlers.list)
    routes.add("GET", "/servers/{server_id}/os-instance-actions/{request_id}", handlers.show)


class _Actions:
    def __init__(self, context: Context) -> None:
        self._context = context

    def list(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._server(request, server_id)
        return {"instanceActions": [each.shown(server_id, with_events=False) for each in found.actions]}

    def show(self, request: Request, server_id: str, request_id: str) -> dict[str, Any]:
        found = self._server(request, server_id)
        for each in found.actions:
            if each.request_id == request_id:
                return {"instanceAction": each.shown(server_id, with_events=True)}
        raise Refusal(404, f"Action {request_id} not found")

    def _server(self, request: Request, server_id: str) -> Server:
        """Return a server, which may be deleted."""
        identity = self._context.who(request)
        found = self._context.store.servers.get(server_id)
        if found is None or not (identity.is_admin or found.project_id == identity.project_id):
            raise Refusal(404, f"Instance {server_id} could not be found.")
        return found
