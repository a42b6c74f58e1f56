"""Figures of samples (haizea E4; Sotomayor 2010, section 7.2.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.calibration.statistics import is_global, outliers, rate, summarize

#: Mean and standard deviation in seconds for 1024 MB, and MB/s, as printed in Sotomayor 2010.
_RATES = [(15.4, 0.58, 61.86), (14.12, 0.67, 66.27), (14.00, 1.04, 63.67), (11.60, 0.50, 81.27)]


@pytest.mark.parametrize(("mean", "sd", "printed"), _RATES)
def test_rates_are_those_of_the_dissertation(mean: float, sd: float, printed: float) -> None:
    """haizea E4: m / (mean + 2 sd). Mean and sd are printed to hundredths of a second, which is 0.03 MB/s and more."""
    # Two values whose mean and standard deviation are these.
    reach = sd / 2**0.5
    summary = summarize([mean - reach, mean + reach])
    assert summary is not None
    assert summary.mean == pytest.approx(mean)
    assert summary.sd == pytest.approx(sd)
    assert rate(1024, summary.upper) == pytest.approx(printed, abs=0.06)


def test_fewer_than_two_values_have_no_summary() -> None:
    assert summarize([]) is None
    assert summarize([3.0]) is None


def test_outliers_are_reported_and_count() -> None:
    """haizea 5.4: 19 of 1,388 took far longer because the hypervisor stalled; such stalls count."""
    values = [10.0, 10.1, 10.2, 9.9, 9.8, 10.0, 370.0]
    assert outliers(values) == [370.0]
    summary = summarize(values)
    assert summary is not None
    assert (summary.outliers, summary.count, summary.largest) == (1, 7, 370.0)
    assert summary.mean == pytest.approx(sum(values) / 7)
    assert outliers([*values[:3], 370.0]) == []


def test_operations_that_take_turns_are_global() -> None:
    """Equation 7.1: N * m / h if they are serialized, m / h if not."""
    assert is_global(10.0, 40.0, 4)
    assert is_global(10.0, 21.0, 4)
    assert not is_global(10.0, 19.0, 4)
    assert not is_global(10.0, 10.0, 4)


@given(st.lists(st.floats(0.001, 10_000), min_size=2, max_size=60), st.floats(0, 100))
def test_a_constant_shifts_the_mean_and_keeps_the_deviation(values: list[float], longer: float) -> None:
    """Mean and extremes; if every value grows by the same amount, so does the mean, and the sd stays."""
    summary = summarize(values)
    assert summary is not None
    assert summary.smallest - 1e-6 <= summary.mean <= summary.largest + 1e-6
    assert summary.upper >= summary.mean
    later = summarize([value + longer for value in values])
    assert later is not None
    assert later.mean == pytest.approx(summary.mean + longer)
    assert later.sd == pytest.approx(summary.sd, abs=1e-6)


@given(st.integers(1, 10**6), st.floats(0.001, 10**5))
def test_a_rate_never_predicts_less_than_the_measured_time(size: int, seconds: float) -> None:
    """At the printed rate a copy takes at least the measured time, unless the rate is too low to be printed."""
    found = rate(size, seconds)
    assert found >= 0.01
    assert found == 0.01 or size / found >= seconds * (1 - 1e-9)
