from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import Side
from lease_scheduler.prediction.day_bins import DAY, DayBins
from lease_scheduler.prediction.increases import Increases


def _days(count: int) -> Increases:
    """Return increases of days on which the demand grows from 0 to 1 after an hour, and to 3 after two."""
    increases = Increases(4)
    for day in range(count):
        midnight = day * DAY
        increases.demand(midnight, 0)
        increases.sample(midnight)
        increases.demand(midnight + 3600 + day, 1)
        increases.demand(midnight + 7200, 3)
    return increases


def test_times_until_the_demand_has_grown_are_learnt() -> None:
    """Prediction A18: growth is net, and several steps may come at once."""
    increases = _days(59)
    assert increases.seconds(1, 0.05, 59 * DAY) == 3600
    assert increases.seconds(2, 0.05, 59 * DAY) == 7200
    assert increases.seconds(3, 0.05, 59 * DAY) == 7200


def test_other_times_of_day_and_few_days_say_nothing() -> None:
    assert _days(59).seconds(1, 0.05, 59 * DAY + 3 * 3600) == 0
    assert _days(58).seconds(1, 0.05, 58 * DAY) == 0


def test_a_larger_increase_is_never_expected_earlier() -> None:
    """Nothing is known of 4 and more, but that it comes after 3."""
    increases = _days(59)
    assert [increases.seconds(growth, 0.05, 59 * DAY) for growth in (4, 5, 99)] == [7200, 7200, 7200]


def test_refused_requests_count_as_demand() -> None:
    """Prediction P12."""
    increases = Increases(2)
    for day in range(11):
        increases.demand(day * DAY, 2)
        increases.sample(day * DAY)
        increases.refused(day * DAY + 60, 1)
        increases.demand(day * DAY + 100, 0)
    assert increases.seconds(1, 0.25, 11 * DAY) == 60


def test_many_samples_of_one_day_count_as_one() -> None:
    """Prediction P14."""
    bins = DayBins()

    for place in range(1000):
        bins.add(place, place)
    assert bins.bound(0, 0.25, 0.95, Side.LOWER) is None
    assert bins.bound(0, 0.25, 0.95, Side.UPPER) is None


def test_bins_follow_local_time() -> None:
    bins = DayBins(3600, offset=1800)
    assert [bins.index(instant) for instant in (0, 1799, 1800, DAY - 1801, DAY - 1800)] == [0, 0, 1, 23, 0]
    with pytest.raises(InvalidValueError, match="bin_seconds: must divide a day"):
        DayBins(7000)


def test_bins_are_bounded() -> None:

    bins = DayBins(limit=20)
    for day in range(40):
        bins.add(day * DAY, day)
    assert bins.bound(0, 0.5, 0.95, Side.LOWER) == 25
