"""The result of a study of shares: cumulative shares, efficiency, waiting times (Grit 2007, section 5.7)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Start:
    """A request that got a place. All times are in ticks.

    :ivar arrived: when it arrived
    :ivar start: when it starts
    :ivar duration: how long it runs
    :ivar width: hosts that it takes
    """

    arrived: int
    start: int
    duration: int
    width: int

    @property
    def end(self) -> int:
        """First tick after it."""
        return self.start + self.duration


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """A request that was queued. All times are in ticks.

    :ivar number: its number, over all flows
    :ivar arrived: when it arrived
    :ivar duration: how long it runs
    :ivar width: hosts that it takes
    """

    number: int
    arrived: int
    duration: int
    width: int


@dataclass
class FlowResult:
    """The result of one flow.

    :ivar name: its name
    :ivar share: its configured share
    :ivar asked: its requests that were queued
    :ivar starts: its requests that got a place, in the order in which they got it
    :ivar dropped: number of its requests that found a full queue
    :ivar queued_cost: cost of its queued requests
    """

    name: str
    share: float
    asked: list[Asked] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    dropped: int = 0
    queued_cost: int = 0

    def hosts_by_tick(self, ticks: int) -> FloatArray:
        """Return the number of hosts that it had at each tick, shape (ticks,)."""
        change = np.zeros(ticks + 1)
        for start in self.starts:
            if start.start < ticks and start.duration:
                change[start.start] += start.width
                change[min(start.end, ticks)] -= start.width
        return np.cumsum(change)[:ticks]

    def mean_wait(self, first: int, last: int) -> float:
        """Return the mean time in the queue of its requests that started in ``[first, last)``; NaN if none did."""
        waits = [each.start - each.arrived for each in self.starts if first <= each.start < last]
        return float(np.mean(waits)) if waits else float("nan")


@dataclass(frozen=True)
class SharesResult:
    """The results of all flows.

    :ivar hosts: number of hosts
    :ivar ticks: number of ticks in which requests arrived
    :ivar end: number of ticks of the run
    :ivar flows: the flows
    """

    hosts: int
    ticks: int
    end: int
    flows: tuple[FlowResult, ...]

    def shares(self, first: int = 0, last: int | None = None) -> dict[str, float]:
        """Return the share of each flow in the use during ``[first, last)``; by default, while requests arrived."""
        until = self.ticks if last is None else last
        used = {flow.name: float(flow.hosts_by_tick(until)[first:].sum()) for flow in self.flows}
        total = sum(used.values())
        return {name: amount / total if total else 0.0 for name, amount in used.items()}

    def efficiency(self) -> float:
        """Return the share of the site that was used while requests arrived (A22)."""
        used = sum(float(flow.hosts_by_tick(self.ticks).sum()) for flow in self.flows)
        return used / (self.hosts * self.ticks)

    def shares_over_time(self, interval: int) -> dict[str, FloatArray]:
        """Return the share of the site that each flow had in each interval.

        :param interval: length of an interval in ticks
        """
        count = self.end // interval
        found = {}
        for flow in self.flows:
            by_tick = flow.hosts_by_tick(self.end)[: count * interval]
            found[flow.name] = by_tick.reshape(count, interval).mean(axis=1) / self.hosts
        return found
