"""Records of probes: statistics of leases and of the run, and counters over time (haizea F43).

They follow Haizea's accounting (Sotomayor 2010, section 4.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.step_function import StepFunction

#: A statistic.
Value = str | int | float


class Average(Enum):
    """The kind of average that accompanies each value of a counter."""

    #: No average.
    NONE = "none"
    #: The mean of the values so far, regardless of how long each of them held.
    NORMAL = "normal"
    #: The mean since the counter's first entry, each value weighted by the time for which it held.
    TIME_WEIGHTED = "time-weighted"


@dataclass(frozen=True, slots=True)
class Entry:
    """A counter has this value from an instant on.

    :ivar instant: seconds from the run's zero
    :ivar lease_id: the lease that changed the value; None if no single lease did
    """

    instant: int
    value: float
    lease_id: str | None = None


@dataclass
class Counter:
    """A quantity that changes at instants.

    The last of several values at one instant counts. A value that equals the one before it is not kept.

    :ivar average: the kind of average
    :ivar entries: the entries, in the order of their instants
    """

    average: Average = Average.NONE
    entries: list[Entry] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The present value, 0 before the first entry."""
        return self.entries[-1].value if self.entries else 0

    def put(self, instant: int, value: float, lease_id: str | None = None) -> None:
        """Set the value from an instant on.

        :raises InvalidValueError: the instant is before the last one, or the value is not a finite number
        """
        if not math.isfinite(value):
            raise InvalidValueError("value", f"must be a finite number, not {value}")
        if self.entries and instant < self.entries[-1].instant:
            raise InvalidValueError("instant", f"must be at least {self.entries[-1].instant}, not {instant}")
        if self.entries and instant == self.entries[-1].instant:
            self.entries.pop()
        if not self.entries or self.entries[-1].value != value:
            self.entries.append(Entry(instant, value, lease_id))

    def add(self, instant: int, amount: float = 1, lease_id: str | None = None) -> None:
        """Increase the value by an amount from an instant on."""
        self.put(instant, self.value + amount, lease_id)

    def averages(self) -> list[float]:
        """Return the average at each entry; an empty list for a counter without averages."""
        if self.average is Average.NONE or not self.entries:
            return []
        values = [float(entry.value) for entry in self.entries]
        if self.average is Average.NORMAL:
            return [total / number for number, total in enumerate(accumulate(values), start=1)]
        times = np.array([entry.instant for entry in self.entries], dtype=np.int64)
        function = StepFunction(times, np.array(values), self.entries[-1].instant)
        return [float(average) for average in function.running_averages()]


@dataclass
class Accounting:
    """All records of the probes of a run.

    :ivar attributes: attributes that identify the run, e.g. ``profile``
    :ivar counters: counters by name
    :ivar leases: lease id -> statistic -> value
    :ivar run: statistic of the whole run -> value
    """

    attributes: Mapping[str, str] = field(default_factory=dict)
    counters: dict[str, Counter] = field(default_factory=dict)
    leases: dict[str, dict[str, Value]] = field(default_factory=dict)
    run: dict[str, Value] = field(default_factory=dict)

    def create_counter(self, name: str, average: Average = Average.NONE) -> Counter:
        """Create a counter.

        :raises InvalidValueError: there is a counter with this name
        """
        if name in self.counters:
            raise InvalidValueError("counter", f"two probes have a counter {name!r}; leave one of them out")
        return self.counters.setdefault(name, Counter(average))

    def set_lease(self, lease_id: str, values: Mapping[str, Value | None]) -> None:
        """Set statistics of a lease, except those that are None.

        :raises InvalidValueError: a value is neither a text nor a finite number
        """
        self.leases.setdefault(lease_id, {}).update(_checked(values))

    def set_run(self, values: Mapping[str, Value | None]) -> None:
        """Set statistics of the run, except those that are None.

        :raises InvalidValueError: a value is neither a text nor a finite number
        """
        self.run.update(_checked(values))


def _checked(values: Mapping[str, Value | None]) -> dict[str, Value]:
    found = {name: value for name, value in values.items() if value is not None}
    for name, value in found.items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise InvalidValueError(name, f"must be a text or a finite number, not {value!r}")
    return found
