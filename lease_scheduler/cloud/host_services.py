"""The compute services of hosts, which are closed and opened when hosts sleep and wake."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from lease_scheduler.cloud.capabilities import Absent


class HostServices(Protocol):
    """The compute services of the hosts of a cloud. Every call may be repeated. Hosts are named as in the pool."""

    def is_vacant(self, host: str) -> bool:
        """Return whether there is no server on a host or on its way there, with or without a lease."""
        ...

    def close(self, host: str) -> bool:
        """Close a host to new servers, with our own reason.

        :return: False if somebody else has closed it; that reason stays
        """
        ...

    def open(self, host: str) -> None:
        """Open a host to new servers, if it is closed with our own reason."""
        ...

    def is_open(self, host: str) -> bool:
        """Return whether a host is open to new servers."""
        ...

    def closed(self) -> frozenset[str]:
        """Return the hosts that are closed with our own reason."""
        ...

    def heartbeat(self, host: str) -> Hashable | None:
        """Return a value that changes at intervals while the compute service runs, or None if it is known not to."""
        ...


class NoHostServices(Absent):
    """Stand-in for which no host is vacant, so that none goes to sleep."""

    def is_vacant(self, host: str) -> bool:
        """See ``HostServices.is_vacant``."""
        return False

    def close(self, host: str) -> bool:
        """See ``HostServices.close``."""
        return False

    def open(self, host: str) -> None:
        """See ``HostServices.open``."""

    def is_open(self, host: str) -> bool:
        """See ``HostServices.is_open``."""
        return True

    def closed(self) -> frozenset[str]:
        """See ``HostServices.closed``."""
        return frozenset()

    def heartbeat(self, host: str) -> Hashable | None:
        """See ``HostServices.heartbeat``."""
        return None
