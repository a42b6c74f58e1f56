"""Options that power policies share."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.power.fuzzy import FuzzyTables

_FACTOR = "power_waiting_factor"


def waiting_factor(options: PolicyOptions) -> float:
    """Return the longest acceptable waiting time, as a multiple of the mean duration of leases that wait.

    :raises InvalidValueError: it is not more than 0
    """
    factor = options.number(_FACTOR, 5.0)
    if factor == 0.0:
        raise InvalidValueError(f"policy option {_FACTOR}", "must be more than 0")
    return factor


def fuzzy_tables(options: PolicyOptions) -> FuzzyTables:
    """Return the tables of the fuzzy inference.

    :raises InvalidValueError: a table is out of range, or is no list of numbers
    """
    default = FuzzyTables()
    return FuzzyTables(
        _numbers(options, "power_risk_peaks", default.risk),
        _numbers(options, "power_load_peaks", default.load),
        _numbers(options, "power_centres", default.centres),
    )


def _numbers(options: PolicyOptions, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    text = options.get(name)
    if text is None:
        return default
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(f"policy option {name}", f"must be numbers separated by commas, not {text!r}") from None
