"""What the service needs from outside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from lease_scheduler.records.messages import Message
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import StoreChanges


class ServiceStore(Protocol):
    """What the service needs of a store (see ``store.sql.store``)."""

    units: Units

    def take_over(self, engine_name: str, now: int) -> int:
        """Become the only writer of the site; its fencing number."""
        ...

    def load(self) -> Snapshot:
        """Everything that is live."""
        ...

    def commit(self, changes: StoreChanges) -> int:
        """Write everything in one transaction; the revision of the site."""
        ...

    def record_steps(self, reached: Any) -> None:
        """Note to which step intents have come."""
        ...

    def is_mine(self) -> bool:
        """Whether no other engine has taken over."""
        ...

    def write_clock(self, now: int) -> None:
        """Keep the time."""
        ...

    def version(self, lease_id: str) -> int | None:
        """The version of a live lease."""
        ...

    def waiting_messages(
        self, limit: int = 500, *, for_filters: bool = False, after: int = 0
    ) -> list[tuple[int, Message]]:
        """Messages that wait to be sent, oldest first, with their ids."""
        ...

    def forget_messages(self, ids: Any) -> None:
        """Messages that have been sent."""
        ...

    def of_leases_that_are_over(self, ids: Iterable[str]) -> frozenset[str]:
        """Which of these ids are those of trusts or reservations whose leases are over."""
        ...

    def has_lease(self, lease_id: str) -> bool:
        """Whether there is or was a lease of that id, as it is written down."""
        ...

    def request_digest(self, lease_id: str) -> str | None:
        """Return what tells the request of a lease from any other, or None if its client did not choose its id."""
        ...

    def unaccepted_seconds(self, project_id: str, since: int) -> int:
        """Return for how long offers were held that a project did not accept, of those that ended since an instant."""
        ...
