"""Loads over days, and the filter that makes levels of them (shirako E1, F131, A36)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.daily_load import STEPS_PER_DAY, CampaignLoad, DailyLoad, held_level

MONTH = 30 * STEPS_PER_DAY


def test_a_daily_load_follows_the_hours_of_the_day() -> None:
    load = DailyLoad(75, 35).values(MONTH, 1)
    by_hour = load.reshape(30, 24, -1).mean(axis=(0, 2))
    assert load.min() >= 0
    assert 12 <= by_hour.argmax() <= 18 and by_hour.max() - by_hour.min() > 40
    weeks = load[: 28 * STEPS_PER_DAY].reshape(4, 7, -1).mean(axis=(0, 2))
    assert weeks[5:].mean() < weeks[:5].mean()
    assert np.array_equal(load, DailyLoad(75, 35).values(MONTH, 1))
    assert not np.array_equal(load, DailyLoad(75, 35).values(MONTH, 2))


def test_a_load_of_campaigns_is_limited() -> None:
    load = CampaignLoad(18, 60, 48, 40).values(MONTH, 3)
    assert load.min() >= 0
    assert load.max() < 40 + 6 * 3
    # It changes from one day to the next, not from hour to hour.
    assert np.corrcoef(load[:-12], load[12:])[0, 1] > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_filter_varies_little_and_keeps_the_mean(seed: int) -> None:
    """E1: its variation is at most a fifth of that of the load, and its mean differs by less than 5 %."""
    load = DailyLoad(75, 35).values(MONTH, seed)
    level = held_level(load, 30)
    assert np.abs(np.diff(level)).sum() <= 0.2 * np.abs(np.diff(load)).sum()
    assert level.mean() == pytest.approx(load.mean(), rel=0.05)
    assert len(np.unique(level)) < MONTH / 4


def test_a_step_is_followed_within_the_window() -> None:
    load = np.concatenate((np.full(100, 10.0), np.full(100, 50.0)))
    level = held_level(load, 30)
    assert level[99] == 10
    assert level[150] == pytest.approx(50, abs=5)


@pytest.mark.parametrize(("window", "damping"), [(0, 0.5), (30, 1.0), (30, -0.1)])
def test_impossible_parameters_of_the_filter_are_refused(window: int, damping: float) -> None:
    with pytest.raises(InvalidValueError, match="window, damping"):
        held_level(np.ones(3), window, damping=damping)
