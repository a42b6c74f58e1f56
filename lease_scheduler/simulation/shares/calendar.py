"""A calendar of widths: how many hosts are free at each tick (Grit 2007, section 5.5)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class WidthCalendar:
    """Free hosts of a homogeneous site at each tick.

    :param hosts: number of hosts
    :param length: number of ticks
    :ivar free: free hosts at each tick, shape (length,)
    """

    def __init__(self, hosts: int, length: int) -> None:
        self.free: npt.NDArray[np.int64] = np.full(length, hosts, dtype=np.int64)

    def reserve(self, start: int, duration: int, width: int) -> None:
        """Take hosts for ``[start, start + duration)``."""
        self.free[start : start + duration] -= width

    def release(self, start: int, end: int, width: int) -> None:
        """Give hosts back for ``[start, end)``."""
        self.free[start:end] += width

    def longest(self, now: int, width: int, most: int) -> int:
        """Return for how many ticks from now on this many hosts are free, at most ``most``."""
        short = self.free[now : now + most] < width
        found = int(short.argmax())
        return found if short[found] else len(short)

    def earliest(self, now: int, latest: int, duration: int, width: int) -> int | None:
        """Return the first start from ``now`` to ``latest`` with enough free hosts for the whole duration, or None."""
        short = (self.free[now : latest + duration] < width).nonzero()[0]
        if not short.size or short[0] >= duration:
            return now
        # A start is possible directly after a tick with too few hosts, if the next such tick is far enough.
        fits = (short[1:] - short[:-1] > duration).nonzero()[0]
        start = now + int(short[fits[0]] if fits.size else short[-1]) + 1
        return start if start <= latest else None
