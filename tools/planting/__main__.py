"""Tell whether worlds find planted faults: ``python -m tools.planting [--only NAMES] [--worlds N] [--seed N]``.

Each fault is planted in a copy of the package, in which worlds of faults are run until an invariant is broken, or the
budget is used up. The exit status is 1 if a fault was not found of which it is not known that worlds do not see it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.planting.faults import FAULTS, Fault

_ROOT = Path(__file__).parents[2]
_PACKAGE = "lease_scheduler"
_MANAGE = (sys.executable, "-c", "from lease_scheduler.cmd.manage import main; main()")


@dataclass(frozen=True)
class Search:
    """How faults are looked for.

    :ivar worlds: maximum number of worlds for each fault
    :ivar cloud: ``nova`` or ``simulated``; None for the faster one in which the fault can be found
    :ivar budget: seconds of processor time after which no further world begins
    """

    seed: int
    worlds: int
    days: float
    hosts: int
    tenants: int
    cloud: str | None
    budget: float


@dataclass(frozen=True)
class Finding:
    """What became of a fault.

    :ivar worlds: number of worlds that were run
    :ivar seed: seed of the last of them
    :ivar seconds: simulated seconds of the last of them
    :ivar invariant: the invariant that was broken in it; None if the fault was not found
    """

    fault: str
    worlds: int
    seed: int
    seconds: float
    invariant: str | None
    what: str

    def __str__(self) -> str:
        if self.invariant is None:
            return f"{self.fault}: not found in {self.worlds} worlds"
        return f"{self.fault}: seed {self.seed} after {self.seconds:.0f} s: {self.invariant}: {self.what}"


@contextmanager
def planted(fault: Fault) -> Iterator[Path]:
    """Within the block, there is a folder with a copy of the package that has a fault.

    :raises OutdatedFaultError: the code is not what the fault expects
    """
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        package = Path(folder) / _PACKAGE
        shutil.copytree(_ROOT / _PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        for metadata in _ROOT.glob("*.egg-info"):
            shutil.copytree(metadata, Path(folder) / metadata.name)
        fault.plant(package)
        yield Path(folder)


def look_for(fault: Fault, search: Search, *, shrinks: bool = False) -> Finding:
    """Plant a fault, and run worlds until it is found.

    :param shrinks: whether to print the story of the smallest world that finds it
    :raises OutdatedFaultError: the code is not what the fault expects
    :raises subprocess.CalledProcessError: the worlds ended with an error
    """
    said = {name: value for name, value in vars(search).items() if name != "worlds"} | {"count": search.worlds}
    said["cloud"] = search.cloud or ("simulated" if fault.simulated else "nova")
    command = [sys.executable, "-m", "tools.planting.worlds", *(f"--{name}={value}" for name, value in said.items())]
    with planted(fault) as folder:
        path = os.pathsep.join((str(folder), str(_ROOT)))
        # The current folder comes before PYTHONPATH, so it must not be one with the package.
        environment = os.environ | {"PYTHONPATH": path}
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        worlds: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        last = worlds[-1]
        if shrinks and last["invariant"] is not None:
            world = {name: said[name] for name in ("days", "hosts", "tenants", "cloud")} | {"seed": last["seed"]}
            rehearse = [*_MANAGE, "rehearse", "--shrink", *(f"--{name}={value}" for name, value in world.items())]
            # It ends with 1, as the world is broken.
            subprocess.run(rehearse, cwd=folder, env=environment, check=False)
    return Finding(fault.name, len(worlds), last["seed"], last["seconds"], last["invariant"], last["what"] or "")


def chosen(names: str | None) -> Sequence[Fault]:
    """Return the faults with these names, separated by commas; all if it is None.

    :raises SystemExit: there is no such fault
    """
    if names is None:
        return FAULTS
    known = {each.name: each for each in FAULTS}
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        sys.exit(f"--only: there is no fault {unknown[0]!r}; give some of {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Plant faults one after the other, and print a line about each."""
    parser = argparse.ArgumentParser(prog="python -m tools.planting", description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAMES", help="names of faults, separated by commas (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default: 1)")
    parser.add_argument("--worlds", type=int, default=6, help="maximum number of worlds for each fault (default: 6)")
    parser.add_argument("--days", type=float, default=0.03, help="simulated days of a world (default: 0.03)")
    parser.add_argument("--hosts", type=int, default=3, help="compute hosts (default: 3)")
    parser.add_argument("--tenants", type=int, default=4, help="tenants (default: 4)")
    parser.add_argument(
        "--cloud", choices=("nova", "simulated"), help="cloud (default: the simulated one for faults that need no Nova)"
    )
    parser.add_argument(
        "--budget", type=float, default=300.0, help="seconds of processor time for each fault (default: 300)"
    )
    parser.add_argument("--shrink", action="store_true", help="print the smallest world that finds each fault, too")
    given = parser.parse_args(arguments)
    faults = chosen(given.only)
    search = Search(given.seed, given.worlds, given.days, given.hosts, given.tenants, given.cloud, given.budget)
    missed = 0
    for fault in faults:
        found = look_for(fault, search, shrinks=given.shrink)
        missed += found.invariant is None and not fault.unseen
        print(found, flush=True)
    print(f"{missed} of {len(faults)} faults that can be found were not")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
