from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.assurance import AssuranceTable, independent_count, interpolated
from lease_scheduler.prediction.lifetimes import Lifetime


def test_levels_between_known_ones_are_interpolated() -> None:
    """Prediction section 9, 4."""
    assert interpolated({0: 0, 18: 100, 20: 200}, 19) == 150
    levels = {0: 0, 18: 100, 21: 400}
    assert [interpolated(levels, level) for level in (0, 19, 20, 21, 22, 99)] == [0, 200, 300, 400, 400, 400]
    assert interpolated(levels, 9) == 50


def test_each_level_has_the_quantile_of_its_samples() -> None:
    """Prediction A16: the rank is the probability times the number of samples, rounded up."""
    samples = [Lifetime(0, 4, seconds) for seconds in range(100, 0, -1)] + [Lifetime(0, 6, 1000)]
    table = AssuranceTable(samples, 0.05, pools=False)
    assert table.counts == {4: 100, 6: 1}
    assert (table.seconds(4), table.seconds(5), table.seconds(6), table.seconds(0)) == (5, 502.5, 1000, 0)
    assert AssuranceTable(samples, 0.07, pools=False).seconds(4) == 7
    assert AssuranceTable(samples, 0.001, pools=False).seconds(4) == 1


def test_an_instance_is_admitted_up_to_its_assured_lifetime() -> None:
    """Prediction A17."""
    table = AssuranceTable([Lifetime(0, 2, 600)], 0.1, pools=False)
    assert table.admits(2, 600)
    assert not table.admits(2, 601)
    assert not table.admits(0, 0)


def test_without_samples_nothing_is_assured() -> None:
    assert AssuranceTable([], 0.1).seconds(5) == 0


def test_a_bound_needs_samples_that_do_not_overlap() -> None:
    apart = [Lifetime(1000 * place, 3, 500 + place) for place in range(59)]
    assert independent_count(apart) == 59
    assert AssuranceTable(apart, 0.05, 0.95).seconds(3) == 500
    assert AssuranceTable(apart[1:], 0.05, 0.95).seconds(3) == 0
    overlapping = [Lifetime(place, 3, 1000) for place in range(900)]
    assert independent_count(overlapping) == 1
    assert AssuranceTable(overlapping, 0.05, 0.95).seconds(3) == 0


def test_levels_with_few_samples_are_pooled_with_lower_ones() -> None:
    samples = [Lifetime(1000 * place, 1 + place % 2, 100 * (1 + place % 2)) for place in range(80)]
    table = AssuranceTable(samples, 0.05, 0.95)
    assert table.levels == {0: 0, 2: 100}


def test_pooled_levels_have_enough_samples_for_the_promise() -> None:
    """The smallest of nine samples is more than the next one with probability .1, that of eight with more."""
    samples = [Lifetime(0, 1, seconds) for seconds in range(1, 9)]
    assert AssuranceTable(samples, 0.1).levels == {0: 0}
    samples += [Lifetime(0, 3, 100), Lifetime(0, 5, 5)]
    table = AssuranceTable(samples, 0.1)
    # Level 5 takes level 3, and then level 1.
    assert table.levels == {0: 0, 3: 1, 5: 1}
    assert table.counts == {1: 8, 3: 1, 5: 1}
    many = [Lifetime(0, 7, 1_000 + seconds) for seconds in range(9)]
    assert AssuranceTable(samples + many, 0.1).seconds(7) == 1_000
    # Ten samples are not enough for the second smallest, though a tenth of them, rounded up, is two.
    assert AssuranceTable([*samples, Lifetime(0, 5, 6)], 0.1).seconds(5) == 1
    assert AssuranceTable([*samples, Lifetime(0, 5, 6)], 0.1, pools=False).seconds(5) == 5


@settings(max_examples=20)
@given(st.integers(2, 400), st.sampled_from([0.01, 0.05, 0.1, 0.25]), st.integers(1, 40), st.integers(0, 1_000))
def test_pooled_levels_promise_what_is_kept(count: int, preemption: float, levels: int, seed: int) -> None:
    """Of independent samples that do not depend on the level, the next one is less with the probability promised."""
    random = np.random.default_rng(seed)
    broken = []
    for _ in range(50):
        lives = random.random(count)
        table = AssuranceTable([Lifetime(0, 1 + int(random.integers(levels)), life) for life in lives], preemption)
        # Lives are uniform between 0 and 1, so a quantile is its own probability.
        broken += [seconds for level, seconds in table.levels.items() if level]
    if broken:
        assert np.mean(broken) <= preemption + 4 * preemption / np.sqrt(50)


@pytest.mark.parametrize("preemption", [0, 1, 1.5])
def test_an_assurance_must_be_a_probability(preemption: float) -> None:
    with pytest.raises(InvalidValueError, match="preemption"):
        AssuranceTable([], preemption)
