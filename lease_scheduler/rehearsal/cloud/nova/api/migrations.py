"""Moves of servers."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context, page


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of migrations."""

    def listed(request: Request) -> dict[str, Any]:
        context.admin(request, "os-migrations:index")
        query, found = request.query, list(reversed(context.store.migrations))
        for name, attribute in (
            ("instance_uuid", "server_id"),
            ("status", "status"),
            ("source_compute", "source"),
            ("migration_type", "kind"),
        ):
            if name in query:
                found = [each for each in found if getattr(each, attribute) == query[name]]
        if "host" in query:
            found = [each for each in found if query["host"] in (each.source, each.destination)]
        listed, _ = page(found, request, "uuid")
        return {"migrations": [each.shown() for each in listed]}

    routes.add("GET", "/os-migrations", listed)
