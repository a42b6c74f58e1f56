"""The distributions of the generators against their analytic distribution functions (haizea F88)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.distributions import (
    BoundedNormal,
    BoundedPareto,
    Constant,
    DiscreteChoice,
    DiscreteUniform,
    Distribution,
    Inverted,
    TruncatedPareto,
    Uniform,
    distribution_from,
)

SAMPLE = 20_000
# With fixed seeds the tests always give the same answer; the level only says how close the fit is.
LEVEL = 0.01
STREAM_START = [0.4833069532888671, 0.37801066242108405, 0.7001636456237099]


Numbers = NDArray[np.float64]
Cdf = Callable[[Any], Any]


def sample(law: Distribution, size: int = SAMPLE, seed: int = 7) -> Numbers:
    return law.draw(random_stream(seed, "test"), size)


def truncated_pareto_cdf(minimum: float, maximum: float, shape: float = 1.0, scale: float = 1.0) -> Cdf:
    def cdf(values: Any) -> Any:
        excess = 10 * (np.asarray(values) - minimum) / (maximum - minimum)
        return (1 - (scale / (scale + excess)) ** shape) / (1 - (scale / (scale + 10)) ** shape)

    return cdf


def bounded_pareto_cdf(minimum: float, maximum: float, shape: float) -> Cdf:
    return lambda values: (1 - (minimum / np.asarray(values)) ** shape) / (1 - (minimum / maximum) ** shape)


@pytest.mark.parametrize(
    ("law", "cdf"),
    [
        (Uniform(5, 25), stats.uniform(5, 20).cdf),
        (TruncatedPareto(0, 86_400), truncated_pareto_cdf(0, 86_400)),
        (TruncatedPareto(0.1, 10, shape=2.5, scale=3), truncated_pareto_cdf(0.1, 10, 2.5, 3)),
        (BoundedPareto(10, 1000, 1.5), bounded_pareto_cdf(10, 1000, 1.5)),
        (Inverted(TruncatedPareto(2, 8)), lambda x: 1 - truncated_pareto_cdf(2, 8)(10 - np.asarray(x))),
        (Inverted(BoundedPareto(10, 40, 1)), lambda x: 1 - bounded_pareto_cdf(10, 40, 1)(50 - np.asarray(x))),
        (BoundedNormal(-math.inf, math.inf, 3, 2), stats.norm(3, 2).cdf),
    ],
    ids=lambda value: type(value).__name__,
)
def test_continuous_law_has_its_analytic_distribution(law: Distribution, cdf: Cdf) -> None:
    """haizea F88: one-sample Kolmogorov-Smirnov."""
    values = sample(law)
    assert stats.kstest(values, cdf).pvalue > LEVEL
    assert values.min() >= law.minimum
    assert values.max() <= law.maximum


def test_truncated_pareto_equals_the_redrawn_law() -> None:
    """haizea 4.20: 1/u - 1, redrawn while above 10, two-sample against the loop of the definition."""
    rng = np.random.default_rng(11)
    excess = 1 / rng.random(2 * SAMPLE) - 1
    redrawn = excess[excess <= 10][:SAMPLE] / 10
    assert stats.ks_2samp(sample(TruncatedPareto(0, 1)), redrawn).pvalue > LEVEL


def test_the_lowest_fifth_of_the_truncated_pareto_has_73_percent() -> None:
    """haizea 4.20: 73.3 % of the values lie in the lowest fifth, 2.2 % of the inverted ones."""
    values = sample(TruncatedPareto(0, 604_800), size=200_000)
    assert np.mean(values <= 120_960) == pytest.approx(11 / 15, abs=0.004)
    mirrored = sample(Inverted(TruncatedPareto(0, 604_800)), size=200_000)
    assert np.mean(mirrored <= 120_960) == pytest.approx(1 - (8 / 9) / (10 / 11), abs=0.002)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (DiscreteUniform(1, 24), dict.fromkeys(range(1, 25), 1 / 24)),
        (DiscreteChoice((1, 2, 4, 8), Uniform(0, 1)), {1: 0.25, 2: 0.25, 4: 0.25, 8: 0.25}),
        (
            DiscreteChoice(tuple(range(40)), TruncatedPareto(0, 1)),
            {
                value: float(truncated_pareto_cdf(0, 1)((value + 1) / 40) - truncated_pareto_cdf(0, 1)(value / 40))
                for value in range(40)
            },
        ),
    ],
    ids=["discrete-uniform", "uniform-choice", "pareto-choice"],
)
def test_discrete_law_has_its_probabilities(law: Distribution, expected: dict[float, float]) -> None:
    """haizea F88: chi-square."""
    values, counts = np.unique(sample(law), return_counts=True)
    assert set(values) == set(expected)
    assert stats.chisquare(counts, [expected[value] * SAMPLE for value in values]).pvalue > LEVEL


def test_bounded_normal_puts_the_tails_on_the_bounds() -> None:
    law = BoundedNormal(1, 6, 3, 2)
    values = sample(law)
    inside = values[(values > 1) & (values < 6)]
    assert np.mean(values == 1) == pytest.approx(stats.norm(3, 2).cdf(1), abs=0.01)
    assert np.mean(values == 6) == pytest.approx(stats.norm(3, 2).sf(6), abs=0.01)
    assert stats.kstest(inside, stats.truncnorm(-1, 1.5, 3, 2).cdf).pvalue > LEVEL


def test_constant_is_constant() -> None:
    assert sample(Constant(1.0), 4).tolist() == [1.0, 1.0, 1.0, 1.0]


@given(st.floats(0, 1), st.integers(1, 50))
def test_choice_never_leaves_the_list(position: float, count: int) -> None:
    """haizea 8.3: a position of exactly 1 is the last value."""
    law = DiscreteChoice(tuple(range(count)), Constant(position))
    assert sample(law, 1)[0] == min(math.floor(position * count), count - 1)


@given(st.integers(0, 2**40), st.integers(0, 20), st.integers(0, 20))
def test_two_draws_equal_one_draw_of_both_lengths(seed: int, first: int, second: int) -> None:
    for law in (Uniform(0, 1), DiscreteUniform(3, 9), TruncatedPareto(0, 5), BoundedNormal(0, 1, 0, 1)):
        stream = random_stream(seed, "law")
        parts = np.concatenate([law.draw(stream, first), law.draw(stream, second)])
        assert parts.tolist() == sample_of(law, seed, first + second)


def sample_of(law: Distribution, seed: int, size: int) -> list[float]:
    return list(law.draw(random_stream(seed, "law"), size))


def test_streams_never_change() -> None:
    """The first numbers of a stream: if they change, every seed means another workload."""
    assert random_stream(20_100_801, "nodes").random(3).tolist() == pytest.approx(STREAM_START, abs=0)


def test_each_purpose_has_its_own_stream() -> None:
    assert random_stream(1, "nodes").random() != random_stream(1, "duration").random()


def test_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="seed: must be at least 0, not -1"):
        random_stream(-1, "nodes")


@pytest.mark.parametrize(
    ("section", "law"),
    [
        ({"distribution": "uniform", "min": "0", "max": "60"}, Uniform(0, 60)),
        (
            {"distribution": "uniform", "discrete": "True", "min": "1", "max": "3"},
            DiscreteChoice((1, 2, 3), Uniform(0, 1)),
        ),
        (
            {"distribution": "uniform", "discrete": "yes", "values": "1 2 4"},
            DiscreteChoice((1, 2, 4), Uniform(0, 1)),
        ),
        (
            {"distribution": "normal", "mu": "5", "sigma": "2", "min": "0", "max": "unbounded"},
            BoundedNormal(0, math.inf, 5, 2),
        ),
        ({"distribution": "normal", "mu": "5", "sigma": "2"}, BoundedNormal(-math.inf, math.inf, 5, 2)),
        ({"distribution": "bounded-pareto", "alpha": "1.5", "min": "1", "max": "9"}, BoundedPareto(1, 9, 1.5)),
        ({"distribution": "truncated-pareto", "min": "0", "max": "9"}, TruncatedPareto(0, 9)),
        (
            {"distribution": "truncated-pareto", "alpha": "2", "scale": "3", "min": "0", "max": "9", "invert": "true"},
            Inverted(TruncatedPareto(0, 9, 2, 3)),
        ),
        (
            {"distribution": "truncated-pareto", "discrete": "1", "min": "1", "max": "2", "invert": "true"},
            DiscreteChoice((1, 2), Inverted(TruncatedPareto(0, 1))),
        ),
        ({"distribution": "constant", "value": "1"}, Constant(1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_section_describes_a_law(section: dict[str, str], law: Distribution) -> None:
    """haizea 9.2: the sections of a generator configuration."""
    assert distribution_from(section) == law


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "distribution: is missing"),
        ({"distribution": "zipf"}, "distribution: must be one of constant, uniform, normal"),
        ({"distribution": "uniform", "min": "0"}, "max: is missing"),
        ({"distribution": "uniform", "min": "0", "max": "many"}, "max: must be a number, not 'many'"),
        ({"distribution": "uniform", "min": "0", "max": "inf"}, "max: must be a number, not 'inf'"),
        ({"distribution": "uniform", "min": "3", "max": "1"}, "min: must not be larger than max"),
        ({"distribution": "normal", "mu": "0", "sigma": "0"}, "sigma: must be a number above 0"),
        ({"distribution": "bounded-pareto", "alpha": "1", "min": "0", "max": "9"}, "min: must be a number above 0"),
        ({"distribution": "truncated-pareto", "alpha": "-1", "min": "0", "max": "9"}, "alpha: must be a number above"),
        ({"distribution": "truncated-pareto", "scale": "0", "min": "0", "max": "9"}, "scale: must be a number above"),
        ({"distribution": "truncated-pareto", "invert": "maybe", "min": "0", "max": "9"}, "invert: must be true or"),
        ({"distribution": "normal", "mu": "1", "sigma": "1", "discrete": "true", "values": "1"}, "a choice is uniform"),
        (
            {"distribution": "uniform", "discrete": "true", "min": "1", "max": "1e9"},
            "max: a discrete law chooses from at",
        ),
        (
            {"distribution": "uniform", "discrete": "true", "min": "1.2", "max": "1.8"},
            "values: needs at least one value",
        ),
        ({"distribution": "uniform", "discrete": "true", "values": ""}, "values: needs at least one value"),
        ({"distribution": "uniform", "discrete": "true", "values": "1 x"}, "values: must be a number, not 'x'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_section_is_refused(section: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        distribution_from(section)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant(math.nan), "value: must be finite"),
        (lambda: Inverted(BoundedNormal(0, math.inf, 1, 1)), "invert: needs finite bounds"),
        (lambda: DiscreteChoice((1, 2), Uniform(0, 2)), "position law must stay between 0 and 1"),
        (lambda: BoundedNormal(0, 1, math.nan, 1), "mu: must be finite"),
        (lambda: Uniform(0, math.inf), "min: this law needs finite bounds"),
    ],
)
def test_impossible_law_is_refused(make: Callable[[], Distribution], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        make()
