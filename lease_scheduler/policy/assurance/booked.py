"""The planned part of the demand that may preempt others, which extends Pucher 2016, section 4.3, by plans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

from lease_scheduler.model.lease import Lease


class BookedDemand:
    """Planned starts and ends of leases, with their shares of the site."""

    def __init__(self) -> None:
        self._of: dict[str, list[tuple[int, float]]] = {}
        #: Changes in the order of time; ends before starts.
        self._changes: list[tuple[int, float]] = []

    def clear(self) -> None:
        """Forget all leases."""
        self._of.clear()
        self._changes.clear()

    def put(self, lease: Lease, share: float) -> None:
        """Take note of what is planned for a lease now, in place of what was planned before.

        :param share: share of the site that it takes
        """
        self.remove(lease.lease_id)
        changes = []
        for holding in lease.holdings:
            if lease.active_since is None or holding is not lease.holdings[0]:
                changes.append((holding.start, share))
            changes.append((holding.end, -share))
        if changes:
            self._of[lease.lease_id] = changes
            for change in changes:
                insort(self._changes, change)

    def remove(self, lease_id: str) -> None:
        """Forget a lease, if it is known."""
        for change in self._of.pop(lease_id, ()):
            del self._changes[bisect_left(self._changes, change)]

    def peak(self, present: float, now: int, until: int) -> tuple[float, int]:
        """Return the highest demand that is planned from now on, and the instant at which it is first reached.

        :param present: the demand now
        :param until: first instant that does not count
        """
        highest, at = present, now
        level = present
        for instant, change in self._between(now, until):
            level += change
            if level > highest:
                highest, at = level, instant
        return highest, at

    def _between(self, now: int, until: int) -> Iterable[tuple[int, float]]:
        first = bisect_right(self._changes, (now, float("inf")))
        return self._changes[first : bisect_left(self._changes, (until, float("-inf")))]
