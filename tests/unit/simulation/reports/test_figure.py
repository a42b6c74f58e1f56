"""Time axes, and files that depend only on what is drawn."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.reports.figure import label_time, picture

HOUR = 3_600
DAY = 86_400


def time_axis(begin: int, end: int) -> tuple[str, list[str]]:
    """Return label and tick labels of an axis."""
    figure = Figure()
    axes = figure.subplots()
    axes.set_xlim(begin, end)
    label_time(axes, begin, end)
    figure.draw_without_rendering()
    return axes.get_xlabel(), [tick.get_text() for tick in axes.get_xticklabels()]


@pytest.mark.parametrize(
    ("begin", "end", "label", "ticks"),
    [
        (0, 1, "seconds from the workload's zero", ["0", "1"]),
        (0, 40, "seconds from the workload's zero", ["0", "5", "10", "15", "20", "25", "30", "35", "40"]),
        (0, 2 * HOUR, "minutes from the workload's zero", [str(tick) for tick in range(0, 121, 10)]),
        (0, 2 * DAY, "hours from the workload's zero", [str(tick) for tick in range(0, 49, 3)]),
        (0, 31 * DAY, "days from the workload's zero", [str(tick) for tick in range(0, 31, 2)]),
        (
            0,
            4_000 * DAY,
            "days from the workload's zero",
            ["0", "500", *(f"{day:,}" for day in range(1_000, 4_001, 500))],
        ),
        (3 * DAY, 4 * DAY, "hours from day 3", [str(tick) for tick in range(0, 25, 2)]),
        (3 * DAY + 7 * HOUR, 3 * DAY + 8 * HOUR, "minutes from day 3, 7 h", [str(tick) for tick in range(0, 61, 5)]),
        (90, 110, "seconds from 1 min", ["30", "32", "34", "36", "38", "40", "42", "44", "46", "48", "50"]),
    ],
)
def test_time_axis_has_the_unit_that_suits_its_length(begin: int, end: int, label: str, ticks: list[str]) -> None:
    assert time_axis(begin, end) == (label, ticks)


def test_settings_of_matplotlib_neither_matter_nor_change(tmp_path: Path) -> None:
    def draw(name: str) -> bytes:
        with picture(tmp_path / name, 2, 2) as figure:
            figure.subplots().plot([1, 2])
        return (tmp_path / name).read_bytes()

    before = draw("a.png")
    with matplotlib.rc_context({"lines.linewidth": 9, "savefig.dpi": 30}):
        assert draw("b.png") == before
        assert matplotlib.rcParams["lines.linewidth"] == 9


def test_texts_are_not_read_as_formulas(tmp_path: Path) -> None:
    with picture(tmp_path / "a.svg", 2, 2) as figure:
        figure.subplots().set_title(r"$\nonsense{$")
    assert (tmp_path / "a.svg").stat().st_size > 0


@pytest.mark.parametrize("name", ["picture.pdf", "picture", "png"])
def test_another_suffix_is_refused_before_anything_is_drawn(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"path: must end in \.png or \.svg"), picture(tmp_path / name, 1, 1):
        pytest.fail("nothing should be drawn")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("old")
    with pytest.raises(ZeroDivisionError), picture(tmp_path / "a.png", 1, 1):
        raise ZeroDivisionError
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot be written"), picture(tmp_path / "none" / "a.png", 1, 1):
        pass
