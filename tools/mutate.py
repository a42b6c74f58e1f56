"""Tell whether tests notice faults: ``python -m tools.mutate [--sample N] [--seed N] [--only PATTERN]``.

mutmut (configured in ``pyproject.toml``) writes mutants into ``mutants/``: copies of functions, each with one fault. A
sample of them is run against the unit and golden tests. A mutant that no test notices has survived: either a test is
missing, or the fault makes no difference.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from random import Random

#: A mutant that never ends counts as noticed.
_NOTICED = frozenset({"killed", "timeout", "suspicious", "caught by type check"})
_NOT_RUN = "not checked"

_FOLDER = Path("mutants")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a sample and print what became of it."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=200, help="number of mutants to run (default: 200)")
    parser.add_argument("--seed", type=int, default=17, help="seed of the sample (default: 17)")
    parser.add_argument(
        "--only",
        default="*",
        metavar="PATTERN",
        help="names of mutants, such as lease_scheduler.plan.lease_queue.*",
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants to run at the same time (default: 2)")
    given = parser.parse_args(arguments)
    if not any(_FOLDER.glob("mutmut-*.json")):
        # Mutants get their names when they are made, at the beginning of a run, even of a run of none.
        _mutmut("run", "--max-children", str(given.jobs), "none of them", check=False)
    chosen = sample(_results(), given.only, given.sample, given.seed)
    if not chosen:
        sys.exit(f"{given.only}: there is no such mutant")
    _mutmut("run", "--max-children", str(given.jobs), *chosen)
    found = _results()
    print("\n".join(report({name: found[name] for name in chosen})))


def sample(names: Mapping[str, str], pattern: str, size: int, seed: int) -> list[str]:
    """Choose from all mutants whose name matches; the same seed gives the same sample, whatever their order."""
    matching = sorted(name for name in names if fnmatch(name, pattern))
    return sorted(Random(seed).sample(matching, min(size, len(matching))))


def report(statuses: Mapping[str, str]) -> list[str]:
    """Return lines that list the survivors, and the share of killed mutants in each room and in total."""
    lines = [f"{status}: {name}" for name, status in sorted(statuses.items()) if status not in _NOTICED]
    run = {name: status for name, status in statuses.items() if status != _NOT_RUN}
    total: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    for name, status in run.items():
        for group in (name.split(".")[1], "all"):
            total[group] += 1
            killed[group] += status in _NOTICED
    for group in sorted(total, key=lambda each: (each == "all", each)):
        lines.append(f"{group}: {killed[group]} of {total[group]} killed ({killed[group] / total[group]:.0%})")
    if lines and killed["all"] < total["all"]:
        lines.append("To see what a mutant changes: mutmut show NAME")
    return lines


def _results() -> dict[str, str]:
    """Return the status of every mutant by name."""
    said = _mutmut("results", "--all", "true", capture=True)
    pairs = (line.strip().rsplit(": ", 1) for line in said.splitlines() if ": " in line)
    return dict(pairs)


def _mutmut(*words: str, capture: bool = False, check: bool = True) -> str:
    command = [str(Path(sys.executable).with_name("mutmut")), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE if capture else None, text=True, check=check)
    return done.stdout or ""


if __name__ == "__main__":
    main()
