"""Speed of rehearsals: ``python -m benchmarks.rehearsal [--days DAYS] [--worlds WORLDS]``.

Each world has its own seed, and thus its own faults and tenants. The unit is a simulated second for each second of
processor time.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from statistics import median

from rich.table import Table

from benchmarks.machine import console
from lease_scheduler.cmd.rehearsing.rehearsal import Outcome, Rehearsal, run
from lease_scheduler.rehearsal.runtime.patching import Patches, patched
from lease_scheduler.rehearsal.world import opened

#: Simulated seconds for a second of processor time that we aim for with 50 hosts and 20 tenants.
_AIM = 5_000

#: What is rehearsed: title, hosts, tenants, whether with the model of Nova.
_SIZES = (
    ("simulated cloud", 50, 20, False),
    ("model of Nova", 4, 4, True),
    ("model of Nova", 50, 20, True),
)


@dataclass(frozen=True)
class _Played:
    """A world that was run.

    :ivar seconds: processor time
    """

    seconds: float
    outcome: Outcome

    @property
    def speed(self) -> float:
        """Simulated seconds for each second of processor time."""
        return self.outcome.seconds / self.seconds


def _image(patches: Patches) -> bytes:
    """Return a database with its tables, for all worlds."""
    rehearsal = Rehearsal(0)
    with opened(rehearsal.world_options(), rehearsal.programs(), patches) as world:
        return world.database.image()


def _play(rehearsal: Rehearsal, days: float, patches: Patches, image: bytes) -> _Played:
    began = time.process_time()
    outcome = run(rehearsal, days, patches, image)
    return _Played(time.process_time() - began, outcome)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rehearsal", description="Times rehearsals.")
    parser.add_argument("--days", type=float, default=0.06, help="simulated days of each world (default: 0.06)")
    parser.add_argument("--worlds", type=int, default=5, help="number of worlds of each size (default: 5)")
    given = parser.parse_args()
    out = console()
    table = Table(title=f"{given.worlds} worlds of {given.days:g} days", title_justify="left")
    for heading in ("cloud", "hosts", "tenants", "leases", "events", "simulated s/s (min, median, max)", "aim"):
        table.add_column(heading, justify="left" if heading == "cloud" else "right")
    with patched() as patches:
        image = _image(patches)
        # Modules that are imported only when they are needed first are no part of a world.
        _play(Rehearsal(0, 4, 4, with_nova=True), 0.01, patches, image)
        for cloud, hosts, tenants, with_nova in _SIZES:
            worlds = [Rehearsal(seed, hosts, tenants, with_nova=with_nova) for seed in range(1, given.worlds + 1)]
            played = [_play(world, given.days, patches, image) for world in worlds]
            speeds = sorted(each.speed for each in played)
            table.add_row(
                cloud,
                str(hosts),
                str(tenants),
                f"{sum(each.outcome.leases for each in played):,}",
                f"{sum(each.outcome.events for each in played):,}",
                f"{speeds[0]:,.0f} {median(speeds):,.0f} {speeds[-1]:,.0f}",
                f">= {_AIM:,}" if hosts == 50 else "",
            )
    out.print(table)


if __name__ == "__main__":
    main()
