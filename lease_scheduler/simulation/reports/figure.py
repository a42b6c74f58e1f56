"""Common parts of all figures: colours, time axes, and files whose bytes depend only on what is drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.files import replace_file

#: Colours that people with any kind of colour vision can distinguish (Okabe and Ito 2008), strongest contrast first.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")

#: Colours of text, and of lines that show no data.
INK = "#222222"
FAINT = "#b0b0b0"

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "text.color": INK,
    # Ids and names may contain dollar signs.
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    # Without a salt, the ids inside an SVG are random.
    "svg.hashsalt": "lease-scheduler",
}

_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}

_DPI = 120
_MOST_TICKS = 16
_MINUTE = 60
_HOUR = 3_600
_DAY = 86_400
_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * count for count in (1, 2, 3, 6, 12)),
    *(_DAY * count * power for power in (1, 10, 100, 1_000, 10_000) for count in (1, 2, 5)),
)
_UNITS = ((_DAY, "days", None), (_HOUR, "hours", _DAY), (_MINUTE, "minutes", _HOUR), (1, "seconds", _MINUTE))
_PARTS = ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min"))


@contextmanager
def picture(path: str | os.PathLike[str], width: float, height: float) -> Iterator[Figure]:
    """Make a figure to draw on, and write it to a file at the end of the block, unless the block raises.

    :param path: ``.png`` or ``.svg``
    :param width: width in inches of 120 pixels
    :param height: height, likewise
    :raises InvalidValueError: the path has another suffix
    :raises InputFileError: the file cannot be written
    """
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in _METADATA:
        raise InvalidValueError("path", f"must end in .png or .svg, not {os.fspath(path)!r}")
    with matplotlib.rc_context():
        # The figure must not depend on the user's settings of matplotlib.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        content = io.BytesIO()
        figure.savefig(content, format=form, metadata=_METADATA[form])
    replace_file(path, content.getvalue())


def label_time(axes: Axes, begin: float, end: float) -> None:
    """Set ticks and label of a time axis, in a unit that suits its length.

    :param begin: left end of the axis in s from the workload's zero
    :param end: right end, likewise
    """
    step = next((step for step in _STEPS if (end - begin) / step <= _MOST_TICKS), _STEPS[-1])
    unit, name, larger = next(entry for entry in _UNITS if step >= entry[0])
    origin = 0 if larger is None else int(begin // larger) * larger
    first = -int(-begin // step) * step
    ticks = range(first, int(end) + 1, step)
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda instant, _: f"{(instant - origin) / unit:,.10g}"))
    axes.set_xlabel(f"{name} from {_instant(origin)}")


def _instant(seconds: int) -> str:
    """Return an instant as text, e.g. ``day 3, 5 h, 20 min``."""
    if not seconds:
        return "the workload's zero"
    days, rest = divmod(seconds, _DAY)
    hours, rest = divmod(rest, _HOUR)
    minutes = rest // _MINUTE
    parts = [f"day {days}"] if days else []
    parts += [
        f"{count} h" if unit == _HOUR else f"{count} min"
        for unit, count in ((_HOUR, hours), (_MINUTE, minutes))
        if count
    ]
    return ", ".join(parts)
