from __future__ import annotations

import io

import pytest
from rich.console import Console

from lease_scheduler.simulation.experiments.checks import Check, missed, print_checks


@pytest.mark.parametrize(
    ("low", "high", "passed"),
    [(1, 3, True), (2, 2, True), (2.5, None, False), (None, 1.5, False), (None, 2, True), (None, None, None)],
)
def test_the_mean_over_the_seeds_is_judged(low: float | None, high: float | None, passed: bool | None) -> None:
    assert Check("figure", None, (1.0, 3.0), low, high).passed is passed


def test_a_figure_outside_its_band_is_said_to_be_a_miss() -> None:
    checks = [
        Check("good", 5.0, (5.1,), 4, 6),
        Check("bad", 5.0, (7.25, 7.75), 4, 6, "why"),
        Check("free", None, (1,), None, None),
    ]
    assert [check.name for check in missed(checks)] == ["bad"]
    out = io.StringIO()
    print_checks("Table", checks, Console(file=out, width=120))
    rows = {line.split("|")[1].strip(): line for line in out.getvalue().splitlines() if line.startswith("| ")}
    assert "pass" in rows["good"]
    assert "MISS" in rows["bad"]
    assert "7.25..7.75" in rows["bad"]
    assert "why" in rows["bad"]
    assert "pass" not in rows["free"]
    assert "MISS" not in rows["free"]
