"""What a cloud lets the service do with its compute hosts when they go to sleep and wake."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from lease_scheduler.cloud.capabilities import Absent


class HostServices(Protocol):
    """The compute services of the hosts of a cloud. Every call may be repeated. Hosts are named as in the pool."""

    def is_vacant(self, host: str) -> bool:
        """Return whether no server is on a host or on its way there, with a lease or without."""
        ...

    def close(self, host: str) -> bool:
        """Let no new servers come to a host, with our own reason.

        :return: False if somebody else has closed it, for a reason that stays
        """
        ...

    def open(self, host: str) -> None:
        """Let servers come to a host again, if the reason why they do not is our own."""
        ...

    def is_open(self, host: str) -> bool:
        """Return whether servers may come to a host."""
        ...

    def closed(self) -> frozenset[str]:
        """Return the hosts that are closed with our own reason."""
        ...

    def heartbeat(self, host: str) -> Hashable | None:
        """Return a value that changes at intervals while the compute service runs, or None if it is known not to."""
        ...


class NoHostServices(Absent):
    """No host counts as vacant, so none goes to sleep."""

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
