"""The figures of the experiments with leases on one machine (Sotomayor 2010, sections 5.4.3 and 5.5.4)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.reports.figure import FAINT, INK, PALETTE, picture
from lease_scheduler.simulation.reports.lowess import lowess

#: A set of reservations: share of the site in per cent, duration in hours, size class (rho, delta, nu).
GridCell = tuple[int, int, str]

#: Abscissas and ordinates of the same leases.
Points = tuple[NDArray[np.float64], NDArray[np.float64]]

_DELTA_MARKS = ("o", "s", "^", "D", "v", "P")
_DELTA_DASHES = ((0, ()), (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 3)), (0, (6, 2, 1, 2, 1, 2)))
_PANEL_WIDTH = 5.2
_PANEL_HEIGHT = 4.4
_HEADROOM = 1.6


def plot_all_best_effort_grid(ratios: Mapping[str, Mapping[GridCell, float]], path: str | os.PathLike[str]) -> None:
    """Time to finish all best-effort leases over the load of reservations (Sotomayor 2010, fig. 5.2).

    A panel for each size class in the order in which it first occurs, a colour for each configuration, and a line for
    each duration.

    :param ratios: configuration -> set of reservations -> time with these reservations over time without any
    :param path: ``.png`` or ``.svg``
    :raises InvalidValueError: nothing to draw, more configurations or durations than can be told apart, or another
        suffix
    :raises InputFileError: the file cannot be written
    """
    cells = [cell for values in ratios.values() for cell in values]
    sizes = list(dict.fromkeys(nu for _, _, nu in cells))
    deltas = sorted({delta for _, delta, _ in cells})
    _require("ratios", len(sizes))
    _require("configurations", len(ratios), len(PALETTE))
    _require("durations", len(deltas), len(_DELTA_MARKS))
    with picture(path, _PANEL_WIDTH * len(sizes), _PANEL_HEIGHT + 0.8) as figure:
        panels = _panels(figure, sizes)
        for axes, nu in zip(panels, sizes, strict=True):
            for (_, values), colour in zip(ratios.items(), PALETTE, strict=False):
                for delta, mark, dash in zip(deltas, _DELTA_MARKS, _DELTA_DASHES, strict=False):
                    loads = sorted(rho for rho, hours, size in values if (hours, size) == (delta, nu))
                    times = [values[rho, delta, nu] for rho in loads]
                    axes.plot(loads, times, color=colour, marker=mark, linestyle=dash, markersize=5, linewidth=1.3)
            axes.axhline(1, color=FAINT, linewidth=1, zorder=0)
            axes.set_title(f"{nu} reservations")
            axes.set_xlabel("load of reservations")
            axes.xaxis.set_major_formatter(PercentFormatter(decimals=0))
            axes.grid(axis="y")
        panels[0].set_ylabel("time to finish all best-effort leases\n(without reservations = 1)")
        keys = [
            Line2D([], [], color=colour, linewidth=3, label=name) for name, colour in zip(ratios, PALETTE, strict=False)
        ]
        keys += [
            Line2D([], [], color=INK, marker=mark, linestyle=dash, markersize=5, linewidth=1.3, label=f"{delta} h")
            for delta, mark, dash in zip(deltas, _DELTA_MARKS, _DELTA_DASHES, strict=False)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_against(
    panels: Mapping[str, Mapping[str, Points]],
    path: str | os.PathLike[str],
    *,
    quantity: str,
    measure: str,
    fraction: float = 2 / 3,
) -> None:
    """What leases experience over what they ask for, as Lowess curves (Sotomayor 2010, figs. 5.3-5.11).

    The leases themselves are faint points behind; those far above all curves are cut off.

    :param panels: title of a panel, e.g. the workload -> configuration -> points
    :param path: ``.png`` or ``.svg``
    :param quantity: what the abscissas are, with unit, e.g. ``requested duration (h)``
    :param measure: what the ordinates are, with unit, e.g. ``waiting time (h)``
    :param fraction: share of the points that each piece of a curve follows, more than 0 and at most 1
    :raises InvalidValueError: nothing to draw, more configurations than can be told apart, points that are not finite,
        a fraction out of bounds, or another suffix
    :raises InputFileError: the file cannot be written
    """
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    _require("panels", len(panels))
    _require("configurations", len(names), len(PALETTE))
    colours = dict(zip(names, PALETTE, strict=False))
    smooth = {
        (title, name): lowess(*points, fraction=fraction)
        for title, curves in panels.items()
        for name, points in curves.items()
    }
    highest = max(float(curve.max()) for _, curve in smooth.values())
    with picture(path, _PANEL_WIDTH * len(panels), _PANEL_HEIGHT + 0.6) as figure:
        axes_of = _panels(figure, list(panels))
        for axes, (title, curves) in zip(axes_of, panels.items(), strict=True):
            for name, points in curves.items():
                axes.plot(
                    *points, linestyle="", marker=".", markersize=3, color=colours[name], alpha=0.12, rasterized=True
                )
            for name in curves:
                # The white rim keeps a curve visible on its own points.
                axes.plot(*smooth[title, name], color="white", linewidth=4)
                axes.plot(*smooth[title, name], color=colours[name], linewidth=2)
            axes.set_title(title)
            axes.set_xlabel(quantity)
            axes.set_xlim(left=0)
            axes.set_ylim(0, _HEADROOM * highest if highest > 0 else 1)
            axes.grid(axis="y")
        axes_of[0].set_ylabel(measure)
        keys = [Line2D([], [], color=colours[name], linewidth=2, label=name) for name in names]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_utilisation(utilisations: Mapping[str, Mapping[tuple[str, str], float]], path: str | os.PathLike[str]) -> None:
    """Mean utilisation by laws of start and deadline, a panel for each mode of preemption (Sotomayor 2010, fig. 5.12).

    :param utilisations: mode -> (start law, deadline law) -> utilisation from 0 to 1; laws are drawn in the order in
        which they first occur
    :param path: ``.png`` or ``.svg``
    :raises InvalidValueError: nothing to draw, more start laws than can be told apart, or another suffix
    :raises InputFileError: the file cannot be written
    """
    laws = [law for values in utilisations.values() for law in values]
    starts = list(dict.fromkeys(start for start, _ in laws))
    deadlines = list(dict.fromkeys(deadline for _, deadline in laws))
    _require("utilisations", len(laws))
    _require("start laws", len(starts), len(PALETTE))
    width = 0.8 / len(starts)
    with picture(path, _PANEL_WIDTH * len(utilisations), _PANEL_HEIGHT) as figure:
        panels = _panels(figure, list(utilisations))
        for axes, (mode, values) in zip(panels, utilisations.items(), strict=True):
            for number, (start, colour) in enumerate(zip(starts, PALETTE, strict=False)):
                known = [position for position, law in enumerate(deadlines) if (start, law) in values]
                heights = [values[start, deadlines[position]] for position in known]
                places = np.array(known) + (number - (len(starts) - 1) / 2) * width
                drawn = axes.bar(places, heights, width * 0.94, color=colour)
                axes.bar_label(drawn, fmt="{:.0%}", fontsize=8, padding=2)
            axes.set_title(mode)
            axes.set_xticks(range(len(deadlines)), labels=deadlines)
            axes.set_xlabel("deadlines")
            axes.set_ylim(0, 1)
            axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
            axes.tick_params(bottom=False)
            axes.grid(axis="y")
        panels[0].set_ylabel("mean utilisation")
        keys = [Patch(facecolor=colour, label=f"{start} start") for start, colour in zip(starts, PALETTE, strict=False)]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_bars(panels: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str], *, measure: str) -> None:
    """A bar for each configuration, a panel for each workload (Sotomayor 2010, table 6.1).

    :param panels: title of a panel -> configuration -> value
    :param path: ``.png`` or ``.svg``
    :param measure: what the values are, with unit
    :raises InvalidValueError: nothing to draw, more configurations than can be told apart, or another suffix
    :raises InputFileError: the file cannot be written
    """
    names = list(dict.fromkeys(name for values in panels.values() for name in values))
    _require("panels", len(panels))
    _require("configurations", len(names), len(PALETTE))
    with picture(path, _PANEL_WIDTH * len(panels), _PANEL_HEIGHT + 0.6) as figure:
        axes_of = _panels(figure, list(panels))
        for axes, (title, values) in zip(axes_of, panels.items(), strict=True):
            for name, value in values.items():
                place = names.index(name)
                drawn = axes.bar(place, value, 0.8, color=PALETTE[place])
                axes.bar_label(drawn, fmt="{:.3g}", fontsize=8, padding=2)
            axes.set_title(title)
            axes.set_xticks([])
            axes.grid(axis="y")
        axes_of[0].set_ylabel(measure)
        keys = [Patch(facecolor=colour, label=name) for name, colour in zip(names, PALETTE, strict=False)]
        figure.legend(handles=keys, loc="outside lower center", ncols=min(4, len(keys)))


def plot_lines(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]],
    path: str | os.PathLike[str],
    *,
    quantity: str,
    measure: str,
) -> None:
    """A line for each configuration, a panel for each workload (Sotomayor 2010, figs. 7.4 and 7.5).

    :param panels: title of a panel -> configuration -> quantity -> measure
    :param path: ``.png`` or ``.svg``
    :param quantity: what the abscissas are, with unit
    :param measure: what the ordinates are, with unit
    :raises InvalidValueError: nothing to draw, more configurations than can be told apart, or another suffix
    :raises InputFileError: the file cannot be written
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    _require("panels", len(panels))
    _require("configurations", len(names), min(len(PALETTE), len(_DELTA_MARKS)))
    with picture(path, _PANEL_WIDTH * len(panels), _PANEL_HEIGHT + 0.6) as figure:
        axes_of = _panels(figure, list(panels))
        for axes, (title, lines) in zip(axes_of, panels.items(), strict=True):
            for name, points in lines.items():
                place = names.index(name)
                axes.plot(
                    sorted(points),
                    [points[x] for x in sorted(points)],
                    color=PALETTE[place],
                    marker=_DELTA_MARKS[place],
                    markersize=5,
                )
            axes.axhline(1, color=FAINT, linewidth=1, zorder=0)
            axes.set_title(title)
            axes.set_xlabel(quantity)
            axes.grid(axis="y")
        axes_of[0].set_ylabel(measure)
        keys = [
            Line2D([], [], color=colour, marker=mark, markersize=5, label=name)
            for name, colour, mark in zip(names, PALETTE, _DELTA_MARKS, strict=False)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def _panels(figure: Figure, titles: Sequence[str]) -> list[Axes]:
    """One panel beside the other, with the same scale."""
    return list(figure.subplots(1, len(titles), sharex=True, sharey=True, squeeze=False)[0])


def _require(field: str, count: int, most: int | None = None) -> None:
    if not count:
        raise InvalidValueError(field, "must hold something to draw")
    if most is not None and count > most:
        raise InvalidValueError(field, f"can be at most {most} in one picture, not {count}; draw several pictures")
