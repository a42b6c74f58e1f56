"""Fuzzy inference of how to serve a request when hosts sleep (Amini Salehi 2012, section 6.3.1).

Two inputs, the risk that waiting leases wait too long and the load of the hosts that are awake, give one number: below
1, the share of the missing hosts to gain by preemption rather than by waking hosts; above 1, how many hosts to empty so
that they can sleep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from lease_scheduler.model.errors import InvalidValueError

#: Outputs of the rules, in the order of their centres: no, quarter, half, three-quarter and all preemption; low, medium
#: and high consolidation.
_NP, _QP, _HP, _3QP, _AP, _LC, _MC, _HC = range(8)

#: Output of each rule: a row for each set of the risk, ascending, a column for each set of the load (table 6.1).
_RULES = (
    (_HC, _HC, _MC, _LC, _AP),
    (_MC, _LC, _LC, _HP, _3QP),
    (_HP, _HP, _QP, _QP, _NP),
    (_QP, _QP, _NP, _NP, _NP),
)

#: Lowest centre of an output that has a meaning (equation 6.9).
_LOWEST_CENTRE = -1.0


@dataclass(frozen=True)
class FuzzyTables:
    """Break points of the fuzzy sets.

    Each set is a triangle that is 0 at the peaks beside it; the first and the last set stay at 1 beyond their peaks.

    :ivar risk: peaks of the 4 sets of the risk, ascending: low, medium, high, very high
    :ivar load: peaks of the 5 sets of the load, ascending from 0 to 1: very low, low, medium, high, very high
    :ivar centres: centres of the 8 outputs, ascending from at least -1, in the order of table 6.1
    :raises InvalidValueError: a table is out of range
    """

    risk: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    load: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    centres: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)

    def __post_init__(self) -> None:
        _check("power_risk_peaks", self.risk, 4, 0.0, None)
        _check("power_load_peaks", self.load, 5, 0.0, 1.0)
        _check("power_centres", self.centres, 8, _LOWEST_CENTRE, None)


def infer(tables: FuzzyTables, risk: float, load: float) -> float:
    """Return the output: the mean of the centres of all rules, weighted by the degree of each (equation 6.9).

    :param risk: mean waiting time over the longest acceptable one; at least 0
    :param load: share of their time for which the hosts that are awake are taken, 0 to 1
    """
    by_risk, by_load = _degrees(tables.risk, risk), _degrees(tables.load, load)
    return sum(
        by_risk[row] * by_load[column] * tables.centres[output]
        for row, outputs in enumerate(_RULES)
        for column, output in enumerate(outputs)
    )


def _degrees(peaks: Sequence[float], value: float) -> list[float]:
    """Return the degree to which a value belongs to each set; the degrees add up to 1."""
    degrees = [0.0] * len(peaks)
    if value <= peaks[0]:
        degrees[0] = 1.0
    elif value >= peaks[-1]:
        degrees[-1] = 1.0
    else:
        upper = next(number for number, peak in enumerate(peaks) if peak >= value)
        degrees[upper] = (value - peaks[upper - 1]) / (peaks[upper] - peaks[upper - 1])
        degrees[upper - 1] = 1.0 - degrees[upper]
    return degrees


def _check(name: str, values: Sequence[float], count: int, least: float, most: float | None) -> None:
    is_valid = (
        len(values) == count
        and all(isfinite(value) for value in values)
        and all(low < high for low, high in pairwise(values))
        and values[0] >= least
        and (most is None or values[-1] <= most)
    )
    if not is_valid:
        bounds = f"from {least:g} on" if most is None else f"from {least:g} to {most:g}"
        raise InvalidValueError(
            f"policy option {name}", f"must be {count} ascending numbers {bounds}, not {', '.join(map(str, values))}"
        )
