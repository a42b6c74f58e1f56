"""Reports to the cloud of how fluid leases share CPU. This follows from the values of leases alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from lease_scheduler.model.lease import Lease
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds before a failed call to the cloud is repeated: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0

#: Number of revisions that one engine can use: enough for a change each millisecond for a month.
_OF_ENGINE = 2**32


class FluidYields(UpkeepWorker):
    """Worker that tells the cloud the yields of all running fluid leases when one changes, and repeats failed calls.

    :param share: tells the cloud; see ``capabilities.Shares.share``
    :param number: number of this engine, which is higher than those of all engines before it
    :param leases: returns the live leases
    """

    def __init__(
        self, share: Callable[[int, Mapping[str, float]], None], number: int, leases: Callable[[], Iterable[Lease]]
    ) -> None:
        super().__init__("fluid-yields", _LONGEST_PAUSE)
        self._share = share
        self._leases = leases
        self._revision = number * _OF_ENGINE
        self._lock = Lock()
        self._yields: dict[str, float] = {}
        self._has_changed = True
        self._pause = _FIRST_PAUSE

    def prepare(self) -> bool:
        """Have the cloud told all present yields, as an earlier engine may have told it others."""
        with self._lock:
            self._yields = {lease.lease_id: part for lease in self._leases() if (part := _part(lease)) is not None}
        return True

    def note(self, lease: Lease) -> None:
        """Have the cloud told if the yield of a lease has changed."""
        if lease.request.min_yield is None:
            return
        part = _part(lease)
        with self._lock:
            if self._yields.get(lease.lease_id) == part:
                return
            if part is None:
                del self._yields[lease.lease_id]
            else:
                self._yields[lease.lease_id] = part
            self._has_changed = True
        self.wake()

    def round(self, now: float) -> float | None:
        """Tell the cloud if something has changed."""
        with self._lock:
            if not self._has_changed:
                return None
            self._has_changed = False
            self._revision += 1
            revision, yields = self._revision, dict(self._yields)
        try:
            self._share(revision, yields)
            self._pause = _FIRST_PAUSE
        except Exception:
            LOG.warning("the cloud could not be told how fluid leases share CPU; it is tried again", exc_info=True)
            with self._lock:
                self._has_changed = True
            # Wake-ups must not shorten the pause after a failure.
            pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
            return FirmPause(pause)
        return 0.0


def _part(lease: Lease) -> float | None:
    """Return the share that a lease is given, or None if it does not run or is not fluid."""
    return lease.progress.share if lease.progress is not None and lease.progress.permille > 0 else None
