"""The plot of how decision times grow with the plan."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.timing import Timing

_COLOURS = {
    "reservation": "#0072B2",
    "earliest fit, 64 nodes": "#D55E00",
    "earliest fit, 64 whole hosts": "#009E73",
}
_MARKERS = {100: "o", 1_000: "s", 10_000: "^"}


def plot_growth(timings: list[Timing], path: Path) -> None:
    """Plot medians over the number of live leases and over the number of hosts, with logarithmic axes."""
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    over_leases, over_hosts = figure.subplots(1, 2, sharey=True)
    for measure, colour in _COLOURS.items():
        mine = [timing for timing in timings if timing.measure == measure]
        for number, marker in _MARKERS.items():
            line = sorted((t.leases, t.median_ms) for t in mine if t.hosts == number)
            _draw(over_leases, line, colour, marker, f"{measure}; {number:,} hosts")
            line = sorted((t.hosts, t.median_ms) for t in mine if t.leases == number)
            _draw(over_hosts, line, colour, marker, f"{measure}; {number:,} leases")
    for axes, what in ((over_leases, "live leases"), (over_hosts, "hosts")):
        axes.set(xscale="log", yscale="log", xlabel=what)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    over_leases.set_ylabel("median of one decision (ms)")
    figure.savefig(path, dpi=130)


def _draw(axes: Axes, line: list[tuple[int, float]], colour: str, marker: str, label: str) -> None:
    if line:
        axes.plot(*zip(*line, strict=True), color=colour, marker=marker, label=label)
