"""Nova's versioned notifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lease_scheduler.rehearsal.cloud.nova.records import Action, Flavor, Host, HostAggregate, Server

#: Called with the publisher, the type of the event, its payload, and the context of the request that caused it.
Notify = Callable[[str, str, Mapping[str, Any], Mapping[str, Any]], None]

_API = "nova-api:controller"


class Notices:
    """Sender of notifications."""

    def __init__(self, notify: Notify) -> None:
        self._notify = notify

    def server(self, event: str, server: Server, action: Action | None, host: str | None = None) -> None:
        """Tell of something that was done with a server.

        :param event: such as ``power_off.end``
        :param host: compute service that has done it; None for the API
        """
        publisher = _API if host is None else f"nova-compute:{host}"
        self._notify(publisher, f"instance.{event}", _server(server), _context(action))

    def no_host(self, server: Server, action: Action, event: str = "build_instances.error") -> None:
        """Tell that no host was found for a server."""
        data = {
            "instance_uuid": server.id,
            "request_spec": _object(
                "RequestSpecPayload", {"instance_uuid": server.id, "flavor": _flavor(server.flavor)}
            ),
            "state": "error",
            "method": "build_instances",
        }
        self._notify(
            "nova-conductor:controller", f"compute_task.{event}", _object("ComputeTaskPayload", data), _context(action)
        )

    def service(self, event: str, host: Host) -> None:
        """Tell of a change of a compute service."""
        data = {
            "host": host.name,
            "binary": "nova-compute",
            "disabled": not host.enabled,
            "disabled_reason": host.disabled_reason,
            "forced_down": host.forced_down,
            "uuid": host.service_id,
        }
        self._notify(_API, f"service.{event}", _object("ServiceStatusPayload", data), {})

    def aggregate(self, event: str, aggregate: HostAggregate, user_id: str) -> None:
        """Tell of a change of an aggregate."""
        data = {
            "id": aggregate.id,
            "uuid": aggregate.uuid,
            "name": aggregate.name,
            "hosts": list(aggregate.hosts),
            "metadata": dict(aggregate.metadata),
        }
        self._notify(_API, f"aggregate.{event}", _object("AggregatePayload", data), {"user_id": user_id})

    def caching(self, phase: str, aggregate: HostAggregate, request_id: str, host: str | None, **more: Any) -> None:
        """Tell of images that the hosts of an aggregate fetch."""
        data = {"id": aggregate.id, "name": aggregate.name, "host": host, **more}
        self._notify(
            "nova-conductor:controller",
            f"aggregate.cache_images.{phase}",
            _object("AggregateCachePayload", data),
            {"request_id": request_id},
        )


def _object(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "nova_object.name": name,
        "nova_object.namespace": "nova",
        "nova_object.version": "1.0",
        "nova_object.data": dict(data),
    }


def _flavor(flavor: Flavor) -> dict[str, Any]:
    data = {
        "flavorid": flavor.id,
        "name": flavor.name,
        "memory_mb": flavor.ram,
        "vcpus": flavor.vcpus,
        "root_gb": flavor.disk,
        "extra_specs": dict(flavor.extra_specs),
    }
    return _object("FlavorPayload", data)


def _server(server: Server) -> dict[str, Any]:
    data = {
        "uuid": server.id,
        "tenant_id": server.project_id,
        "user_id": server.user_id,
        "display_name": server.name,
        "host": server.host,
        "node": server.host,
        "state": server.state,
        "task_state": server.task,
        "flavor": _flavor(server.flavor),
        "tags": list(server.tags),
        "locked": server.locked,
    }
    return _object("InstanceActionPayload", data)


def _context(action: Action | None) -> dict[str, Any]:
    if action is None:
        return {}
    return {"user_id": action.user_id, "project_id": action.project_id, "request_id": action.request_id}
