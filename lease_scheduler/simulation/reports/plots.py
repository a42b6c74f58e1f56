"""The figures of the experiments (Sotomayor 2010, chapters 5 to 8)."""

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

#: Abscissas and ordinates of points, which are usually leases.
Points = tuple[NDArray[np.float64], NDArray[np.float64]]

_DELTA_MARKS = ("o", "s", "^", "D", "v", "P")
_DELTA_DASHES = ((0, ()), (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 3)), (0, (6, 2, 1, 2, 1, 2)))
_PANEL_WIDTH = 5.2
_PANEL_HEIGHT = 4.4
_HEADROOM = 1.6
#: Gap between groups of bars, in widths of a bar.
_GROUP_GAP = 0.8


def plot_all_best_effort_grid(ratios: Mapping[str, Mapping[GridCell, float]], path: str | os.PathLike[str]) -> None:
    """Plot the time to finish all best-effort leases over the load of reservations (Sotomayor 2010, fig. 5.2).

    There is a panel for each size class, in the order in which they first occur, a colour for each configuration, and a
    line for each duration.

    :param ratios: configuration -> set of reservations -> time with these reservations divided by time without any
    :param path: ``.png`` or ``.svg``
    :raises InvalidValueError: there is nothing to draw, there are more configurations or durations than can be
        distinguished, or the path has another suffix
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
    """Plot a measure of leases over a requested quantity, as Lowess curves (Sotomayor 2010, figs. 5.3-5.11).

    The leases are faint points behind the curves; points far above all curves are cut off.

    :param panels: title of a panel, e.g. the workload -> configuration -> points
    :param path: ``.png`` or ``.svg``
    :param quantity: label of the abscissas with unit, e.g. ``requested duration (h)``
    :param measure: label of the ordinates with unit, e.g. ``waiting time (h)``
    :param fraction: share of the points that each local fit of a curve uses, more than 0 and at most 1
    :raises InvalidValueError: there is nothing to draw, there are more configurations than can be distinguished, a
        point is not finite, the fraction is out of bounds, or the path has another suffix
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


def plot_utilisation(
    utilisations: Mapping[str, Mapping[tuple[str, str], float]], path: str | os.PathLike[str], *, law: str = "start"
) -> None:
    """Plot the mean utilisation by two laws of the workload, with a panel for each configuration.

    See Sotomayor 2010, figures 5.12 and 8.5.

    :param utilisations: configuration -> (first law, deadline law) -> utilisation from 0 to 1; laws are drawn in the
        order in which they first occur
    :param path: ``.png`` or ``.svg``
    :param law: subject of the first law, e.g. ``start``
    :raises InvalidValueError: there is nothing to draw, there are more first laws than can be distinguished, or the
        path has another suffix
    :raises InputFileError: the file cannot be written
    """
    cells = [cell for values in utilisations.values() for cell in values]
    starts = list(dict.fromkeys(start for start, _ in cells))
    deadlines = list(dict.fromkeys(deadline for _, deadline in cells))
    _require("utilisations", len(cells))
    _require("start laws", len(starts), len(PALETTE))
    width = 0.8 / len(starts)
    with picture(path, _PANEL_WIDTH * len(utilisations), _PANEL_HEIGHT) as figure:
        panels = _panels(figure, list(utilisations))
        for axes, (mode, values) in zip(panels, utilisations.items(), strict=True):
            for number, (start, colour) in enumerate(zip(starts, PALETTE, strict=False)):
                known = [position for position, deadline in enumerate(deadlines) if (start, deadline) in values]
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
        keys = [Patch(facecolor=colour, label=f"{start} {law}") for start, colour in zip(starts, PALETTE, strict=False)]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_bars(panels: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str], *, measure: str) -> None:
    """Plot a bar for each configuration, with a panel for each workload (Sotomayor 2010, table 6.1).

    :param panels: title of a panel -> configuration -> value
    :param path: ``.png`` or ``.svg``
    :param measure: label of the values with unit
    :raises InvalidValueError: there is nothing to draw, there are more configurations than can be distinguished, or the
        path has another suffix
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
    panels: Mapping[str, Mapping[str, Mapping[int, float] | Mapping[float, float]]],
    path: str | os.PathLike[str],
    *,
    quantity: str,
    measure: str,
    reference: float | None = 1.0,
) -> None:
    """Plot a line for each configuration, with a panel for each workload (Sotomayor 2010, figs. 7.4 and 7.5).

    :param panels: title of a panel -> configuration -> quantity -> measure
    :param path: ``.png`` or ``.svg``
    :param quantity: label of the abscissas with unit
    :param measure: label of the ordinates with unit
    :param reference: ordinate of a faint horizontal line; None for none
    :raises InvalidValueError: there is nothing to draw, there are more configurations than can be distinguished, or the
        path has another suffix
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
                in_order = sorted(points.items())
                axes.plot(
                    [x for x, _ in in_order],
                    [y for _, y in in_order],
                    color=PALETTE[place],
                    marker=_DELTA_MARKS[place],
                    markersize=5,
                )
            if reference is not None:
                axes.axhline(reference, color=FAINT, linewidth=1, zorder=0)
            axes.set_title(title)
            axes.set_xlabel(quantity)
            axes.grid(axis="y")
        axes_of[0].set_ylabel(measure)
        keys = [
            Line2D([], [], color=colour, marker=mark, markersize=5, label=name)
            for name, colour, mark in zip(names, PALETTE, _DELTA_MARKS, strict=False)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_shares(
    panels: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]],
    path: str | os.PathLike[str],
    *,
    measure: str,
) -> None:
    """Plot the parts of a whole, with a bar for each configuration (Sotomayor 2010, figs. 8.1 and 8.2).

    :param panels: title of a panel -> group of bars, e.g. the workload -> configuration -> part -> share from 0 to 1
    :param path: ``.png`` or ``.svg``
    :param measure: label of the whole
    :raises InvalidValueError: there is nothing to draw, there are more parts than can be distinguished, or the path has
        another suffix
    :raises InputFileError: the file cannot be written
    """
    bars = [shares for groups in panels.values() for group in groups.values() for shares in group.values()]
    parts = list(dict.fromkeys(part for shares in bars for part in shares))
    _require("panels", len(bars))
    _require("parts", len(parts), len(PALETTE))
    colours = dict(zip(parts, PALETTE, strict=False))
    with picture(path, _PANEL_WIDTH * len(panels), _PANEL_HEIGHT + 1.2) as figure:
        axes_of = list(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0])
        for axes, (title, groups) in zip(axes_of, panels.items(), strict=True):
            places: list[float] = []
            place = 0.0
            for group, configurations in groups.items():
                places += [place + number for number in range(len(configurations))]
                axes.text(place + (len(configurations) - 1) / 2, 1.02, group, ha="center", fontsize=9)
                place += len(configurations) + _GROUP_GAP
            drawn = [shares for group in groups.values() for shares in group.values()]
            bottom = np.zeros(len(drawn))
            for part in parts:
                heights = np.array([shares.get(part, 0.0) for shares in drawn])
                axes.bar(places, heights, 0.9, bottom=bottom, color=colours[part])
                bottom += heights
            labels = [name for group in groups.values() for name in group]
            axes.set_title(title, pad=18)
            axes.set_xticks(places, labels=labels, rotation=90)
            axes.set_ylim(0, 1)
            axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
            axes.tick_params(bottom=False)
        axes_of[0].set_ylabel(measure)
        keys = [Patch(facecolor=colours[part], label=part) for part in parts]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def plot_rate_curves(
    panels: Mapping[str, Mapping[str, Points]],
    marks: Mapping[str, Mapping[str, float]],
    path: str | os.PathLike[str],
) -> None:
    """Plot the parts of all that users would pay over the rate (Sotomayor 2010, figs. 8.3 and 8.4).

    :param panels: title of a panel, e.g. the users -> part -> rates and shares from 0 to 1
    :param marks: title of a panel -> label of a rate -> rate, which is drawn as a vertical line
    :param path: ``.png`` or ``.svg``
    :raises InvalidValueError: there is nothing to draw, there are more parts or marks than can be distinguished, or the
        path has another suffix
    :raises InputFileError: the file cannot be written
    """
    parts = list(dict.fromkeys(part for curves in panels.values() for part in curves))
    names = list(dict.fromkeys(name for rates in marks.values() for name in rates))
    _require("panels", len(panels))
    _require("parts", len(parts), len(PALETTE))
    _require("marks", len(names) or 1, len(_DELTA_DASHES) - 1)
    with picture(path, _PANEL_WIDTH * len(panels), _PANEL_HEIGHT + 0.4) as figure:
        axes_of = _panels(figure, list(panels))
        dashes = dict(zip(names, _DELTA_DASHES[1:], strict=False))
        for axes, (title, curves) in zip(axes_of, panels.items(), strict=True):
            for part, points in curves.items():
                axes.plot(*points, color=PALETTE[parts.index(part)], linewidth=1.6)
            for name, rate in marks.get(title, {}).items():
                axes.axvline(rate, color=INK, linestyle=dashes[name], linewidth=1.2)
            axes.set_title(title)
            axes.set_xlabel("money per node and hour")
            axes.set_xlim(left=0)
            axes.set_ylim(0, 1)
            axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
            axes.grid(axis="y")
        axes_of[0].set_ylabel("share of all that users would pay")
        keys = [Line2D([], [], color=colour, label=part) for part, colour in zip(parts, PALETTE, strict=False)]
        keys += [Line2D([], [], color=INK, linestyle=dashes[name], label=name) for name in names]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def _panels(figure: Figure, titles: Sequence[str]) -> list[Axes]:
    """Return panels side by side, with the same scale."""
    return list(figure.subplots(1, len(titles), sharex=True, sharey=True, squeeze=False)[0])


def _require(field: str, count: int, most: int | None = None) -> None:
    if not count:
        raise InvalidValueError(field, "has nothing to draw")
    if most is not None and count > most:
        raise InvalidValueError(field, f"can be at most {most} in one picture, not {count}; draw several pictures")
