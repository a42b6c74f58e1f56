"""Nova's compute services, which are disabled and enabled when hosts sleep and wake."""

from __future__ import annotations

from typing import Any

from lease_scheduler.cloud.nova.api.hosts import Hosts, Node
from lease_scheduler.cloud.nova.api.placement import Placement

#: Reason with which the compute service of a sleeping host is disabled. With another reason, it is not ours to enable.
ASLEEP = "lease-scheduler: asleep"

_ENABLED = "enabled"


class NovaServices:
    """See ``cloud.host_services.HostServices``.

    :param nova: novaclient's client with administrator rights
    """

    def __init__(self, nova: Any, hosts: Hosts, placement: Placement) -> None:
        self._nova = nova
        self._hosts = hosts
        self._placement = placement

    def is_vacant(self, host: str) -> bool:
        """See ``HostServices.is_vacant``. A server on its way to the host is known only to Placement."""
        node = self._node(host)
        if self._placement.consumers_on(node.provider_id):
            return False
        return not self._nova.servers.list(search_opts={"all_tenants": 1, "host": node.service}, limit=1)

    def close(self, host: str) -> bool:
        """See ``HostServices.close``."""
        service = self._service(host)
        if service.status == _ENABLED:
            self._nova.services.disable_log_reason(service.id, ASLEEP)
            return True
        return is_asleep(service)

    def open(self, host: str) -> None:
        """See ``HostServices.open``."""
        service = self._service(host)
        if is_asleep(service):
            self._nova.services.enable(service.id)

    def is_open(self, host: str) -> bool:
        """See ``HostServices.is_open``."""
        return bool(self._service(host).status == _ENABLED)

    def closed(self) -> frozenset[str]:
        """See ``HostServices.closed``."""
        by_service = self._hosts.services()
        found = [each.host for each in self._nova.services.list(binary="nova-compute") if is_asleep(each)]
        if any(host not in by_service for host in found):
            self._hosts.learn()
            by_service = self._hosts.services()
        return frozenset(by_service[host] for host in found if host in by_service)

    def heartbeat(self, host: str) -> str | None:
        """See ``HostServices.heartbeat``. This is the time at which Nova last heard of the service."""
        service = self._service(host)
        return str(service.updated_at) if service.state == "up" else None

    def _node(self, host: str) -> Node:
        node = self._hosts.node(host)
        if node is None:
            raise LookupError(f"there is no compute host {host} in Nova")
        return node

    def _service(self, host: str) -> Any:
        found = self._nova.services.list(host=self._node(host).service, binary="nova-compute")
        if not found:
            raise LookupError(f"there is no compute service of host {host} in Nova")
        return found[0]


def is_asleep(service: Any) -> bool:
    """Return whether a compute service is disabled because its host sleeps."""
    return service.status != _ENABLED and getattr(service, "disabled_reason", None) == ASLEEP
