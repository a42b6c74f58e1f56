"""Hypervisors."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.records import Host

#: The last version that shows what hypervisors have, and what is used of it.
_WITH_FACTS = (2, 87)


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of hypervisors."""
    handlers = _Hypervisors(context)
    routes.add("GET", "/os-hypervisors", handlers.list)
    routes.add("GET", "/os-hypervisors/detail", handlers.list)
    routes.add("GET", "/os-hypervisors/{hypervisor_id}", handlers.show)


class _Hypervisors:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store

    def list(self, request: Request) -> dict[str, Any]:
        self._context.admin(request, "os-hypervisors:list")
        pattern = request.query.get("hypervisor_hostname_pattern", "")
        return {
            "hypervisors": [self._shown(each, request) for each in self._store.hosts.values() if pattern in each.name]
        }

    def show(self, request: Request, hypervisor_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-hypervisors:show")
        found = next((each for each in self._store.hosts.values() if each.provider_id == hypervisor_id), None)
        if found is None:
            raise Refusal(404, f"Hypervisor with ID '{hypervisor_id}' could not be found.")
        return {"hypervisor": self._shown(found, request)}

    def _shown(self, host: Host, request: Request) -> dict[str, Any]:
        shown = {
            "id": host.provider_id,
            "hypervisor_hostname": host.name,
            "hypervisor_type": host.hypervisor_type,
            "hypervisor_version": host.hypervisor_version,
            "host_ip": "192.0.2.1",
            "state": "up" if self._store.is_up(host) else "down",
            "status": "enabled" if host.enabled else "disabled",
            "service": {"id": host.service_id, "host": host.name, "disabled_reason": host.disabled_reason},
        }
        if (request.microversion or (2, 1)) > _WITH_FACTS:
            return shown
        here = self._store.on(host.name)
        used = sum(each.flavor.ram for each in here)
        return {
            **shown,
            "vcpus": host.vcpus,
            "vcpus_used": sum(each.flavor.vcpus for each in here),
            "memory_mb": host.memory_mb,
            "memory_mb_used": used,
            "free_ram_mb": host.memory_mb - used,
            "local_gb": host.disk_gb,
            "local_gb_used": sum(each.flavor.disk for each in here),
            "free_disk_gb": host.disk_gb - sum(each.flavor.disk for each in here),
            "disk_available_least": host.disk_gb,
            "running_vms": len(here),
            "current_workload": 0,
            "cpu_info": dict(host.cpu_info),
        }
