"""Steps: the instants at which something changes on a host, for all hosts in one sorted array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Number of low bits of a step's key that have the instant; the bits above have the host.
TIME_BITS = 40
#: An instant later than all others; the end of intervals without an end.
FOREVER = (1 << TIME_BITS) - 1

#: From this number of hosts on, it pays off to look at few of them instead of all.
MANY_HOSTS = 256
#: Cached positions are carried over if at most this many steps are added and dropped.
_FEW_EDITS = 16


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

    def of(self, key: IntArray) -> Steps:
        """Return other steps of the same hosts."""
        return Steps(self.base, key)

    def edited(self, key: IntArray, added: IntArray, dropped: IntArray) -> Steps:
        """Return the steps after some were added and some dropped.

        :param key: the keys after that
        :param added: keys of the new steps
        :param dropped: keys of the steps that are gone; new steps may be among them
        """
        found = Steps(self.base, key)
        if len(self.base) < MANY_HOSTS or not self._positions or len(added) + len(dropped) > _FEW_EDITS:
            return found
        # The instant that was cached last, which is mostly the present one.
        instant = next(reversed(self._positions))
        position = found._positions[instant] = self._positions[instant].copy()
        for steps, change in ((added, 1), (dropped, -1)):
            for step in steps.tolist():
                position[(step >> TIME_BITS) + ((step & FOREVER) > instant) :] += change
        return found

    def position(self, instant: int) -> IntArray:
        """Return, for each host, the index of the step that contains the instant."""
        position = self._positions.get(instant)
        if position is None:
            position = self.key.searchsorted(self.base + instant, side="right") - 1
            self._positions[instant] = position
        return position

    def bounds(self, start: int, end: int, hosts: IntArray | None = None) -> IntArray:
        """Return the first step of each host in ``[start, end)`` and the first step after it, as ``reduceat`` needs.

        :param hosts: host numbers, ascending; None for all hosts
        :return: two indices per host, in sequence; without the last index if it is the end of the arrays
        """
        low, base = self.position(start), self.base
        if hosts is not None:
            low, base = low[hosts], base[hosts]
        bounds = np.empty(2 * len(low), dtype=np.int64)
        bounds[::2] = low
        bounds[1::2] = self.key.searchsorted(base + end)
        return bounds[:-1] if bounds[-1] == len(self.key) else bounds

    def hosts(self) -> IntArray:
        """Return the host of each step."""
        if self._hosts is None:
            self._hosts = self.key >> TIME_BITS
        return self._hosts
