"""Messages to filter and weigher in nova-scheduler, in the metadata of aggregates."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.freepool import Freepool


class NovaAnnouncements:
    """See ``cloud.capabilities.Announcements``."""

    def __init__(self, hosts: Hosts, freepool: Freepool, ends: Ends) -> None:
        self._hosts = hosts
        self._freepool = freepool
        self._ends = ends

    def announce(self, starts: Mapping[str, int]) -> None:
        """See ``Announcements.announce``. Filter and weigher read it."""
        self._freepool.announce(self._by_service(starts))

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """See ``Announcements.promise``. The filter reads it."""
        promised = {assurance: self._by_service(of_hosts) for assurance, of_hosts in lifetimes.items()}
        self._freepool.promise(promised, until)

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """See ``Announcements.tell_ends``. The filter reads it."""
        self._ends.tell(ends)

    def _by_service(self, values: Mapping[str, int]) -> dict[str, int]:
        return {node.service: value for name, value in values.items() if (node := self._hosts.node(name)) is not None}
