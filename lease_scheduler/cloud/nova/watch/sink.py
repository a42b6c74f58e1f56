"""The interface of the receiver of what watcher and inspector see in a Nova."""

from __future__ import annotations

from typing import Protocol

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.nova.api.hints import CacheHint
from lease_scheduler.cloud.observations import AggregateChange, ServerChange, Stranger


class Sink(Protocol):
    """Receiver of everything that watcher and inspector see. Calls come from their threads or those of the listener."""

    def on_event(self, event: DriverEvent) -> None:
        """Handle an event that the engine needs."""
        ...

    def on_server(self, change: ServerChange) -> None:
        """Handle the end of an action on a server. Called from several threads; must be quick."""
        ...

    def on_cache(self, hint: CacheHint) -> None:
        """Handle a notification about images in the caches of hosts. Called from several threads; must be quick."""
        ...

    def on_hosts(self, names: frozenset[str]) -> None:
        """Handle hosts of the pool that may have another size or other traits. The first call names all of them.

        After an error, the hosts are reported again at the next inspection.
        """
        ...

    def on_aggregate(self, change: AggregateChange) -> None:
        """Handle a change of one of our aggregates."""
        ...

    def on_stranger(self, stranger: Stranger) -> None:
        """Handle a server that does not belong to the lease of its host. Called again while it stays."""
        ...

    def on_round(self) -> None:
        """Do what is due in each round, and when a server of a lease may have been woken."""
        ...

    def on_inspection(self, service: str | None) -> None:
        """Look for overdrawn capacity.

        :param service: name of the compute service to which a server has come, or None for all hosts
        """
        ...
