"""What the engine of a pool records, of which counters tell in which pool it happened."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease
from lease_scheduler.service.core.unit_of_work import UnitOfWork


@dataclass(frozen=True)
class PoolRecorder:
    """A recorder (``engine.interfaces.Recorder``) that passes everything on.

    :ivar pool: name of the pool
    """

    work: UnitOfWork
    pool: str

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """Record that a lease held hosts in ``[start, end)``."""
        self.work.occupied(lease, phase, start, end, assignment)

    def count(self, what: str, number: int = 1) -> None:
        """Add to a counter of the pool."""
        self.work.count(what, number, self.pool)

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """Record that a running lease lost the hosts of some VMs."""
        self.work.hosts_lost(lease, vms, replaced=replaced)

    def hosts_whole(self, lease: Lease) -> None:
        """Record that a lease that lacked hosts has all that it needs again."""
        self.work.hosts_whole(lease)

    def waits_with_saved_work(self, lease: Lease) -> None:
        """Record that a lease cannot resume from its saved memory at present."""
        self.work.waits_with_saved_work(lease)

    def terms_lost(self, lease: Lease) -> None:
        """Record that the terms of a lease that has not started cannot be kept."""
        self.work.terms_lost(lease)

    def breached(self, lease: Lease, breach: Breach) -> None:
        """Record a breach of a lease."""
        self.work.breached(lease, breach)
