"""The Gantt chart of a run: which leases held which hosts when, with utilisation and queue below."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import VCPU
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.reports.figure import INK, label_time, picture
from lease_scheduler.simulation.reports.gantt_shapes import Bar, Holds, bars, holds_between, image
from lease_scheduler.simulation.reports.summary import readable_duration
from lease_scheduler.simulation.result import Phase, RunResult
from lease_scheduler.simulation.step_function import StepFunction

#: Colour of each kind of lease; black text is readable on all of them.
KIND_COLOURS = {
    LeaseKind.RESERVATION: "#e69f00",
    LeaseKind.IMMEDIATE: "#cc79a7",
    LeaseKind.DEADLINE: "#2fb58c",
    LeaseKind.BEST_EFFORT: "#56b4e9",
}

_HATCHES = {Phase.RESUME: "////", Phase.SUSPEND: "\\\\\\\\", Phase.SHUTDOWN: "...."}
_PHASE_NAMES = {Phase.RESUME: "resuming", Phase.SUSPEND: "suspending", Phase.SHUTDOWN: "shutting down"}
_OVERHEAD_NAME = "suspending, resuming, shutting down"

# With more bars or hosts, bars would be too small for edges, hatching and labels.
_MOST_BARS = 3_000
_MOST_BAR_HOSTS = 64

_MOST_ROWS = 1_000
_MOST_NAMED_HOSTS = 40
_COLUMNS = 1_600

_WIDTH = 16.0
_STRIP_HEIGHT = 1.25
_LABEL_SIZE = 8.5
# Generous width of a letter of DejaVu Sans, as a share of its height.
_LETTER_WIDTH = 0.68


def draw_gantt(
    result: RunResult, path: str | os.PathLike[str], *, begin: int | None = None, end: int | None = None
) -> None:
    """Draw hosts over time, with the utilisation by kind and the length of the best-effort queue below.

    Leases have the colours of their kinds. With few hosts and leases, leases are bars with their ids, and suspending,
    resuming and shutting down are hatched. With many, the chart is an image in which these phases are dark, and
    neighbouring leases of a kind differ slightly in brightness.

    :param path: ``.png`` or ``.svg``
    :param begin: left end in s from the workload's zero; by default the zero
    :param end: right end, likewise; by default the end of the run
    :raises InvalidValueError: ``begin`` is not before ``end``, or the path has another suffix
    :raises InputFileError: the file cannot be written
    """
    begin = 0 if begin is None else begin
    # The chart of a run of no length is empty, but valid.
    end = max(result.end - result.start, 1) if end is None else end
    if begin >= end:
        raise InvalidValueError("begin", f"must be before the end ({end} s), not {begin} s")
    holds = holds_between(result, begin, end)
    hosts_height = min(max(0.65 * len(result.site), 2.2), 7.0)
    with picture(path, _WIDTH, hosts_height + 2 * _STRIP_HEIGHT + 1.2) as figure:
        top, middle, bottom = figure.subplots(
            3, 1, sharex=True, height_ratios=[hosts_height, _STRIP_HEIGHT, _STRIP_HEIGHT]
        )
        top.set_xlim(begin, end)
        _draw_hosts(top, result)
        if len(holds) <= _MOST_BARS and len(result.site) <= _MOST_BAR_HOSTS:
            keys = _draw_bars(figure, top, result, holds)
        else:
            keys = _draw_image(top, result, holds, begin, end)
        _draw_utilisation(middle, result, begin, end)
        _draw_queue(bottom, result, begin, end)
        last = result.last_submission - result.start
        if begin < last < end:
            for axes in (top, middle, bottom):
                axes.axvline(last, color=INK, linewidth=0.9, linestyle=":")
            keys.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=":", label="last submission"))
        label_time(bottom, begin, end)
        top.set_title(_title(result), pad=10, fontsize=13, fontweight="bold")
        if keys:
            figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def _title(result: RunResult) -> str:
    hosts = "1 host" if len(result.site) == 1 else f"{len(result.site):,} hosts"
    length = readable_duration(result.end - result.start)
    return f"{result.workload_name}: {len(result.leases):,} leases on {hosts}, {length}"


def _draw_hosts(axes: Axes, result: RunResult) -> None:
    count = len(result.site)
    axes.set_ylim(count, 0)
    axes.tick_params(bottom=False, left=False)
    if count <= _MOST_NAMED_HOSTS:
        axes.set_yticks(np.arange(count) + 0.5, labels=[host.name for host in result.site.hosts])
        axes.hlines(np.arange(1, count), *axes.get_xlim(), colors="#e4e4e4", linewidth=0.8, zorder=0)
    else:
        step = MaxNLocator(12, integer=True, steps=[1, 2, 5, 10]).tick_values(0, count)
        numbers = [1, *(int(number) for number in step if 1 < number <= count)]
        axes.set_yticks(np.array(numbers) - 0.5, labels=[f"{number:,}" for number in numbers])
        axes.set_ylabel("host")


def _draw_bars(figure: Figure, axes: Axes, result: RunResult, holds: Holds) -> list[Artist]:
    leases = {lease.lease_id: lease for lease in result.leases}
    shapes = bars(holds, _capacities(result))
    groups: dict[tuple[LeaseKind, Phase], list[Bar]] = defaultdict(list)
    for shape in shapes:
        occupation = holds.occupations[shape.occupation]
        groups[leases[occupation.lease_id].kind, occupation.phase].append(shape)
    for (kind, phase), members in groups.items():
        axes.add_collection(
            PatchCollection(
                [Rectangle((bar.start, bar.bottom), bar.end - bar.start, bar.top - bar.bottom) for bar in members],
                facecolor=KIND_COLOURS[kind] if phase is Phase.RUN else _lighter(KIND_COLOURS[kind], 0.6),
                # The edge colour is also used for the hatching.
                edgecolor="white" if phase is Phase.RUN else _darker(KIND_COLOURS[kind], 0.35),
                linewidth=0.8 if phase is Phase.RUN else 0.4,
                hatch=_HATCHES.get(phase),
            )
        )
    figure.draw_without_rendering()
    for shape in shapes:
        occupation = holds.occupations[shape.occupation]
        if occupation.phase is Phase.RUN:
            _label_bar(axes, shape, occupation.lease_id)
    keys: list[Artist] = _kind_keys(leases, holds)
    for phase, hatch in _HATCHES.items():
        if any(occupation.phase is phase for occupation in holds.occupations):
            keys.append(Patch(facecolor="#f2f2f2", edgecolor="#666666", hatch=hatch, label=_PHASE_NAMES[phase]))
    return keys


def _label_bar(axes: Axes, bar: Bar, text: str) -> None:
    """Write a text into a bar, vertically if the bar is too narrow; write nothing if the bar is too small."""
    corners = axes.transData.transform([(bar.start, bar.bottom), (bar.end, bar.top)])
    width, height = np.abs(corners[1] - corners[0])
    letter = _LABEL_SIZE * axes.figure.dpi / 72
    length = letter * _LETTER_WIDTH * len(text) + 4
    if width >= length and height >= letter * 1.2:
        rotation = 0
    elif height >= length and width >= letter * 1.2:
        rotation = 90
    else:
        return
    middle = ((bar.start + bar.end) / 2, (bar.bottom + bar.top) / 2)
    axes.text(*middle, text, fontsize=_LABEL_SIZE, rotation=rotation, ha="center", va="center", clip_on=True)


def _draw_image(axes: Axes, result: RunResult, holds: Holds, begin: int, end: int) -> list[Artist]:
    leases = {lease.lease_id: lease for lease in result.leases}
    colours = np.array([_shade(leases[held.lease_id], held.phase) for held in holds.occupations]).reshape(-1, 3)
    pixels = image(holds, _capacities(result), colours, begin, end, (min(len(result.site), _MOST_ROWS), _COLUMNS))
    axes.imshow(pixels, aspect="auto", interpolation="none", extent=(begin, end, len(result.site), 0))
    keys: list[Artist] = _kind_keys(leases, holds)
    if any(occupation.phase is not Phase.RUN for occupation in holds.occupations):
        keys.append(Patch(facecolor="#555555", label=_OVERHEAD_NAME))
    return keys


def _shade(lease: Lease, phase: Phase) -> tuple[float, float, float]:
    colour = KIND_COLOURS[lease.kind]
    return _darker(colour, 0.6) if phase is not Phase.RUN else _lighter(colour, 0.16 * (lease.sequence % 3))


def _kind_keys(leases: dict[str, Lease], holds: Holds) -> list[Artist]:
    shown = {leases[occupation.lease_id].kind for occupation in holds.occupations}
    return [Patch(facecolor=KIND_COLOURS[kind], label=kind.value) for kind in KIND_COLOURS if kind in shown]


def _draw_utilisation(axes: Axes, result: RunResult, begin: int, end: int) -> None:
    present = {lease.kind for lease in result.leases}
    used = {kind: metrics.utilisation(result, kind) for kind in KIND_COLOURS if kind in present}
    edges = _edges(used.values(), begin, end)
    below = np.zeros(len(edges) - 1)
    for kind, share in used.items():
        above = below + share.averages(edges)
        axes.stairs(above, edges, baseline=below, fill=True, color=KIND_COLOURS[kind])
        below = above
    average = metrics.average_utilisation(result)
    axes.axhline(average, color=INK, linewidth=0.9, linestyle="--")
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    axes.set_ylabel("utilisation")
    axes.set_title(f"mean {average:.1%} without ramp-up, until the last submission", fontsize=9, pad=3)


def _draw_queue(axes: Axes, result: RunResult, begin: int, end: int) -> None:
    queue = metrics.queue_length(result)
    edges = _edges([queue], begin, end)
    waiting = queue.averages(edges)
    axes.stairs(waiting, edges, fill=True, color="#8c8c8c")
    axes.set_ylim(0, max(1.0, 1.1 * float(waiting.max())))
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_ylabel("queued")
    axes.grid(axis="y")


def _edges(functions: Iterable[StepFunction], begin: int, end: int) -> NDArray[np.float64]:
    """Return the edges of a strip's steps: the changes of the functions, or one per pixel if there are more changes."""
    changes = np.unique(np.concatenate([[begin, end], *(function.times for function in functions)]))
    changes = changes[(begin <= changes) & (changes <= end)]
    return changes.astype(np.float64) if len(changes) <= _COLUMNS else np.linspace(begin, end, _COLUMNS + 1)


def _capacities(result: RunResult) -> list[int]:
    """Return the VCPUs of each host, at least 1 as in ``Holds``."""
    return [max(host.capacity.get(VCPU, 0), 1) for host in result.site.hosts]


def _lighter(colour: str, share: float) -> tuple[float, float, float]:
    red, green, blue = to_rgb(colour)
    return red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share


def _darker(colour: str, share: float) -> tuple[float, float, float]:
    red, green, blue = to_rgb(colour)
    return red * (1 - share), green * (1 - share), blue * (1 - share)
