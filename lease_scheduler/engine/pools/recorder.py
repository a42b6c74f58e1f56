"""Recorder for the engine of a pool, which labels counters by pool."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.engine.interfaces import Recorder
from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease


@dataclass(frozen=True)
class PoolRecorder:
    """A recorder (``engine.interfaces.Recorder``) that passes everything on, with the name of the pool for counters.

    :ivar recorder: the recorder of the site
    :ivar pool: name of the pool
    """

    recorder: Recorder
    pool: str

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """Record that a lease held hosts in ``[start, end)``."""
        self.recorder.occupied(lease, phase, start, end, assignment)

    def count(self, what: str, number: int = 1, pool: str | None = None) -> None:
        """Add to a counter of the pool."""
        self.recorder.count(what, number, self.pool)

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """Record that a running lease lost the hosts of some nodes."""
        self.recorder.hosts_lost(lease, vms, replaced=replaced)

    def hosts_whole(self, lease: Lease) -> None:
        """Record that a lease that lacked hosts has all of them again."""
        self.recorder.hosts_whole(lease)

    def waits_with_saved_work(self, lease: Lease) -> None:
        """Record that a lease cannot resume from its saved memory at present."""
        self.recorder.waits_with_saved_work(lease)

    def terms_lost(self, lease: Lease) -> None:
        """Record that the terms of a lease that has not started cannot be kept."""
        self.recorder.terms_lost(lease)

    def breached(self, lease: Lease, breach: Breach) -> None:
        """Record a breach of a lease."""
        self.recorder.breached(lease, breach)
