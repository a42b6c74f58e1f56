"""Servers as the API shows them."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.store import Store

#: The first version that shows scheduler hints.
_WITH_HINTS = (2, 100)

_FAILED = (states.ERROR, states.DELETED)


def short(server: Server) -> dict[str, Any]:
    """Return a server as a list without details shows it."""
    return {"id": server.id, "name": server.name, "links": _links(server)}


def full(store: Store, server: Server, identity: Identity, version: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return a server with all details that somebody may see."""
    found = {
        **short(server),
        "status": server.status,
        "tenant_id": server.project_id,
        "user_id": server.user_id,
        "metadata": dict(server.metadata),
        "hostId": "" if server.host is None else f"{hash_of(server)}",
        "image": "" if server.image_id is None else {"id": server.image_id},
        "flavor": server.flavor.embedded(),
        "created": server.created,
        "updated": server.updated,
        "addresses": {},
        "accessIPv4": "",
        "accessIPv6": "",
        "config_drive": "",
        "progress": 0,
        "key_name": server.key_name,
        "description": server.description,
        "locked": server.locked,
        "locked_reason": server.locked_reason,
        "tags": list(server.tags),
        "trusted_image_certificates": None,
        "security_groups": [{"name": name} for name in server.security_groups],
        "server_groups": [] if server.group_id is None else [server.group_id],
        "OS-DCF:diskConfig": "MANUAL",
        "OS-EXT-AZ:availability_zone": store.zone(server.host) if server.host else (server.asked.zone or ""),
        "OS-EXT-STS:vm_state": server.state,
        "OS-EXT-STS:task_state": server.task,
        "OS-EXT-STS:power_state": server.power,
        "OS-SRV-USG:launched_at": server.launched_at,
        "OS-SRV-USG:terminated_at": server.terminated_at,
        "os-extended-volumes:volumes_attached": [
            {"id": each.id, "delete_on_termination": each.delete_on_termination} for each in server.volumes
        ],
    }
    if server.fault is not None and server.state in _FAILED:
        found["fault"] = dict(server.fault)
    if version is not None and version >= _WITH_HINTS:
        found["scheduler_hints"] = {key: list(values) for key, values in server.asked.hints.items()}
    if identity.is_admin:
        found |= _for_admins(store, server)
    return found


def hash_of(server: Server) -> str:
    """Return what tells members that two of their servers are on one host, without its name."""
    return f"{server.project_id[:8]}-{server.host}".encode().hex()


def _for_admins(store: Store, server: Server) -> dict[str, Any]:
    return {
        "OS-EXT-SRV-ATTR:host": server.host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": server.host,
        "OS-EXT-SRV-ATTR:instance_name": f"instance-{server.number:08x}",
        "OS-EXT-SRV-ATTR:hostname": server.name.lower(),
        "OS-EXT-SRV-ATTR:launch_index": 0,
        "OS-EXT-SRV-ATTR:user_data": server.user_data,
        "host_status": _host_status(store, server),
    }


def _host_status(store: Store, server: Server) -> str:
    host = store.hosts.get(server.host or "")
    if host is None:
        return ""
    if host.forced_down:
        return "DOWN"
    if not store.is_up(host):
        return "UNKNOWN"
    return "UP" if host.enabled else "MAINTENANCE"


def _links(server: Server) -> list[dict[str, str]]:
    return [{"rel": "self", "href": f"http://compute/v2.1/servers/{server.id}"}]
