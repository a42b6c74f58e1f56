"""Confidence bounds of quantiles from order statistics and the binomial distribution.

Of n independent observations, the number below the true q-quantile is binomial with n and q. So the k-th smallest is at
least the quantile with probability ``P(B <= k - 1)``, and at most the quantile with probability ``P(B >= k)``: Brevik,
Nurmi and Wolski, "Predicting bounds on queuing delay for batch-scheduled parallel machines", PPoPP 2006, section 3.
The exact distribution is used for every n; the normal approximation is only the first guess.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError

_BLOCK = 1024


class Side(Enum):
    """On which side of the quantile a bound lies with the stated confidence."""

    UPPER = "upper"
    LOWER = "lower"


def upper_rank(count: int, quantile: float, confidence: float) -> int | None:
    """Return the rank of the smallest observation that is at least the quantile with this confidence.

    :param count: number of observations, at least 0
    :return: from 1 to ``count``; None if there are too few observations for any bound
    :raises InvalidValueError: quantile or confidence is not between 0 and 1
    """
    check_probability("quantile", quantile)
    check_probability("confidence", confidence)
    rank = rank_block(count // _BLOCK, quantile, confidence)[count % _BLOCK]
    return rank or None


def lower_rank(count: int, quantile: float, confidence: float) -> int | None:
    """Return the rank of the largest observation that is at most the quantile with this confidence.

    Arguments, value and errors are those of ``upper_rank``, of which it is the mirror image.
    """
    check_probability("quantile", quantile)
    mirrored = upper_rank(count, 1 - quantile, confidence)
    return None if mirrored is None else count + 1 - mirrored


def least_count(quantile: float, confidence: float, side: Side = Side.UPPER) -> int:
    """Return the smallest number of observations that gives a bound.

    :raises InvalidValueError: quantile or confidence is not between 0 and 1
    """
    check_probability("quantile", quantile)
    check_probability("confidence", confidence)
    inside = quantile if side is Side.UPPER else 1 - quantile
    guess = max(1, math.floor(math.log(1 - confidence) / math.log(inside)) - 1)
    while upper_rank(guess, inside, confidence) is None:
        guess += 1
    return guess


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return the one-sided lower and upper confidence limits of a proportion, each at this confidence.

    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika
    26, 1934. Without trials the limits are 0 and 1.

    :raises InvalidValueError: there are more successes than trials, or the confidence is not between 0 and 1
    """
    check_probability("confidence", confidence)
    if not 0 <= successes <= trials:
        raise InvalidValueError("successes", f"must be from 0 to the number of trials ({trials}), not {successes}")
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    low = float(betaincinv(successes, trials - successes + 1, 1 - confidence)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, confidence)) if successes < trials else 1.0
    return low, high


@lru_cache(maxsize=4096)
def rank_block(block: int, quantile: float, confidence: float) -> list[int]:
    """Return ``upper_rank`` for ``RANKS_PER_BLOCK`` counts at once, 0 for no bound. Callers must not change the list.

    :param block: the counts are ``block * RANKS_PER_BLOCK`` and those that follow
    """
    counts = np.arange(block * _BLOCK, (block + 1) * _BLOCK)
    expected, spread = counts * quantile, np.sqrt(counts * quantile * (1 - quantile))
    # Cornish and Fisher's first term is enough to be within a rank or two; the exact distribution then decides.
    ranks = np.clip(np.floor(expected + _normal_quantile(confidence) * spread + 0.5), 1, np.maximum(counts, 1)).astype(
        int
    )
    while (low := (ranks <= counts) & (_below(ranks, counts, quantile) < confidence)).any():
        ranks[low] += 1
    while (high := (ranks > 1) & (_below(ranks - 1, counts, quantile) >= confidence)).any():
        ranks[high] -= 1
    return [int(rank) if rank <= count else 0 for rank, count in zip(ranks, counts, strict=True)]


#: How many counts ``rank_block`` covers.
RANKS_PER_BLOCK = _BLOCK


def _below(ranks: NDArray[np.int_], counts: NDArray[np.int_], quantile: float) -> NDArray[np.float64]:
    """Return P(B <= rank - 1) for binomial B, as a regularised incomplete beta function."""
    from scipy.special import betainc

    left = np.maximum(counts - ranks + 1, 1)
    inside = betainc(left, np.maximum(ranks, 1), 1 - quantile)
    return np.where(ranks > counts, 1.0, inside)


def _normal_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))


def check_probability(field: str, value: float) -> None:
    """Check that a value is strictly between 0 and 1.

    :raises InvalidValueError: it is not
    """
    if not 0 < value < 1:
        raise InvalidValueError(field, f"must be more than 0 and less than 1, not {value}")
