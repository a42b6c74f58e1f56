"""What a guest needs of the queue, of the site, and of handlers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lease_scheduler.guest.nodes import Lease, QueueNode
from lease_scheduler.guest.values import Job


@dataclass(frozen=True, slots=True)
class QueueView:
    """The queue at one instant.

    :ivar nodes: its nodes by name, as far as they can have leases
    :ivar jobs: jobs that wait for nodes to join, in the order of the queue; their width is that of the whole job
    :ivar job_nodes: name of a node -> id of the job that waits for it
    """

    nodes: Mapping[str, QueueNode]
    jobs: Sequence[Job]
    job_nodes: Mapping[str, str]


class Queue(Protocol):
    """A batch system. Methods raise ``UnavailableError`` if it does not answer; all can be repeated."""

    def look(self) -> QueueView:
        """Return what the queue has now."""
        ...

    def locate(self, name: str, address: str) -> None:
        """Tell the queue where a node is."""
        ...

    def drain(self, names: Sequence[str]) -> None:
        """Give nodes no further jobs, and power them down after those that they have."""
        ...

    def requeue(self, jobs: Sequence[str]) -> None:
        """Stop jobs and put them back into the queue. Jobs that have ended meanwhile are left out."""
        ...

    def power_down_now(self, names: Sequence[str]) -> None:
        """Give nodes up, whether or not they answer."""
        ...

    def power_up(self, names: Sequence[str]) -> None:
        """Want nodes that are powered down."""
        ...


class Site(Protocol):
    """The service that grants leases. Methods raise ``UnavailableError`` if it does not answer; all can be repeated."""

    def leases(self, ids: Sequence[str]) -> dict[str, Lease]:
        """Return leases by id, without those that the site does not know."""
        ...

    def describe(self, lease_id: str) -> dict[str, Any]:
        """Return the attributes of a lease for handlers."""
        ...

    def ask(self, lease_id: str, terms: Mapping[str, Any]) -> None:
        """Request a lease with an id chosen by the guest.

        :raises RefusedError: the site does not grant it
        """
        ...

    def extend(self, lease_id: str, seconds: int) -> None:
        """Extend a lease to a total duration; one that has it already stays as it is.

        :raises RefusedError: the site does not extend it
        """
        ...

    def end(self, lease_id: str) -> None:
        """End a lease; a lease that is over or unknown stays so."""
        ...


class Handlers(Protocol):
    """What happens to a node when it joins and leaves. Methods raise ``HandlerError``; all can be repeated."""

    def join(self, node: str, lease: Mapping[str, Any]) -> str | None:
        """Make a node of a lease a node of the queue, and return its address, or None if the queue knows it."""
        ...

    def leave(self, node: str, lease: Mapping[str, Any]) -> None:
        """Undo ``join``. The lease may have ended, and then has only its ``id``."""
        ...
