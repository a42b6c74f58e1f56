"""Checks of one replication, and figures over several."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from lease_scheduler.papers.checks import Check, Figure, missed, print_figures, replicated


@pytest.mark.parametrize(
    ("low", "high", "passed"),
    [(1, 3, True), (2, 2, True), (2.5, None, False), (None, 1.5, False), (None, 2, True), (None, None, None)],
)
def test_the_mean_of_the_values_is_judged(low: float | None, high: float | None, passed: bool | None) -> None:
    assert Check("figure", None, (1.0, 3.0), low, high).passed is passed


@pytest.mark.parametrize(
    ("low", "high", "passed", "held"),
    [(1, 3, True, 3), (2, 2, True, 1), (2.5, None, False, 1), (None, 1.5, False, 1), (None, None, None, 0)],
)
def test_the_mean_over_the_seeds_is_judged_and_each_seed_is_counted(
    low: float | None, high: float | None, passed: bool | None, held: int
) -> None:
    figure = Figure({seed: Check("figure", None, (float(seed),), low, high) for seed in (1, 2, 3)})
    assert (figure.passed, figure.held, figure.values) == (passed, held, (1, 2, 3))


def test_a_band_that_depends_on_the_runs_is_judged_by_its_mean() -> None:
    """Two seeds whose figures are 1 above and 3 below their own bounds."""
    figure = Figure({1: Check("figure", None, (11.0,), 10, None), 2: Check("figure", None, (17.0,), 20, None)})
    assert (figure.low, figure.passed, figure.held) == (15, False, 1)


def test_a_constant_value_stays_in_a_band_of_no_width() -> None:
    """0.1 added three times and divided by 3 is not 0.1."""
    figure = Figure({seed: Check("figure", None, (0.1,), 0.1, 0.1) for seed in (1, 2, 3)})
    assert figure.passed and figure.held == 3
    assert figure.row()["range"] == figure.row()["95 %"] == ""


def test_figures_are_put_together_by_title_and_name() -> None:
    groups = {
        1: {"A": [Check("x", None, (1.0,), None, None), Check("y", None, (2.0,), None, None)], "B": []},
        2: {"A": [Check("x", None, (3.0,), None, None)]},
    }
    found = replicated(groups)
    assert list(found) == ["A", "B"]
    assert [(each.name, each.values) for each in found["A"]] == [("x", (1, 3)), ("y", (2,))]


def test_two_checks_of_the_same_name_are_refused() -> None:
    check = Check("x", None, (1.0,), None, None)
    with pytest.raises(ValueError, match="A: two checks are called 'x'"):
        replicated({1: {"A": [check, check]}})


def _rows(figures: list[Figure]) -> dict[str, list[str]]:
    out = io.StringIO()
    print_figures("Table", figures, Console(file=out, width=160))
    lines = [line.split("|") for line in out.getvalue().splitlines() if line.startswith("| ")]
    return {parts[1].strip(): [part.strip() for part in parts[2:-1]] for parts in lines}


def test_a_figure_outside_its_band_is_a_miss() -> None:
    checks = [
        Check("good", 5.0, (5.1,), 4, 6),
        Check("bad", 5.0, (7.25, 7.75), 4, 6, "why"),
        Check("free", None, (1,), None, None),
    ]
    figures = [Figure({1: check}) for check in checks]
    assert [figure.name for figure in missed(figures)] == ["bad"]
    rows = _rows(figures)
    assert rows["check"] == ["thesis", "ours", "range", "band", "result", "note"]
    assert rows["good"] == ["5", "5.1", "", "4..6", "pass", ""]
    assert rows["bad"] == ["5", "7.5", "7.25..7.75", "4..6", "MISS", "why"]
    assert rows["free"] == ["", "1", "", "", "", ""]


def test_the_spread_over_the_seeds_is_shown() -> None:
    """Of 1, 2 and 3 the standard error is 0.5774, and t with two degrees of freedom is 4.303."""
    figure = Figure({seed: Check("x", 2.5, (float(seed),), 2, None, f"note {seed}") for seed in (1, 2, 3)})
    rows = _rows([figure])
    assert rows["check"] == ["thesis", "ours", "range", "95 %", "band", "result", "holds", "note"]
    assert rows["x"] == ["2.5", "2", "1..3", "± 2.484", ">= 2", "pass", "2 of 3", "seed 1: note 1"]
