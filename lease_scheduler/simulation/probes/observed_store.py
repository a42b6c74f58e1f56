"""A memory store that reports new and ended leases to probes."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.store import MemoryStore


class ObservedStore(MemoryStore):
    """A memory store that collects new and ended leases until they are reported to the probes.

    :param probes: probes, in the order in which they receive the reports
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        super().__init__()
        self._probes = probes
        self._known: set[str] = set()
        self._requested: list[Lease] = []
        self._over: list[Lease] = []

    def save(self, lease: Lease) -> None:
        """Keep a new value of a lease."""
        super().save(lease)
        if lease.lease_id not in self._known:
            self._known.add(lease.lease_id)
            self._requested.append(lease)
        if lease.is_final:
            self._over.append(lease)

    def tell(self, plan: Plan, now: int) -> None:
        """Report a completed step, with the leases that are new or have ended since the last one, to the probes."""
        requested, self._requested = self._requested, []
        ended, self._over = self._over, []
        for probe in self._probes:
            for lease in requested:
                probe.at_request(lease, now)
            for lease in ended:
                probe.at_end(lease, now)
            probe.at_step(plan, now)
