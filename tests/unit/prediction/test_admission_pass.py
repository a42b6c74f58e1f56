from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.admission_pass import Held, Shortfall, Split, shortfall

_HELD = [Held(1, seconds) for seconds in (3000, 600, 1200, 2400, 1800, 3600)]
_GROWS_AFTER = {7: 600, 8: 1200, 9: 1800, 10: 2400, 11: 3000, 12: 3600}


def test_the_worked_example_is_admitted() -> None:
    """Prediction section 9, 7: capacity 32, 20 in use, five slots held, and a request of one slot for an hour."""
    assert shortfall(32, 20, _HELD, _GROWS_AFTER.__getitem__) is None


@pytest.mark.parametrize("growth", list(_GROWS_AFTER))
def test_any_growth_that_comes_a_second_too_early_refuses(growth: int) -> None:
    early = {**_GROWS_AFTER, growth: _GROWS_AFTER[growth] - 1}
    seconds = _GROWS_AFTER[growth]
    assert shortfall(32, 20, _HELD, early.__getitem__) == Shortfall(growth, seconds, seconds - 1)


def test_the_first_growth_asked_about_is_one_more_than_the_spare_slots() -> None:
    """Prediction section 9, 8: of 10 spare slots, 2 are requested."""
    asked: list[int] = []

    def grows_after(growth: int) -> float:
        asked.append(growth)
        return 1e9

    assert shortfall(10, 0, [Held(2, 600)], grows_after) is None
    assert asked == [9]


def test_slots_of_one_job_are_released_together() -> None:
    asked: list[int] = []

    def grows_after(growth: int) -> float:
        asked.append(growth)
        return 1e9

    shortfall(10, 0, [Held(3, 600), Held(2, 700)], grows_after)
    assert asked == [6, 9]


def test_a_request_that_does_not_fit_now_is_refused_at_once() -> None:
    assert shortfall(3, 2, [Held(2, 600)], lambda growth: 1e9) == Shortfall(0, 0, 0)


def test_releases_after_the_request_can_be_left_out() -> None:
    held = [Held(1, 600), Held(1, 6000)]
    times = {9: 600, 10: 100}
    assert shortfall(10, 0, held, times.__getitem__, until=600) is None
    assert shortfall(10, 0, held, times.__getitem__) == Shortfall(10, 6000, 100)


def test_each_split_divides_the_probability_as_stated() -> None:
    """Prediction A20, P1."""
    growth, durations = Split.UNION.shares(0.05)
    assert growth == pytest.approx(0.045)
    assert durations == pytest.approx(0.005)
    growth, durations = Split.PRODUCT.shares(0.05)
    assert growth == durations == pytest.approx(0.2236, abs=1e-4)
    assert Split.GROWTH_ONLY.shares(0.05) == (0.05, 0)
    with pytest.raises(InvalidValueError, match="preemption"):
        Split.UNION.shares(1)
