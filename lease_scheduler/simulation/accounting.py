"""What probes write down in a run: statistics of leases and of the run, and counters over time (haizea F43).

After Haizea's accounting (Sotomayor 2010, section 4.5).
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
    """What stands next to each value of a counter."""

    #: Nothing.
    NONE = "none"
    #: The mean of the values so far, however long each of them held.
    NORMAL = "normal"
    #: The mean since the counter's first entry, each value weighted by the time for which it held.
    TIME_WEIGHTED = "time-weighted"


@dataclass(frozen=True, slots=True)
class Entry:
    """A counter has this value from an instant on.

    :ivar instant: seconds from the run's zero
    :ivar lease_id: the lease that changed it, none if no single one did
    """

    instant: int
    value: float
    lease_id: str | None = None


@dataclass
class Counter:
    """A quantity that changes at instants.

    Of several values of one instant the last one counts, and one that is equal to the value before it is not kept.

    :ivar average: what stands next to each value
    :ivar entries: in the order of their instants
    """

    average: Average = Average.NONE
    entries: list[Entry] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The present value, 0 before the first entry."""
        return self.entries[-1].value if self.entries else 0

    def put(self, instant: int, value: float, lease_id: str | None = None) -> None:
        """Have another value from an instant on.

        :raises InvalidValueError: the instant is before the last one, or the value is no number
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
        """Have a value that is higher by an amount from an instant on."""
        self.put(instant, self.value + amount, lease_id)

    def averages(self) -> list[float]:
        """The average at each entry; of a counter without averages, none."""
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
    """Everything that the probes of a run wrote down.

    :ivar attributes: what says which run it was, e.g. ``profile``
    :ivar counters: by name
    :ivar leases: lease id -> statistic -> value
    :ivar run: statistic of the whole run -> value
    """

    attributes: Mapping[str, str] = field(default_factory=dict)
    counters: dict[str, Counter] = field(default_factory=dict)
    leases: dict[str, dict[str, Value]] = field(default_factory=dict)
    run: dict[str, Value] = field(default_factory=dict)

    def create_counter(self, name: str, average: Average = Average.NONE) -> Counter:
        """A new counter.

        :raises InvalidValueError: there is one of that name
        """
        if name in self.counters:
            raise InvalidValueError("counter", f"two probes have a counter {name!r}; leave one of them out")
        return self.counters.setdefault(name, Counter(average))

    def set_lease(self, lease_id: str, values: Mapping[str, Value | None]) -> None:
        """Set statistics of a lease; those that are none are passed over.

        :raises InvalidValueError: a value that no file can hold
        """
        self.leases.setdefault(lease_id, {}).update(_checked(values))

    def set_run(self, values: Mapping[str, Value | None]) -> None:
        """Set statistics of the run; those that are none are passed over.

        :raises InvalidValueError: a value that no file can hold
        """
        self.run.update(_checked(values))


def _checked(values: Mapping[str, Value | None]) -> dict[str, Value]:
    found = {name: value for name, value in values.items() if value is not None}
    for name, value in found.items():
        if not isinstance(value, str) and not math.isfinite(value):
            raise InvalidValueError(name, f"must be a text or a finite number, not {value!r}")
    return found
