"""Compute services."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.records import Host
from lease_scheduler.rehearsal.cloud.nova.scheduler.requests import DISABLED

_COMPUTE = "nova-compute"


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of services."""
    handlers = _Services(context)
    routes.add("GET", "/os-services", handlers.list)
    routes.add("PUT", "/os-services/{service_id}", handlers.change)
    routes.add("GET", "/os-availability-zone", handlers.zones)


class _Services:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store

    def list(self, request: Request) -> dict[str, Any]:
        self._context.admin(request, "os-services:list")
        if request.query.get("binary", _COMPUTE) != _COMPUTE:
            return {"services": []}
        found = [each for each in self._store.hosts.values() if request.query.get("host") in (None, each.name)]
        return {"services": [self._shown(each) for each in found]}

    def change(self, request: Request, service_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-services:update")
        found = next((each for each in self._store.hosts.values() if each.service_id == service_id), None)
        if found is None:
            raise Refusal(404, f"Service {service_id} could not be found.")
        said = request.body
        if "status" in said:
            self._set_enabled(found, said["status"] == "enabled", said.get("disabled_reason"))
        if "forced_down" in said:
            found.forced_down = bool(said["forced_down"])
        self._store.notices.service("update", found)
        return {"service": self._shown(found)}

    def zones(self, request: Request) -> dict[str, Any]:
        names = dict.fromkeys(self._store.zone(each) for each in self._store.hosts)
        return {"availabilityZoneInfo": [{"zoneName": name, "zoneState": {"available": True}} for name in names]}

    def _set_enabled(self, host: Host, enabled: bool, reason: str | None) -> None:
        host.enabled, host.disabled_reason = enabled, None if enabled else reason
        self._store.placement.traits[DISABLED] = None
        provider = self._store.placement.provider(host.provider_id)
        wanted = provider.traits - {DISABLED} if enabled else provider.traits | {DISABLED}
        if wanted != provider.traits:
            provider.traits = wanted
            provider.generation += 1

    def _shown(self, host: Host) -> dict[str, Any]:
        seen = datetime.fromtimestamp(self._store.last_report(host), UTC)
        return {
            "id": host.service_id,
            "binary": _COMPUTE,
            "host": host.name,
            "zone": self._store.zone(host.name),
            "status": "enabled" if host.enabled else "disabled",
            "state": "up" if self._store.is_up(host) else "down",
            "updated_at": seen.strftime("%Y-%m-%dT%H:%M:%S.%f"),
            "disabled_reason": host.disabled_reason,
            "forced_down": host.forced_down,
        }
