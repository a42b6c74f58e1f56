"""Significance of differences between runs (contention S9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TestOutcome:
    """The outcome of a two-sided test.

    :ivar statistic: t, or the smaller sum of ranks of Wilcoxon's test
    :ivar p_value: probability of a statistic at least as extreme if there is no difference
    """

    __test__ = False

    statistic: float
    p_value: float


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the confidence interval of a mean by Student's t distribution.

    :param confidence: more than 0 and less than 1
    :raises InvalidValueError: there are fewer than two values, one is not finite, or the confidence is out of bounds
    """
    if not 0 < confidence < 1:
        raise InvalidValueError("confidence", f"must be more than 0 and less than 1, not {confidence}")
    _check("values", values)
    # Imported here, because only experiments need it and the import takes longer than a small run.
    from scipy import stats  # type: ignore[import-untyped]

    mean = float(np.mean(values))
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    return Interval(mean, mean - half, mean + half)


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> TestOutcome:
    """Compare the means of two samples, pair by pair, such as two policies on the same workloads.

    If all differences are equal, they have no spread: p is 1 if they are 0, else 0 with an infinite statistic.

    :raises InvalidValueError: the samples differ in length, have fewer than two values, or one that is not finite
    """
    differences = _differences(first, second)
    if np.ptp(differences) == 0:
        common = float(differences[0])
        return TestOutcome(math.copysign(math.inf, common), 0.0) if common else TestOutcome(0.0, 1.0)
    from scipy import stats

    found = stats.ttest_rel(first, second)
    return TestOutcome(float(found.statistic), float(found.pvalue))


def wilcoxon_signed_rank(first: Sequence[float], second: Sequence[float]) -> TestOutcome:
    """Compare two samples, pair by pair, without the premise that their differences are normally distributed.

    Pairs without a difference are left out (Wilcoxon 1945). If no others are left, p is 1.

    :raises InvalidValueError: the samples differ in length, have fewer than two values, or one that is not finite
    """
    differences = _differences(first, second)
    if not differences.any():
        return TestOutcome(0.0, 1.0)
    from scipy import stats

    found = stats.wilcoxon(differences[differences != 0])
    return TestOutcome(float(found.statistic), float(found.pvalue))


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's coefficient: 1 if one value rises with the other, -1 if it falls, 0 if a sample is constant.

    :raises InvalidValueError: the samples differ in length, have fewer than two values, or one that is not finite
    """
    _differences(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    from scipy import stats

    return float(stats.spearmanr(first, second).statistic)


def _differences(first: Sequence[float], second: Sequence[float]) -> NDArray[np.float64]:
    if len(first) != len(second):
        raise InvalidValueError("second", f"must have as many values as first, {len(first)}, not {len(second)}")
    _check("first", first)
    _check("second", second)
    return np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)


def _check(field: str, values: Sequence[float]) -> None:
    if len(values) < 2:
        raise InvalidValueError(field, f"must have at least 2 values, not {len(values)}")
    if not np.isfinite(values).all():
        raise InvalidValueError(field, "must have finite values only")
