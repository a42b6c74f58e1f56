"""What a driver sees in its cloud by itself, beside what the engine must hear of (``driver.DriverEvent``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class ServerChange:
    """An action on a server came to its end, well or not. It may be what a step waits for.

    :ivar event_type: as the cloud calls it, such as ``instance.shelve_offload.end``
    :ivar lease_id: whose server it is, none if that cannot be seen from the message
    :ivar host: name of the host on which it happened, none if on no host or if that is not known
    :ivar arrives: whether the server came to the host, so that no other server has more room there
    """

    event_type: str
    server_id: str
    lease_id: str | None = None
    host: str | None = None
    arrives: bool = False


@dataclass(frozen=True)
class AggregateChange:
    """A host aggregate of ours is not as it was when it was looked at last; maybe we did that ourselves.

    :ivar lease_id: whose it is, none for that of the pool
    :ivar hosts: names of the hosts in it now
    :ivar metadata: what it says now
    :ivar exists: whether it is there at all
    """

    name: str
    lease_id: str | None
    hosts: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    exists: bool = True


@dataclass(frozen=True)
class Stranger:
    """A server that is on a host which a lease has for itself, and does not belong to the lease.

    :ivar lease_id: of the lease that has the host
    :ivar host: name of the host
    :ivar project_id: whose server it is
    """

    server_id: str
    lease_id: str
    host: str
    project_id: str


class Observer(Protocol):
    """Is told what a driver sees. Calls come from threads of the driver's."""

    def on_server(self, change: ServerChange) -> None:
        """An action on a server is over; several threads say so, and must not be kept waiting."""
        ...

    def on_hosts(self, names: frozenset[str]) -> None:
        """Hosts of the pool may have another size or other traits; at first all of them.

        If this fails they are told again at the next look.
        """
        ...

    def on_aggregate(self, change: AggregateChange) -> None:
        """An aggregate is not as it was."""
        ...

    def on_image_missing(self, lease_id: str, server_id: str, reason: str) -> None:
        """A server of a lease is deleted without the image that was to be made of it."""
        ...

    def on_stranger(self, stranger: Stranger) -> None:
        """A server is where it does not belong; told once for each lease, and logged already."""
        ...
