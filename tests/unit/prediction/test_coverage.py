"""How often forecasts held while they were in use (prediction A10)."""

from __future__ import annotations

import json

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.coverage import Coverage, Covered


def test_counts_survive_storage() -> None:
    counts = Coverage()
    assert counts.covered() == Covered(None, None, 0, None)
    counts.judge(0.95, 100, held=True)
    counts.judge(0.85, 200, held=False)
    again = Coverage()
    again.restore(json.loads(json.dumps(counts.stored())))
    found = again.covered()
    assert found.asked == pytest.approx(0.9)
    assert (found.held, found.count, found.since) == (0.5, 2, 100)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"judged": "x", "held": 0, "asked": 0, "since": None},
        {"judged": 1, "held": 0, "asked": float("nan"), "since": None},
        {"judged": float("inf"), "held": 0, "asked": 0, "since": None},
        {"judged": 1, "held": 2, "asked": 0.9, "since": 5},
    ],
)
def test_damaged_counts_are_refused(stored: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError):
        Coverage().restore(stored)
