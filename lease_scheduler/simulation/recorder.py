"""The recorder of a run."""

from __future__ import annotations

from collections import Counter

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation.result import Occupation, Phase


class RunRecorder:
    """A collector of the engine's reports.

    :ivar occupations: which lease actually held which hosts, and when
    :ivar counters: named counts
    :ivar breaches: all breaches, in the order in which they were reported
    """

    def __init__(self) -> None:
        self.occupations: list[Occupation] = []
        self.counters: Counter[str] = Counter()
        self.breaches: list[Breach] = []

    def occupied(self, lease: Lease, phase: str, start: int, end: int, assignment: tuple[int, ...]) -> None:
        """See ``engine.interfaces.Recorder``."""
        if start < end:
            self.occupations.append(Occupation(lease.lease_id, Phase(phase), start, end, assignment))

    def count(self, what: str, number: int = 1, pool: str | None = None) -> None:
        """See ``engine.interfaces.Recorder``."""
        self.counters[what] += number

    def hosts_lost(self, lease: Lease, vms: tuple[int, ...], *, replaced: bool) -> None:
        """See ``engine.interfaces.Recorder``."""
        self.counters["replaced_vms" if replaced else "missing_vms"] += len(vms)

    def hosts_whole(self, lease: Lease) -> None:
        """See ``engine.interfaces.Recorder``."""
        self.counters["healed_leases"] += 1

    def waits_with_saved_work(self, lease: Lease) -> None:
        """See ``engine.interfaces.Recorder``."""
        self.counters["waits_with_saved_work"] += 1

    def terms_lost(self, lease: Lease) -> None:
        """See ``engine.interfaces.Recorder``; a simulation has no users to ask."""

    def breached(self, lease: Lease, breach: Breach) -> None:
        """See ``engine.interfaces.Recorder``."""
        self.breaches.append(breach)
