"""What a driver sees in its cloud, beyond the events that the engine needs (``facts.DriverEvent``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class ServerChange:
    """The end of an action on a server, whether it succeeded or failed. A step may be waiting for it.

    :ivar event_type: the cloud's name for it, such as ``instance.shelve_offload.end``
    :ivar lease_id: lease of the server, or None if the message does not tell
    :ivar host: name of the host on which it happened, or None if there is none or it is not known
    :ivar arrives: whether the server came to the host, so that the host has no more free capacity than before
    """

    event_type: str
    server_id: str
    lease_id: str | None = None
    host: str | None = None
    arrives: bool = False


@dataclass(frozen=True)
class AggregateChange:
    """A change of one of our host aggregates since it was last read. The engine itself may have caused it.

    :ivar lease_id: its lease, or None for that of the pool
    :ivar hosts: names of the hosts in it now
    :ivar metadata: its metadata now
    :ivar exists: whether it still exists
    """

    name: str
    lease_id: str | None
    hosts: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    exists: bool = True


@dataclass(frozen=True)
class Stranger:
    """A server on a host that a lease has for itself, which does not belong to the lease.

    :ivar lease_id: the lease that has the host
    :ivar host: name of the host
    :ivar project_id: project of the server
    :ivar is_known: whether it was seen before, and is still there
    """

    server_id: str
    lease_id: str
    host: str
    project_id: str
    is_known: bool = False


class Observer(Protocol):
    """Receiver of what a driver sees. Calls come from threads of the driver."""

    def on_server(self, change: ServerChange) -> None:
        """Handle the end of an action on a server. Called from several threads; must be quick."""
        ...

    def on_hosts(self, names: frozenset[str]) -> None:
        """Handle hosts of the pool that may have another size or other traits. The first call names all of them.

        After an error, the hosts are reported again at the next check.
        """
        ...

    def on_aggregate(self, change: AggregateChange) -> None:
        """Handle a change of an aggregate."""
        ...

    def on_image_missing(self, lease_id: str, server_id: str, reason: str) -> None:
        """Handle a server of a lease that is deleted without the image that should have been made of it."""
        ...

    def on_stranger(self, stranger: Stranger) -> None:
        """Handle a server that is where it does not belong. Called once for each lease, after it was logged."""
        ...
