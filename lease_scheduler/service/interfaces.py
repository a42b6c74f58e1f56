"""The interface of the store that the service needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from lease_scheduler.records.messages import Message
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import StoreChanges


class ServiceStore(Protocol):
    """A store of a site, as the service uses it (see ``store.sql.store``).

    :ivar units: numbers and ids of hosts and floating IPs
    """

    units: Units

    @property
    def epoch(self) -> int:
        """The fencing number."""
        ...

    def take_over(self, engine_name: str, now: int) -> int:
        """Become the only writer of the site, and return the fencing number."""
        ...

    def join_pool(self, pool: str) -> None:
        """Assign all hosts, addresses and live leases without a pool to this one. Call it before ``load``."""
        ...

    def load(self) -> Snapshot:
        """Return the state of the site after the last transaction."""
        ...

    def commit(self, changes: StoreChanges) -> int:
        """Write all changes in one transaction, and return the new revision of the site."""
        ...

    def record_steps(self, reached: Any) -> None:
        """Record the steps that intents have reached.

        :param reached: pairs of intent id and number of the next step
        """
        ...

    def is_mine(self) -> bool:
        """Return whether no other engine has taken over."""
        ...

    def write_clock(self, now: int) -> None:
        """Store the present instant, as a sign of life."""
        ...

    def version(self, lease_id: str) -> int | None:
        """Return the version of a live lease, or None if there is no such lease."""
        ...

    def waiting_messages(
        self, limit: int = 500, *, for_filters: bool = False, after: int = 0
    ) -> list[tuple[int, Message]]:
        """Return messages that wait to be sent, oldest first, with their ids.

        :param limit: maximum number of messages to return
        :param for_filters: whether to return messages for filters, rather than notifications
        :param after: return only messages with a higher id
        """
        ...

    def forget_messages(self, ids: Any) -> None:
        """Delete messages that have been sent."""
        ...

    def of_leases_that_are_over(self, ids: Iterable[str]) -> frozenset[str]:
        """Return which of these ids belong to trusts or reservations of leases that have ended."""
        ...

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        """Return which of these trusts a host or a lease refers to, whether the lease is live, ended or deleted."""
        ...

    def has_lease(self, lease_id: str) -> bool:
        """Return whether a lease with this id is stored, live or ended."""
        ...

    def request_digest(self, lease_id: str) -> str | None:
        """Return the digest of the request of a lease, or None if its client did not choose its id."""
        ...

    def unaccepted_seconds(self, project_id: str, since: int) -> int:
        """Return the total seconds for which a project held offers that it did not accept.

        :param since: instant after which the offers ended
        """
        ...

    def used(self, project_id: str, start: int, now: int) -> tuple[int, Mapping[str, int]]:
        """Return the node-seconds and resource-seconds that a project used in ``[start, now)``, including running
        leases.

        :param now: not later than the present instant
        """
        ...
