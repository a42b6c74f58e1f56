"""Run worlds until an invariant is broken, and print a line of JSON for each: ``python -m tools.planting.worlds``.

It is run by ``tools.planting`` with a copy of the package on the path.
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import suppress

from lease_scheduler.cmd.rehearsing.rehearsal import Rehearsal, run
from lease_scheduler.rehearsal.runtime.patching import Patches, patched
from lease_scheduler.rehearsal.world import opened


def _image(patches: Patches) -> bytes:
    """Return a database with its tables, for all worlds."""
    rehearsal = Rehearsal(0)
    with opened(rehearsal.world_options(), rehearsal.programs(), patches) as world:
        return world.database.image()


def main() -> None:
    """Run the worlds that the arguments describe."""
    parser = argparse.ArgumentParser(prog="python -m tools.planting.worlds", description=__doc__.splitlines()[0])
    for name in ("seed", "count", "hosts", "tenants"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("days", "budget"):
        parser.add_argument(f"--{name}", type=float, required=True)
    parser.add_argument("--cloud", choices=("simulated", "nova"), required=True)
    given = parser.parse_args()
    with patched() as patches:
        image = _image(patches)
        for seed in range(given.seed, given.seed + given.count):
            rehearsal = Rehearsal(seed, given.hosts, given.tenants, with_nova=given.cloud == "nova")
            outcome = run(rehearsal, given.days, patches, image)
            found = outcome.violation
            print(
                json.dumps(
                    {
                        "seed": seed,
                        "seconds": outcome.seconds,
                        "invariant": None if found is None else found.invariant,
                        "what": None if found is None else found.what,
                    }
                ),
                flush=True,
            )
            if found is not None or time.process_time() > given.budget:
                return


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
