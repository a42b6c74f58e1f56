"""Deletion of trusts from requests whose outcome is unknown, unless a lease turns out to have them.

A request that the engine does not answer may still be carried out until it expires. So its trusts are kept for a while,
and then the database says whether a lease has them. The user's token may have expired by then, so the service deletes
them in its own name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from threading import Lock
from time import monotonic

from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Real seconds after which a request has certainly expired, and whatever the engine did with it is in the database.
_DECIDED_AFTER = 180.0

#: Real seconds between two attempts if the database or the identity service does not answer.
_PAUSE = 60.0


class DoubtfulTrusts:
    """Trusts that are deleted later unless a lease has them. When the process ends, reconciliation takes care of them.

    :param known: returns those of the given trusts that a lease has, live or ended
    :param delete: deletes a trust, if it exists
    :param clock: returns real seconds
    """

    def __init__(
        self,
        known: Callable[[Collection[str]], Collection[str]],
        delete: Callable[[str], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._known = known
        self._delete = delete
        self._clock = clock
        self._lock = Lock()
        self._due: dict[str, float] = {}
        self._worker: Worker | None = None

    def add(self, trusts: Iterable[str]) -> None:
        """Schedule trusts for a decision."""
        with self._lock:
            self._due.update(dict.fromkeys(trusts, self._clock() + _DECIDED_AFTER))
            if self._due and self._worker is None:
                # Only now, because a server may have forked after this object was made.
                self._worker = Worker("doubtful-trusts", self.decide, _PAUSE)
                self._worker.start()
            elif self._worker is not None:
                self._worker.wake()

    def decide(self) -> float | None:
        """Delete the due trusts that no lease has. Return the real seconds until the next ones are due, or None."""
        with self._lock:
            now = self._clock()
            due = {trust_id for trust_id, instant in self._due.items() if instant <= now}
        if due:
            for trust_id in sorted(due - set(self._known(sorted(due)))):
                LOG.warning("trust %s is deleted: the lease that it was given for was not made", trust_id)
                self._delete(trust_id)
        with self._lock:
            for trust_id in due:
                self._due.pop(trust_id, None)
            return None if not self._due else max(0.1, min(self._due.values()) - self._clock())
