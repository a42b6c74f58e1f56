"""Observations that are kept in the order of their values and in the order of time.

``Window`` keeps the newest and forgets the others. ``Everything`` forgets nothing. Both find the k-th smallest value:
``Window`` for any k, ``Everything`` quickly for a k that moves little from one question to the next, as the rank of a
quantile does.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from heapq import heapify, heappop, heappush


class Window:
    """The newest observations.

    :param limit: how many are kept, at least 1
    """

    __slots__ = ("_arrived", "_limit", "_ordered")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._arrived: deque[float] = deque()
        self._ordered: list[float] = []

    def __len__(self) -> int:
        return len(self._ordered)

    def add(self, value: float) -> None:
        """Add the newest observation."""
        arrived, ordered = self._arrived, self._ordered
        if len(ordered) == self._limit:
            del ordered[bisect_left(ordered, arrived.popleft())]
        arrived.append(value)
        insort(ordered, value)

    def smallest(self, rank: int) -> float:
        """Return the value with this rank, 1 being the smallest."""
        return self._ordered[rank - 1]

    def newest(self, count: int) -> list[float]:
        """Return the newest observations in the order of time, all if there are fewer."""
        skipped = len(self._arrived) - count
        return list(self._arrived)[skipped:] if skipped > 0 else list(self._arrived)

    def keep_newest(self, count: int) -> None:
        """Forget all but the newest observations."""
        while 0 < len(self._ordered) - count <= 2:
            del self._ordered[bisect_left(self._ordered, self._arrived.popleft())]
        if len(self._ordered) > count:
            self._arrived = deque(self.newest(count))
            self._ordered = sorted(self._arrived)


class Everything:
    """All observations since the last ``keep_newest``.

    The values are in two heaps, those up to the rank that was asked for last and those above it.

    :param recent: how many of the newest can be told in the order of time
    """

    __slots__ = ("_above", "_recent", "_up_to")

    def __init__(self, recent: int) -> None:
        self._recent: deque[float] = deque(maxlen=recent)
        self._up_to: list[float] = []
        self._above: list[float] = []

    def __len__(self) -> int:
        return len(self._up_to) + len(self._above)

    def add(self, value: float) -> None:
        """Add the newest observation."""
        self._recent.append(value)
        if self._up_to and value < -self._up_to[0]:
            heappush(self._up_to, -value)
        else:
            heappush(self._above, value)

    def smallest(self, rank: int) -> float:
        """Return the value with this rank, 1 being the smallest."""
        up_to, above = self._up_to, self._above
        while len(up_to) < rank:
            heappush(up_to, -heappop(above))
        while len(up_to) > rank:
            heappush(above, -heappop(up_to))
        return -up_to[0]

    def newest(self, count: int) -> list[float]:
        """Return the newest observations in the order of time, at most ``recent`` of them."""
        skipped = len(self._recent) - count
        return list(self._recent)[skipped:] if skipped > 0 else list(self._recent)

    def keep_newest(self, count: int) -> None:
        """Forget all but the newest observations, which must not be more than ``recent``."""
        if len(self) > count:
            self._refill(self.newest(count))

    def _refill(self, kept: list[float]) -> None:
        self._recent.clear()
        self._recent.extend(kept)
        heapify(kept)
        self._up_to, self._above = [], kept
