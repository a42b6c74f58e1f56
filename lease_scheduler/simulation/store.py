"""The memory store, for the simulator and for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState


class MemoryStore:
    """A store that keeps leases in a dictionary; they are lost when the process ends."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._ended: Counter[LeaseKind] = Counter()
        self._last_in: dict[LeaseState, Lease] = {}
        self._followers: list[Callable[[Lease], None]] = []

    def follow(self, told: Callable[[Lease], None]) -> None:
        """Have a function told of each new value of a lease."""
        self._followers.append(told)

    def save(self, lease: Lease) -> None:
        """Keep a new value of a lease."""
        self._leases[lease.lease_id] = lease
        if lease.is_final:
            self._ended[lease.kind] += 1
            self._last_in[lease.state] = lease
        for told in self._followers:
            told(lease)

    def lease(self, lease_id: str) -> Lease | None:
        """Return a lease, whether it lives or has ended, or None."""
        return self._leases.get(lease_id)

    def ended_of(self, kind: LeaseKind) -> int:
        """Return the number of leases of a kind that have ended."""
        return self._ended[kind]

    def ended_in(self, state: LeaseState) -> Lease | None:
        """Return the lease that ended last in a state, or None."""
        return self._last_in.get(state)

    def load(self) -> Iterable[Lease]:
        """Return every lease, in order of submission."""
        return sorted(self._leases.values(), key=lambda lease: lease.sequence)
