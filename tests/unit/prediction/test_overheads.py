from __future__ import annotations

import pytest

from lease_scheduler.prediction.day_bins import DAY
from lease_scheduler.prediction.overheads import Overheads


def test_start_up_and_transfer_overlap() -> None:
    """Prediction A19."""
    overheads = Overheads()
    for day in range(59):
        overheads.started_up(day * DAY, 30 + day)
        assert overheads.set_up(day * DAY, 0.95) == (88 if day == 58 else None)
        overheads.transferred(day * DAY, 1000 + day)
    assert overheads.set_up(0, 0.95, 50_000) == 88
    assert overheads.set_up(0, 0.95, 1_000_000) == pytest.approx(1000)
    assert overheads.set_up(DAY / 2, 0.95) is None


def test_with_an_unknown_bandwidth_the_set_up_is_unknown() -> None:
    overheads = Overheads()
    for day in range(59):
        overheads.started_up(day * DAY, 30)
    assert overheads.set_up(0, 0.95, 1) is None
