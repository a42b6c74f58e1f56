"""Division of free hosts among flows whose requests accept fewer hosts than they ask for.

Grit 2007, section 5.6.3 (shirako F108, A33). Two formulas of the dissertation cannot be as printed: a request gets the
lesser, not the greater, of its part and its width, and a flow that is behind gets what it is owed, not all free hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor


@dataclass(frozen=True, slots=True)
class ElasticRequest:
    """A queued request.

    :ivar least: smallest number of hosts that it accepts
    :ivar most: number of hosts that it asks for
    :ivar duration: how long it runs, with any number of hosts
    """

    least: int
    most: int
    duration: int


@dataclass(frozen=True)
class ElasticFlow:
    """A flow.

    :ivar weight: its weight
    :ivar clock: its clock, as cost per weight
    :ivar requests: its queued requests, in the order in which it wants them served
    """

    weight: Fraction
    clock: Fraction
    requests: Sequence[ElasticRequest]


class Division:
    """Hosts that are given to the requests of flows.

    :param free: number of free hosts
    :param flows: the flows that have queued requests
    :ivar given: number of hosts of each request of each flow; 0 if it is not served
    """

    def __init__(self, free: int, flows: Sequence[ElasticFlow]) -> None:
        self._free = free
        self._flows = flows
        self.given = [[0] * len(flow.requests) for flow in flows]
        self._by_clock = sorted(range(len(flows)), key=lambda number: (flows[number].clock, number))
        if len({flow.clock for flow in flows}) > 1:
            self._align_clocks()
        self._divide_by_weight()
        # What a flow cannot use is lost for it, but not for the others: no host stays free that some request accepts.
        for number in self._by_clock:
            self._give(number, self._free)

    def _align_clocks(self) -> None:
        """Give each flow what brings its clock up to that of the flow that is ahead of all others."""
        ahead = max(flow.clock for flow in self._flows)
        for number in self._by_clock:
            flow = self._flows[number]
            owed = (ahead - flow.clock) * flow.weight
            for position, request in enumerate(flow.requests):
                size = min(floor(owed / request.duration), self._free, request.most)
                if size < request.least:
                    continue
                self.given[number][position] = size
                self._free -= size
                owed -= size * request.duration

    def _divide_by_weight(self) -> None:
        """Give each flow a part of the free hosts, in proportion to its weight."""
        total = sum(flow.weight for flow in self._flows)
        parts = {number: self._free * self._flows[number].weight / total for number in self._by_clock}
        whole = {number: floor(part) for number, part in parts.items()}
        # One more for the largest fractions; of equal ones, for the lowest clock.
        left = self._free - sum(whole.values())
        for number in sorted(self._by_clock, key=lambda each: whole[each] - parts[each])[:left]:
            whole[number] += 1
        for number, size in whole.items():
            self._give(number, size)

    def _give(self, number: int, hosts: int) -> None:
        """Give hosts to the requests of a flow in their order, each as many as it asks for."""
        given = self.given[number]
        for position, request in enumerate(self._flows[number].requests):
            more = min(hosts, request.most - given[position])
            if more > 0 and given[position] + more >= request.least:
                given[position] += more
                hosts -= more
                self._free -= more
