"""Reports to the cloud of when leases end. The end follows from the present value of a lease alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds before a failed call to the cloud is repeated: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0

#: States of leases whose servers resume. The cloud may still have the end from before the suspension.
_RESUMING = frozenset({LeaseState.RESUMING, LeaseState.RESUMED_READY})


def promised_end(lease: Lease) -> int | None:
    """Return the instant at which a running lease gives its hosts back, or None for a lease that does not run.

    There is no end while servers start or resume. If they take long, a lease that promises work rather than an interval
    ends later, and a server that resumes slowly must not be refused on the hosts of its own lease.
    """
    return lease.holdings[0].end if lease.active_since is not None else None


class PromisedEnds(UpkeepWorker):
    """Worker that tells the cloud which ends have changed, and repeats failed calls.

    :param tell: passes ends to the cloud: lease -> instant or None, see ``promised_end``
    :param leases: returns the live leases
    """

    def __init__(
        self, tell: Callable[[Mapping[str, int | None]], None], leases: Callable[[], Iterable[Lease]] = tuple
    ) -> None:
        super().__init__("promised-ends", _LONGEST_PAUSE)
        self._tell = tell
        self._leases = leases
        self._lock = Lock()
        self._told: dict[str, int | None] = {}
        self._pending: dict[str, int | None] = {}
        self._pause = _FIRST_PAUSE

    def prepare(self) -> bool:
        """Have the cloud told the ends of the live leases, as an earlier engine may have told it others."""
        with self._lock:
            self._pending |= {
                lease.lease_id: promised_end(lease)
                for lease in self._leases()
                if lease.active_since is not None or lease.state in _RESUMING
            }
        return True

    def note(self, lease: Lease) -> None:
        """Have the cloud told if the end of a lease has changed."""
        lease_id, end = lease.lease_id, promised_end(lease)
        with self._lock:
            if lease.is_final:
                self._pending.pop(lease_id, None)
                self._told.pop(lease_id, None)
            elif self._pending.get(lease_id, self._told.get(lease_id)) != end:
                self._pending[lease_id] = end
                self.wake()

    def round(self, now: float) -> float | None:
        """Tell the cloud what has changed."""
        with self._lock:
            ends, self._pending = self._pending, {}
            # Set before the call, so that ``note`` recognizes a change during the call.
            self._told |= ends
        if not ends:
            return None
        try:
            self._tell(ends)
            self._pause = _FIRST_PAUSE
        except Exception:
            LOG.warning("the cloud could not be told when leases end; it is tried again", exc_info=True)
            with self._lock:
                self._pending = {key: end for key, end in ends.items() if key in self._told} | self._pending
            # Wake-ups must not shorten the pause after a failure.
            pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
            return FirmPause(pause)
        return 0.0
