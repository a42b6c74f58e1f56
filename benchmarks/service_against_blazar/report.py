"""The table, the plot and the file of the results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from benchmarks.service_against_blazar.measure import OPERATIONS, Measured

_COLOURS = {4: "#999999", 50: "#E69F00", 100: "#0072B2", 500: "#D55E00", 1_000: "#009E73", 10_000: "#CC79A7"}


def read(path: Path) -> list[Measured]:
    """Return the results of earlier runs, or none if the file does not exist."""
    return [Measured(**entry) for entry in json.loads(path.read_text())] if path.exists() else []


def write(measured: Sequence[Measured], path: Path) -> None:
    """Write the results; the file is replaced atomically."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps([asdict(entry) for entry in measured], indent=1) + "\n")
    new.replace(path)


def table(measured: Sequence[Measured], ours: str, theirs: str) -> Table:
    """Return a table of medians (95th percentiles) in ms, the ratio of the medians, and Blazar's calls to the cloud."""
    found = Table(title="milliseconds: median (95 in 100)")
    for heading in ("hosts", "leases", "operation", ours, theirs, "ratio", "calls of the cloud", "stand-in's own ms"):
        found.add_column(heading, justify="left" if heading == "operation" else "right")
    by_key = {(each.hosts, each.leases, each.operation, each.service): each for each in measured}
    cells = sorted({(each.hosts, each.leases) for each in measured})
    for hosts, leases in cells:
        for operation in OPERATIONS:
            mine = by_key.get((hosts, leases, operation, ours))
            other = by_key.get((hosts, leases, operation, theirs))
            ratio = f"{other.median_ms / mine.median_ms:,.0f}" if mine and other else ""
            found.add_row(
                f"{hosts:,}",
                f"{leases:,}",
                operation,
                _figures(mine),
                _figures(other),
                ratio,
                f"{other.cloud_calls:.0f}" if other else "",
                f"{other.cloud_ms:.1f}" if other else "",
                end_section=operation == OPERATIONS[-1],
            )
    return found


def _figures(entry: Measured | None) -> str:
    return f"{entry.median_ms:,.1f} ({entry.p95_ms:,.1f})" if entry else ""


def plot(measured: Sequence[Measured], ours: str, theirs: str, path: Path) -> None:
    """Plot medians over the number of leases with logarithmic axes: ours in solid lines, Blazar's dashed."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).flat
    for operation, axes in zip(OPERATIONS, panels, strict=True):
        for service, style, marker in ((ours, "-", "o"), (theirs, "--", "x")):
            for hosts in sorted({each.hosts for each in measured}):
                line = sorted(
                    (each.leases, each.median_ms)
                    for each in measured
                    if (each.service, each.hosts, each.operation) == (service, hosts, operation)
                )
                if line:
                    label = f"{service}, {hosts:,} hosts"
                    axes.plot(*zip(*line, strict=True), style, color=_COLOURS.get(hosts), marker=marker, label=label)
        axes.set(xscale="log", yscale="log", title=operation, xlabel="leases", ylabel="median of one request (ms)")
        axes.grid(alpha=0.3)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=90)
