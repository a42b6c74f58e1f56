"""Lookup of compute hosts by the names that plans, aggregates and Placement use."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.hosts import Hosts, Node


class Nodes:
    """The names of compute hosts, for steps that fail if a host does not exist."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    def node(self, host: str) -> Node:
        """Return the names of a host of the plan in Nova and Placement.

        :raises StepFailedError: there is no such host
        """
        found = self._hosts.node(host)
        if found is None:
            raise StepFailedError(f"there is no compute host {host}", host)
        return found

    def find(self, host: str) -> Node | None:
        """Return the names of a host of the plan in Nova and Placement, or None if there is no such host."""
        return self._hosts.node(host)

    def services(self, hosts: Iterable[str]) -> frozenset[str]:
        """Return the compute services of hosts.

        :raises StepFailedError: there is no such host
        """
        return frozenset(self.node(host).service for host in hosts)

    def names(self, services: Iterable[str]) -> frozenset[str]:
        """Return the hosts of compute services. A service that is not known stands for itself."""
        by_service = self._hosts.services()
        return frozenset(by_service.get(service, service) for service in services)
