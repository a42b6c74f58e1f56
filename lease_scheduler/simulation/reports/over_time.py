"""Quantities over time: a line for each of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.lines import Line2D

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.reports.figure import PALETTE, picture

_WIDTH = 3.6
_HEIGHT = 3.2


def plot_over_time(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    path: str | os.PathLike[str],
    *,
    interval: float,
    time: str,
    measure: str,
) -> None:
    """Plot quantities over time, with a panel for each run.

    :param panels: title of a panel -> name of a line -> values, one for each interval
    :param path: ``.png`` or ``.svg``
    :param interval: length of an interval in units of ``time``
    :param time: label of the abscissas with unit
    :param measure: label of the ordinates with unit
    :raises InvalidValueError: there is nothing to draw, there are more lines than can be distinguished, or the path has
        another suffix
    :raises InputFileError: the file cannot be written
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if not names or len(names) > len(PALETTE):
        raise InvalidValueError("panels", f"must have 1 to {len(PALETTE)} different lines, not {len(names)}")
    with picture(path, max(2 * _WIDTH, _WIDTH * len(panels)), _HEIGHT + 0.5) as figure:
        axes_of = list(figure.subplots(1, len(panels), sharey=True, squeeze=False)[0])
        for axes, (title, lines) in zip(axes_of, panels.items(), strict=True):
            for name, values in lines.items():
                instants = (np.arange(len(values)) + 0.5) * interval
                axes.plot(instants, list(values), color=PALETTE[names.index(name)], linewidth=1.4)
            axes.set_title(title)
            axes.set_xlabel(time)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
        axes_of[0].set_ylabel(measure)
        keys = [Line2D([], [], color=colour, label=name) for name, colour in zip(names, PALETTE, strict=False)]
        figure.legend(handles=keys, loc="outside lower center", ncols=min(4, len(keys)))
