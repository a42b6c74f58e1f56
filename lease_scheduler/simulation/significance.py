"""Significance of differences between runs (contention S9)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def shapiro_wilk(values: Sequence[float]) -> TestOutcome:
    """Test whether values may be normally distributed; a small p says that they are not. Equal values have p = 1.

    :raises InvalidValueError: there are fewer than three values, or one that is not finite
    """
    _check("values", values)
    if len(values) < 3:
        raise InvalidValueError("values", f"must have at least 3 values, not {len(values)}")
    if np.ptp(values) == 0:
        return TestOutcome(1.0, 1.0)
    from scipy import stats

    found = stats.shapiro(values)
    return TestOutcome(float(found.statistic), float(found.pvalue))


def levene(samples: Sequence[Sequence[float]]) -> TestOutcome:
    """Test whether samples have equal variances, by distances from their medians; a small p says that they have not.

    :raises InvalidValueError: there are fewer than two samples, or one has fewer than two values, or one not finite
    """
    if len(samples) < 2:
        raise InvalidValueError("samples", f"must be at least 2, not {len(samples)}")
    for number, values in enumerate(samples):
        _check(f"samples[{number}]", values)
    if all(np.ptp(values) == 0 for values in samples):
        return TestOutcome(0.0, 1.0)
    from scipy import stats

    found = stats.levene(*samples, center="median")
    return TestOutcome(float(found.statistic), float(found.pvalue))


@dataclass(frozen=True)
class TwoWayAnova:
    """The p of each of three effects: that of the rows, of the columns, and of their interaction."""

    rows: float
    columns: float
    interaction: float


def two_way_anova(cells: Mapping[tuple[str, str], Sequence[float]]) -> TwoWayAnova:
    """Analyse the variance of values by two factors, with sums of squares of type II.

    :param cells: (row, column) -> values; each row has each column
    :raises InvalidValueError: there are fewer than two rows or columns, a cell is missing, or a cell has fewer than two
        values or one that is not finite; or statsmodels is not installed
    """
    rows, columns = (list(dict.fromkeys(cell[side] for cell in cells)) for side in (0, 1))
    for name, found in (("rows", rows), ("columns", columns)):
        if len(found) < 2:
            raise InvalidValueError(name, f"must be at least 2, not {len(found)}")
    for row in rows:
        for column in columns:
            if (row, column) not in cells:
                raise InvalidValueError("cells", f"lacks {row}, {column}; each row must have each column")
            _check(f"cells[{row}, {column}]", cells[row, column])
    try:
        # These imports take seconds.
        from pandas import DataFrame
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm
    except ModuleNotFoundError as error:
        problem = "is not installed; it comes with the extra simulator: pip install 'lease-scheduler[simulator]'"
        raise InvalidValueError(str(error.name), problem) from error

    lines = [(row, column, float(value)) for (row, column), values in cells.items() for value in values]
    data = DataFrame(lines, columns=["row", "column", "value"])
    table = anova_lm(ols("value ~ C(row) * C(column)", data=data).fit(), typ=2)
    effects = (float(table["PR(>F)"][name]) for name in ("C(row)", "C(column)", "C(row):C(column)"))
    return TwoWayAnova(*effects)


@dataclass(frozen=True)
class Regression:
    """The line ``intercept + slope * x`` that fits best, and the coefficient of correlation."""

    slope: float
    intercept: float
    correlation: float


def linear_regression(first: Sequence[float], second: Sequence[float]) -> Regression:
    """Fit the second values to the first by least squares.

    :raises InvalidValueError: the samples differ in length, have fewer than two values, or one that is not finite, or
        all of the first are equal
    """
    _differences(first, second)
    if np.ptp(first) == 0:
        raise InvalidValueError("first", "must have different values, or no line fits best")
    if np.ptp(second) == 0:
        return Regression(0.0, float(second[0]), 0.0)
    from scipy import stats

    found = stats.linregress(first, second)
    return Regression(float(found.slope), float(found.intercept), float(found.rvalue))


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
