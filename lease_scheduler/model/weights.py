"""Weights of flows, the projects among which a site is shared."""

from __future__ import annotations

from typing import Any

from lease_scheduler.model.errors import InvalidValueError

#: Bounds of weights; within them, rounding changes a share by less than one millionth.
LEAST_WEIGHT, MOST_WEIGHT = 0.000_001, 1_000_000


def checked_weight(field: str, value: Any) -> float:
    """Return a weight as a number.

    :param field: name of the field in an error
    :raises InvalidValueError: the value is not a number from ``LEAST_WEIGHT`` to ``MOST_WEIGHT``
    """
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = 0.0
    if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise InvalidValueError(field, f"must be a number from {LEAST_WEIGHT:f} to {MOST_WEIGHT}, not {value!r}")
    return weight
