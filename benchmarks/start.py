"""How much processor time the imports of a program take, with compiled bytecode: what a start and a takeover pay."""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median

from rich.console import Console

_PROGRAMS = ("agent", "api", "engine", "manage")


def run(out: Console, *, repetitions: int = 5) -> None:
    """Print, for each program, the median of its imports in seconds of user time."""
    for program in _PROGRAMS:
        # The first one compiles.
        seconds = [_imports(program) for _ in range(repetitions + 1)][1:]
        out.print(f"imports of {program}: {median(seconds):.2f} s (from {min(seconds):.2f} to {max(seconds):.2f})")


def _imports(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-W", "ignore", "-c", f"import lease_scheduler.cmd.{program}"], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
