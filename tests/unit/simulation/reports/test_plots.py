"""The figures of the experiments: their content and bytes, and what cannot be drawn (haizea sections 5.1, 5.2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.reports import plots

GRID = {
    name: {
        (rho, delta, nu): 1 + factor * rho / delta for rho in (5, 10) for delta in (1, 4) for nu in ("small", "large")
    }
    for name, factor in (("NOVM-NOSR", 0.01), ("NOVM-SR", 0.001))
}
DURATIONS = np.linspace(0.1, 10, 50)
PANELS = {
    "T10": {"NOVM-NOSR": (DURATIONS, 2 * DURATIONS), "NOVM-SR": (DURATIONS, np.ones(50))},
    "T20": {"NOVM-NOSR": (DURATIONS, 4 * DURATIONS)},
}
UTILISATIONS = {
    mode: {(start, deadline): 0.5 for start in ("EARLY", "LATE") for deadline in ("TIGHT", "LOOSE")}
    for mode in ("without preemption", "with preemption")
}


def draw_grid(path: Path) -> None:
    plots.plot_all_best_effort_grid(GRID, path)


def draw_against(path: Path) -> None:
    plots.plot_against(PANELS, path, quantity="requested duration (h)", measure="waiting time (h)")


def draw_utilisation(path: Path) -> None:
    plots.plot_utilisation(UTILISATIONS, path)


BARS = {"T10": {"VM-MULT": 6.29, "VM-REUSE": 5.76}, "T20": {"VM-MULT": 10.69}}
LINES = {"T10": {"1 core": {1024: 1.0, 2048: 1.25}}, "T20": {"2 cores": {1024: 1.5}}}


def draw_bars(path: Path) -> None:
    plots.plot_bars(BARS, path, measure="mean wait (1000 s)")


def draw_lines(path: Path) -> None:
    plots.plot_lines(LINES, path, quantity="memory (MB)", measure="time")


SHARES = {
    users: {
        deadline: {
            strategy: {"earned": 0.5, "underpriced": 0.25, "not schedulable": 0.25}
            for strategy in ("RANDOM", "MAXIMUM")
        }
        for deadline in ("TIGHT", "LOOSE")
    }
    for users in ("CHEAP users", "RICH users")
}
RATES = np.linspace(0.1, 10, 50)
CURVES = {"CHEAP users": {"earned": (RATES, RATES / 20), "rejected": (RATES, 1 - RATES / 20)}}
MARKS = {"CHEAP users": {"median": 0.7, "ADAPTIVE": 0.85}}


def draw_shares(path: Path) -> None:
    plots.plot_shares(SHARES, path, measure="share")


def draw_curves(path: Path) -> None:
    plots.plot_rate_curves(CURVES, MARKS, path)


def texts(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip().removeprefix("<!-- ").removesuffix(" -->") for line in lines if "<!--" in line]


@pytest.mark.parametrize(
    "draw", [draw_grid, draw_against, draw_utilisation, draw_bars, draw_lines, draw_shares, draw_curves]
)
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_numbers_give_the_same_bytes(draw: Callable[[Path], None], suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
    for path in paths:
        draw(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_grid_has_a_panel_for_each_size_and_a_key_for_each_configuration_and_duration(tmp_path: Path) -> None:
    """haizea section 5.1, fig. 5.2."""
    draw_grid(tmp_path / "grid.svg")
    shown = texts(tmp_path / "grid.svg")
    assert {"small reservations", "large reservations", "NOVM-NOSR", "NOVM-SR", "1 h", "4 h", "5%", "10%"} <= set(shown)
    assert shown.index("small reservations") < shown.index("large reservations")


def test_a_grid_may_have_holes(tmp_path: Path) -> None:
    holes = {"NOVM-NOSR": GRID["NOVM-NOSR"], "NOVM-SR": {(30, 2, "small"): 1.05}}
    plots.plot_all_best_effort_grid(holes, tmp_path / "grid.svg")
    assert {"1 h", "2 h", "4 h", "30%"} <= set(texts(tmp_path / "grid.svg"))


def test_curves_have_a_panel_for_each_workload(tmp_path: Path) -> None:
    """haizea section 5.1, figs. 5.3-5.11."""
    draw_against(tmp_path / "against.svg")
    shown = texts(tmp_path / "against.svg")
    assert {"T10", "T20", "NOVM-NOSR", "NOVM-SR", "waiting time (h)"} <= set(shown)
    assert shown.count("requested duration (h)") == 2
    assert shown.count("NOVM-SR") == 1


@pytest.mark.filterwarnings("error")
def test_a_flat_curve_at_zero_has_a_scale_of_its_own(tmp_path: Path) -> None:
    panels = {"T10": {"NOVM-SR": (DURATIONS, np.zeros(50))}}
    plots.plot_against(panels, tmp_path / "against.svg", quantity="nodes", measure="waiting time (h)")
    assert {"0.0", "1.0"} <= set(texts(tmp_path / "against.svg"))


def test_utilisation_has_a_bar_for_each_pair_of_laws(tmp_path: Path) -> None:
    """haizea section 5.2, fig. 5.12."""
    draw_utilisation(tmp_path / "utilisation.svg")
    shown = texts(tmp_path / "utilisation.svg")
    assert {"without preemption", "with preemption", "EARLY start", "LATE start", "TIGHT", "LOOSE"} <= set(shown)
    # Four bars per panel, and the tick of the axis.
    assert shown.count("50%") == 8


def test_bars_and_lines_have_a_panel_for_each_workload(tmp_path: Path) -> None:
    """haizea sections 5.3 and 5.5: table 6.1, figs. 7.4 and 7.5."""
    draw_bars(tmp_path / "bars.svg")
    draw_lines(tmp_path / "lines.svg")
    assert {"T10", "T20", "VM-MULT", "VM-REUSE", "mean wait (1000 s)", "10.7"} <= set(texts(tmp_path / "bars.svg"))
    assert {"T10", "T20", "1 core", "2 cores", "memory (MB)", "time"} <= set(texts(tmp_path / "lines.svg"))


def test_shares_have_a_panel_for_each_kind_of_user_and_a_bar_for_each_strategy(tmp_path: Path) -> None:
    """haizea section 5.6, figs. 8.1 and 8.2."""
    draw_shares(tmp_path / "shares.svg")
    shown = texts(tmp_path / "shares.svg")
    assert {"CHEAP users", "RICH users", "earned", "underpriced", "not schedulable", "share"} <= set(shown)
    assert [shown.count(name) for name in ("TIGHT", "LOOSE", "RANDOM", "MAXIMUM")] == [2, 2, 4, 4]


def test_curves_have_a_line_for_each_part_and_mark_their_rates(tmp_path: Path) -> None:
    """haizea section 5.6, figs. 8.3 and 8.4."""
    draw_curves(tmp_path / "curves.svg")
    shown = texts(tmp_path / "curves.svg")
    assert {"CHEAP users", "earned", "rejected", "median", "ADAPTIVE", "money per node and hour"} <= set(shown)


@pytest.mark.parametrize(
    ("draw", "problem"),
    [
        (lambda path: plots.plot_all_best_effort_grid({}, path), "ratios: has nothing to draw"),
        (lambda path: plots.plot_all_best_effort_grid({"a": {}}, path), "ratios: has nothing to draw"),
        (
            lambda path: plots.plot_all_best_effort_grid({str(name): {(5, 1, "s"): 1.0} for name in range(8)}, path),
            "configurations: can be at most 7 in one picture, not 8",
        ),
        (
            lambda path: plots.plot_all_best_effort_grid({"a": {(5, delta, "s"): 1.0 for delta in range(7)}}, path),
            "durations: can be at most 6",
        ),
        (lambda path: plots.plot_against({}, path, quantity="x", measure="y"), "panels: has nothing to draw"),
        (
            lambda path: plots.plot_against({"T10": {}}, path, quantity="x", measure="y"),
            "configurations: has nothing to draw",
        ),
        (lambda path: plots.plot_bars({}, path, measure="y"), "panels: has nothing to draw"),
        (
            lambda path: plots.plot_lines({"T10": {}}, path, quantity="x", measure="y"),
            "configurations: has nothing to draw",
        ),
        (lambda path: plots.plot_utilisation({}, path), "utilisations: has nothing to draw"),
        (lambda path: plots.plot_utilisation({"a": {}}, path), "utilisations: has nothing to draw"),
        (lambda path: plots.plot_shares({"a": {"b": {}}}, path, measure="y"), "panels: has nothing to draw"),
        (lambda path: plots.plot_shares({"a": {"b": {"c": {}}}}, path, measure="y"), "parts: has nothing to draw"),
        (lambda path: plots.plot_rate_curves({}, {}, path), "panels: has nothing to draw"),
        (
            lambda path: plots.plot_rate_curves(CURVES, {"a": {str(rate): rate for rate in range(6)}}, path),
            "marks: can be at most 5",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[Path], None], problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        draw(tmp_path / "plot.png")
    assert list(tmp_path.iterdir()) == []
