"""Steps: the instants at which something changes on a host, for all hosts in one sorted array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: The key of a step has the host above these bits and the instant in them.
TIME_BITS = 40
#: An instant later than all others; the end of intervals without an end.
FOREVER = (1 << TIME_BITS) - 1


class Steps:
    """Positions of the steps of each host in the flat arrays.

    A class of its own, because cached ``Places`` need it: if they referred to the availability that caches them, the
    reference cycle would keep all arrays in memory until the garbage collector runs.

    :ivar base: key of instant 0 of each host, ascending
    :ivar key: host and instant of each step in one number, ascending
    """

    __slots__ = ("_hosts", "_positions", "base", "key")

    def __init__(self, base: IntArray, key: IntArray) -> None:
        self.base = base
        self.key = key
        self._positions: dict[int, IntArray] = {}
        self._hosts: IntArray | None = None

    def position(self, instant: int) -> IntArray:
        """Return, for each host, the index of the step that contains the instant."""
        position = self._positions.get(instant)
        if position is None:
            position = self.key.searchsorted(self.base + instant, side="right") - 1
            self._positions[instant] = position
        return position

    def bounds(self, start: int, end: int) -> IntArray:
        """Return the first step of each host in ``[start, end)`` and the first step after it, as ``reduceat`` needs.

        :return: two indices per host, in sequence; without the last index if it is the end of the arrays
        """
        low = self.position(start)
        bounds = np.empty(2 * len(low), dtype=np.int64)
        bounds[::2] = low
        bounds[1::2] = self.key.searchsorted(self.base + end)
        return bounds[:-1] if bounds[-1] == len(self.key) else bounds

    def hosts(self) -> IntArray:
        """Return the host of each step."""
        if self._hosts is None:
            self._hosts = self.key >> TIME_BITS
        return self._hosts
