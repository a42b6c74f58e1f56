"""Whole runs of the simulator, each in a process of its own on one core."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

_FIFTEEN_DAYS = "haizea/blue-15days.swf.gz"

#: The options with which Haizea 1.1 was run on the 15 days: aggressive backfilling, everything may be suspended, 32
#: MB/s, 512 of 1024 MB. Whether memory could migrate is not recorded; with it, the last lease ends at the same second
#: as in Haizea.
_LIKE_HAIZEA = (
    "scheduling.backfilling=aggressive",
    "scheduling.suspension=all",
    "scheduling.suspend_rate=32",
    "scheduling.resume_rate=32",
    "scheduling.suspend_estimate=sum",
    "scheduling.preempt_at=request",
    "scheduling.migration=yes",
    "scheduling.policy_preemption=no-preemption",
    "simulation.override_memory=512",
)

#: Results of Haizea 1.1 on the 15 days, and its run time on Python 3.11.
_HAIZEA = {
    "all best-effort done, s": 1_330_627.0,
    "mean wait, s": 3_976.99,
    "mean bounded slowdown": 11.474,
    "CPU use": 0.6733,
    "wall, s": 225.0,
}


def run(directory: Path, out: Console, *, repetitions: int) -> None:
    table = Table(title="Whole runs, one core, a process each", title_justify="left")
    for heading in ("run", "leases", "wall, s (min, median, max)", "aim", "peak memory, MiB", "aim"):
        table.add_column(heading, justify="left" if heading == "run" else "right")
    month = [_once(["blue1", "--inject", "t20"]) for _ in range(repetitions)]
    _add(table, "30 days of BLUE1 + T20, defaults", month, "<= 10", "<= 500")
    folder = os.environ.get("LEASE_SCHEDULER_DATA")
    days: list[dict[str, float]] = []
    if folder and (Path(folder) / _FIFTEEN_DAYS).is_file():
        options = [word for option in _LIKE_HAIZEA for word in ("--set", option)]
        days = [_once([str(Path(folder) / _FIFTEEN_DAYS), *options]) for _ in range(repetitions)]
        _add(table, "15 days of BLUE, as Haizea was run", days, "<= 5", "")
    out.print(table)
    if days:
        _compare(days[0], out)
    else:
        out.print("The 15 days are left out, because LEASE_SCHEDULER_DATA names no folder that has them.")
    (directory / "simulation.json").write_text(json.dumps({"month": month, "fifteen_days": days}, indent=2) + "\n")


def _once(words: list[str]) -> dict[str, float]:
    with TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "lease_scheduler.cmd.lease_sim", "run", *words, "--quiet", "--output", scratch]
        one_core = {next(iter(os.sched_getaffinity(0)))}
        subprocess.run(command, check=True, preexec_fn=lambda: os.sched_setaffinity(0, one_core))
        summary = json.loads((Path(scratch) / "summary.json").read_text())
        found = {name: value for name, value in summary.items() if isinstance(value, int | float)}
        return found | _over_all_leases(Path(scratch) / "leases.csv", summary)


def _over_all_leases(path: Path, summary: dict[str, float]) -> dict[str, float]:
    """Return the figures as Haizea defines them: over every lease, and until the last best-effort lease ends.

    The summary's own figures leave out the time in which the site fills up.
    """
    with path.open(newline="") as stream:
        done = [row for row in csv.DictReader(stream) if row["kind"] == "best-effort" and row["state"] == "done"]
    work = sum(int(row["nodes"]) * int(row["accumulated"]) for row in done)
    return {
        "all_leases_mean_wait_s": fmean(int(row["waiting"]) for row in done),
        "all_leases_mean_bounded_slowdown": fmean(float(row["bounded_slowdown"]) for row in done),
        "best_effort_node_share": work / (summary["hosts"] * summary["all_best_effort_s"]),
    }


def _add(table: Table, name: str, runs: list[dict[str, float]], aim: str, memory_aim: str) -> None:
    walls = sorted(run["wall_s"] for run in runs)
    memory = max(run["peak_rss_bytes"] for run in runs) / 2**20
    spread = f"{walls[0]:.2f} {median(walls):.2f} {walls[-1]:.2f}"
    table.add_row(name, f"{runs[0]['leases']:,.0f}", spread, aim, f"{memory:.0f}", memory_aim)


def _compare(ours: dict[str, float], out: Console) -> None:
    table = Table(title="The same 15 days in Haizea 1.1", title_justify="left")
    for heading in ("figure", "Haizea", "ours"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    names = (
        "all_best_effort_s",
        "all_leases_mean_wait_s",
        "all_leases_mean_bounded_slowdown",
        "best_effort_node_share",
        "wall_s",
    )
    for (figure, value), name in zip(_HAIZEA.items(), names, strict=True):
        table.add_row(figure, f"{value:,.10g}", f"{ours[name]:,.6g}" if value < 1e6 else f"{ours[name]:,.0f}")
    out.print(table)
