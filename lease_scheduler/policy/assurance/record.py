"""Promises that were made: what they take of the site, and whether they were kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Any

from lease_scheduler.model.kinds import Assured
from lease_scheduler.model.lease import Lease
from lease_scheduler.prediction.bounds import clopper_pearson

#: How many promises are judged, and for how long.
_MOST = 500
_SECONDS = 90 * 86_400


class PromiseRecord:
    """Live promises, and the last promises that are over.

    A promise is over when its lifetime is. A promise does not count if its project ended the lease earlier.

    :ivar has_changed: whether what ``stored`` returns has changed since its last call
    """

    def __init__(self) -> None:
        self._live: dict[str, tuple[int, float, bool]] = {}
        self._ends: list[tuple[int, str]] = []
        self._total = 0.0
        self._over: deque[tuple[int, bool]] = deque(maxlen=_MOST)
        self.has_changed = False

    def follow(self, lease: Lease, share: float) -> None:
        """Take note of a lease that may have a promise.

        :param share: share of the site that it takes
        """
        until = None if lease.is_final else lease.assured_until
        old = self._live.pop(lease.lease_id, None)
        if old is not None:
            self._total -= old[1]
        if until is not None:
            # Only statistical promises are judged, and only of leases that have started.
            is_judged = lease.grant.assured is Assured.STATISTICAL and lease.started is not None
            self._live[lease.lease_id] = until, share, is_judged
            self._total += share
            heappush(self._ends, (until, lease.lease_id))

    def broken(self, lease: Lease, now: int) -> None:
        """Take note that a promise was broken."""
        old = self._live.pop(lease.lease_id, None)
        if old is None:
            return
        self._total -= old[1]
        if old[2]:
            self._note(now, kept=False)

    def promised(self, now: int) -> float:
        """Return the share of the site that live promises take."""
        self._pass_to(now)
        return max(0.0, self._total) if self._live else 0.0

    def counts(self, now: int) -> tuple[int, int]:
        """Return how many of the last promises were kept, and how many were broken."""
        self._pass_to(now)
        broken = sum(not kept for _, kept in self._over)
        return len(self._over) - broken, broken

    def is_worse_than(self, allowed: float, confidence: float, now: int) -> bool:
        """Return whether significantly more promises were broken than may be.

        :param allowed: probability with which a promise may be broken
        """
        kept, broken = self.counts(now)
        return broken > 0 and clopper_pearson(broken, kept + broken, confidence)[0] > allowed

    def forget_live(self) -> None:
        """Forget the live promises; ``follow`` adds them again."""
        self._live.clear()
        self._ends.clear()
        self._total = 0.0

    def stored(self) -> Mapping[str, Any]:
        """Return the promises that are over, as plain values."""
        self.has_changed = False
        return {"over": [[instant, kept] for instant, kept in self._over]}

    def restore(self, stored: Mapping[str, Any] | None) -> None:
        """Go on with what was stored; what is damaged is not used."""
        self.forget_live()
        self._over.clear()
        self.has_changed = False
        try:
            self._over.extend((int(instant), bool(kept)) for instant, kept in (stored or {}).get("over", ()))
        except (AttributeError, TypeError, ValueError, OverflowError):
            self._over.clear()

    def _pass_to(self, now: int) -> None:
        while self._ends and self._ends[0][0] <= now:
            until, lease_id = heappop(self._ends)
            live = self._live.get(lease_id)
            if live is not None and live[0] == until:
                del self._live[lease_id]
                self._total -= live[1]
                if live[2]:
                    self._note(until, kept=True)
        while self._over and self._over[0][0] < now - _SECONDS:
            self._over.popleft()
            self.has_changed = True

    def _note(self, instant: int, *, kept: bool) -> None:
        self._over.append((instant, kept))
        self.has_changed = True
