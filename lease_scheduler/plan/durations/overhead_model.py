"""Estimates of the time that preempting a lease costs (Amini Salehi 2012, section 3.2.2, equations 3.2-3.7).

The plan keeps whole seconds, which ``plan.durations.suspension`` computes. These formulas are for comparing leases, so
they keep fractions. All nodes of a lease take turns, as they share the storage and the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class OverheadRates:
    """The rates of a site; the defaults are those of section 3.3.2, measured in a network of 100 Mb/s.

    :ivar suspend_rate: MB/s at which the memory of a node is written
    :ivar resume_rate: MB/s at which it is read
    :ivar copy_rate: MB/s at which it moves to another host
    :ivar pause_time: seconds to pause or unpause one node
    :ivar reschedule_time: seconds to plan a lease again
    :raises InvalidValueError: a rate is not a positive number, or a time is negative
    """

    suspend_rate: float = 6.36
    resume_rate: float = 8.12
    copy_rate: float = 6.392
    pause_time: float = 0.005
    reschedule_time: float = 2.3

    def __post_init__(self) -> None:
        for name in ("suspend_rate", "resume_rate", "copy_rate"):
            value = getattr(self, name)
            if not isfinite(value) or value <= 0:
                raise InvalidValueError(name, f"must be more than 0 MB/s, not {value}")
        for name in ("pause_time", "reschedule_time"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise InvalidValueError(name, f"must be at least 0 s, not {value}")


class OverheadModel:
    """The formulas for a lease, given the memory of each of its nodes in MB."""

    def __init__(self, rates: OverheadRates | None = None) -> None:
        self._rates = OverheadRates() if rates is None else rates

    def to_suspend(self, memory: Sequence[float]) -> float:
        """Return the seconds until a lease is suspended and planned again (equation 3.4)."""
        rates = self._rates
        return len(memory) * rates.pause_time + sum(memory) / rates.suspend_rate + rates.reschedule_time

    def to_resume(self, memory: Sequence[float]) -> float:
        """Return the seconds until a suspended lease runs again (equation 3.5)."""
        return len(memory) * self._rates.pause_time + sum(memory) / self._rates.resume_rate

    def of_suspending(self, memory: Sequence[float]) -> float:
        """Return the seconds that suspending and resuming a lease take (equation 3.6)."""
        return self.to_suspend(memory) + self.to_resume(memory)

    def of_migrating(self, memory: Sequence[float]) -> float:
        """Return the seconds that moving a lease takes (equation 3.7).

        Each node is suspended while the one before it is resumed; the copies follow one another. The printed sum starts
        one node too early: it counts the first suspension twice and has a resumption without a node.
        """
        rates = self._rates
        suspending = [size / rates.suspend_rate for size in memory]
        resuming = [size / rates.resume_rate for size in memory]
        overlapping = sum(map(max, suspending[1:], resuming[:-1]))
        fixed = 2 * len(memory) * rates.pause_time + rates.reschedule_time
        return sum(memory) / rates.copy_rate + suspending[0] + overlapping + resuming[-1] + fixed
