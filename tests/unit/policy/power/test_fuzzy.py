"""contention F56-F57: golden vectors of the inference (Amini Salehi 2012, section 6.3.1), and tables out of range."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.power.fuzzy import _RULES, FuzzyTables, infer

_NEUTRAL = FuzzyTables()
_WIDE = FuzzyTables(centres=(-0.5, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.5))


@pytest.mark.parametrize(
    ("risk", "load", "neutral", "wide"),
    [
        (0, 0, 2.00, 2.50),
        (0.1, 0.4, 1.70, 1.90),
        (0.3, 0.95, 0.98, 0.98),
        (0.4, 0.9, 0.83, 0.83),
        (0.5, 0.75, 0.50, 0.50),
        (0.6, 0.6, 0.67, 0.67),
        (0.75, 0.5, 0.25, 0.25),
        (0.8, 0.85, 0.12, -0.14),
        (0.9, 0.3, 0.30, 0.24),
        (1.2, 0.7, 0.00, -0.50),
    ],
)
def test_outputs_equal_the_golden_values(risk: float, load: float, neutral: float, wide: float) -> None:
    assert infer(_NEUTRAL, risk, load) == pytest.approx(neutral, abs=0.0051)
    assert infer(_WIDE, risk, load) == pytest.approx(wide, abs=0.0051)


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("column", range(5))
def test_a_rule_alone_applies_at_the_peaks_of_its_sets(row: int, column: int) -> None:
    found = infer(_NEUTRAL, _NEUTRAL.risk[row], _NEUTRAL.load[column])
    assert found == pytest.approx(_NEUTRAL.centres[_RULES[row][column]])


def test_the_rules_are_those_of_table_6_1() -> None:
    names = ("NP", "QP", "HP", "3QP", "AP", "LC", "MC", "HC")
    assert [[names[output] for output in row] for row in _RULES] == [
        ["HC", "HC", "MC", "LC", "AP"],
        ["MC", "LC", "LC", "HP", "3QP"],
        ["HP", "HP", "QP", "QP", "NP"],
        ["QP", "QP", "NP", "NP", "NP"],
    ]


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        ("risk", (0.25, 0.5, 0.75), "power_risk_peaks: must be 4 ascending numbers from 0 on"),
        ("risk", (-0.1, 0.5, 0.75, 1.0), "power_risk_peaks: must be 4 ascending"),
        ("risk", (0.25, 0.25, 0.75, 1.0), "power_risk_peaks: must be 4 ascending"),
        ("load", (0.0, 0.25, 0.5, 0.75, 1.1), "power_load_peaks: must be 5 ascending numbers from 0 to 1"),
        ("load", (0.0, 0.25, 0.5, 0.75, float("nan")), "power_load_peaks: must be 5 ascending"),
        ("centres", (-1.5, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0), "power_centres: must be 8 ascending numbers from -1"),
        ("centres", (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, float("inf")), "power_centres: must be 8 ascending"),
    ],
)
def test_a_table_out_of_range_is_refused(table: str, values: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        replace(_NEUTRAL, **{table: values})
