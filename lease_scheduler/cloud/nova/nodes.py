"""Compute hosts as plans, aggregates and Placement call them."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.hosts import Hosts, Node


class Nodes:
    """See the module."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    def node(self, host: str) -> Node:
        """How a host of the plan is called elsewhere.

        :raises StepFailedError: there is no such host
        """
        found = self._hosts.node(host)
        if found is None:
            raise StepFailedError(f"there is no compute host {host}", host)
        return found

    def find(self, host: str) -> Node | None:
        """How a host of the plan is called elsewhere; None if there is no such host."""
        return self._hosts.node(host)

    def services(self, hosts: Iterable[str]) -> frozenset[str]:
        """The compute services of hosts.

        :raises StepFailedError: there is no such host
        """
        return frozenset(self.node(host).service for host in hosts)

    def names(self, services: Iterable[str]) -> frozenset[str]:
        """The hosts of compute services."""
        by_service = self._hosts.services()
        return frozenset(by_service.get(service, service) for service in services)
