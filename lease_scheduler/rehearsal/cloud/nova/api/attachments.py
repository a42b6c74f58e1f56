"""Volumes, ports and diagnostics of servers."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.locks import check_host, check_lock, check_state
from lease_scheduler.rehearsal.cloud.nova.records import Volume

_WITH_VOLUMES = (
    states.ACTIVE,
    states.PAUSED,
    states.STOPPED,
    states.RESIZED,
    states.SOFT_DELETED,
    states.SHELVED,
    states.SHELVED_OFFLOADED,
)


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of volumes, ports and diagnostics."""
    handlers = _Attachments(context)
    routes.add("GET", "/servers/{server_id}/os-volume_attachments", handlers.volumes)
    routes.add("POST", "/servers/{server_id}/os-volume_attachments", handlers.attach_volume)
    routes.add("DELETE", "/servers/{server_id}/os-volume_attachments/{volume_id}", handlers.detach_volume, 202)
    routes.add("GET", "/servers/{server_id}/os-interface", handlers.ports)
    routes.add("POST", "/servers/{server_id}/os-interface", handlers.attach_port)
    routes.add("GET", "/servers/{server_id}/diagnostics", handlers.diagnostics)


class _Attachments:
    def __init__(self, context: Context) -> None:
        self._context = context

    def volumes(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._context.server(request, server_id)
        return {"volumeAttachments": [_shown(each, server_id) for each in found.volumes]}

    def attach_volume(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._context.server(request, server_id)
        check_lock(found, self._context.who(request))
        check_state(found, "attach_volume", _WITH_VOLUMES, (None,))
        volume_id = request.body["volumeAttachment"]["volumeId"]
        if any(each.id == volume_id for each in found.volumes):
            raise Refusal(400, f"Invalid volume: volume {volume_id} already attached")
        volume = Volume(volume_id)
        self._context.store.change(found, volumes=[*found.volumes, volume])
        return {"volumeAttachment": _shown(volume, server_id)}

    def detach_volume(self, request: Request, server_id: str, volume_id: str) -> None:
        found = self._context.server(request, server_id)
        check_lock(found, self._context.who(request))
        left = [each for each in found.volumes if each.id != volume_id]
        if len(left) == len(found.volumes):
            raise Refusal(404, f"Instance {server_id} is not attached to volume {volume_id}")
        self._context.store.change(found, volumes=left)

    def ports(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._context.server(request, server_id)
        return {"interfaceAttachments": [{"port_id": each, "port_state": "ACTIVE"} for each in found.ports]}

    def attach_port(self, request: Request, server_id: str) -> dict[str, Any]:
        found, identity = self._context.server(request, server_id), self._context.who(request)
        check_lock(found, identity)
        check_state(found, "attach_interface", (states.ACTIVE, states.PAUSED, states.STOPPED))
        port_id = (request.body["interfaceAttachment"] or {}).get("port_id")
        port = self._context.store.neutron.ports.get(port_id or "")
        if port is None or not (identity.is_admin or port.project_id == identity.project_id):
            raise Refusal(404, f"Port id {port_id} could not be found.")
        if port.device_id:
            raise Refusal(400, f"Port {port_id} is still in use.")
        port.device_id = server_id
        self._context.store.change(found, ports=[*found.ports, port.id])
        return {"interfaceAttachment": {"port_id": port.id, "net_id": port.network_id, "port_state": "ACTIVE"}}

    def diagnostics(self, request: Request, server_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-server-diagnostics")
        found = self._context.server(request, server_id)
        check_host(found)
        if found.power != states.RUNNING:
            raise Refusal(409, f"Instance {server_id} in power state {found.power}. Cannot get_diagnostics.")
        seconds = self._context.computes.cpu_seconds(found)
        return {
            "state": "running" if found.power == states.RUNNING else "shutdown",
            "driver": "libvirt",
            "num_cpus": len(seconds),
            "cpu_details": [
                {"id": number, "time": None if each is None else int(each * 1e9), "utilisation": None}
                for number, each in enumerate(seconds)
            ],
        }


def _shown(volume: Volume, server_id: str) -> dict[str, Any]:
    return {
        "volumeId": volume.id,
        "serverId": server_id,
        "device": "/dev/vda" if volume.is_root else "/dev/vdb",
        "tag": None,
        "delete_on_termination": volume.delete_on_termination,
        "attachment_id": volume.id,
        "bdm_uuid": volume.id,
    }
