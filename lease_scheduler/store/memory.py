"""The memory store: for the simulator and for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.states import LeaseState


class MemoryStore:
    """Keeps leases in a dictionary; nothing survives the process."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._ended: Counter[LeaseKind] = Counter()
        self._last_in: dict[LeaseState, Lease] = {}

    def save(self, lease: Lease) -> None:
        """Keep a new value of a lease."""
        self._leases[lease.lease_id] = lease
        if lease.is_final:
            self._ended[lease.kind] += 1
            self._last_in[lease.state] = lease

    def ended_of(self, kind: LeaseKind) -> int:
        """How many leases of a kind have come to their end."""
        return self._ended[kind]

    def ended_in(self, state: LeaseState) -> Lease | None:
        """The last lease that ended in a state, none if none did."""
        return self._last_in.get(state)

    def load(self) -> Iterable[Lease]:
        """Every lease, in the order of submission."""
        return sorted(self._leases.values(), key=lambda lease: lease.sequence)
