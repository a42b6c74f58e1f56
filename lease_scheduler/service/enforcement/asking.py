"""Asks the filters, and sees to it that those who keep count hear how everything ended."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.model.lease import Lease
from lease_scheduler.records.dates import blazar_date
from lease_scheduler.records.messages import FOR_FILTERS, Message
from lease_scheduler.service.enforcement.base import ChangeProposal, Proposal, UsageFilter
from lease_scheduler.service.enforcement.views import lease_body

#: A filter that keeps count is asked about a lease; unless the lease is made it must hear that nothing came of it.
ASKED = f"{FOR_FILTERS}asked"
#: A lease is over.
ENDED = f"{FOR_FILTERS}ended"

#: Longest wait for another request of the same project, if the request itself has no limit, in seconds.
_PATIENCE = 60.0


class Enforcement:
    """Asks one filter after the other.

    :param filters: in order
    :param keep: writes a message down, to be given to ``deliver`` until that is done with it
    :param is_made: whether there is or was a lease of an id, as the store knows it
    """

    def __init__(
        self,
        filters: Sequence[UsageFilter] = (),
        keep: Callable[[Message], None] = lambda message: None,
        is_made: Callable[[str], bool] = lambda lease_id: True,
    ) -> None:
        self._filters = tuple(filters)
        self._followers = tuple(each for each in self._filters if each.follows)
        self._keep = keep
        self._is_made = is_made
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)
        self._lock = Lock()
        # Leases that are being made at this moment, and those of which no filter has counted anything.
        self._being_made: set[str] = set()
        self._not_counted: set[str] = set()
        #: Called when ``deliver`` could be done with something that it was not done with before.
        self.on_settled: Callable[[], None] = lambda: None

    def replace_filters(self, filters: Sequence[UsageFilter]) -> None:
        """Ask others from now on, which must follow ends if the first ones do."""
        self._filters = tuple(filters)
        self._followers = tuple(each for each in self._filters if each.follows)

    @property
    def is_on(self) -> bool:
        """Whether there is anything to ask."""
        return bool(self._filters)

    @property
    def follows(self) -> bool:
        """Whether a filter must be told of every end."""
        return bool(self._followers)

    @contextmanager
    def one_at_a_time(self, project_id: str, expires: float | None = None) -> Iterator[None]:
        """Two leases of one project are not checked at the same time, or both could use the same rest of a limit.

        :param expires: real instant from which nobody waits for the answer
        :raises EngineUnavailableError: others of the same project took too long
        """
        if not self._filters:
            yield
            return
        with self._lock:
            lock = self._locks[project_id]
        patience = _PATIENCE if expires is None else expires - time.time()
        if patience <= 0 or not lock.acquire(timeout=patience):
            raise EngineUnavailableError("another request of the same project is still being checked; try again")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def creation(self, context: Document, proposal: Proposal) -> Iterator[None]:
        """Ask whether a lease may be made; the block makes it.

        If the block fails, or this process ends before it is through, filters that keep count are told so.

        :raises RefusedError: it may not
        :raises EngineUnavailableError: a filter cannot tell at present
        """
        lease_id = str(proposal.lease["id"])
        counted = noted = False
        try:
            for each in self._filters:
                if each.follows and not noted:
                    with self._lock:
                        self._being_made.add(lease_id)
                        # Asked for a second time, perhaps with another answer.
                        self._not_counted.discard(lease_id)
                    noted = True
                    self._keep(Message(ASKED, message_body(lease_body(proposal.lease, proposal.allocations))))
                try:
                    each.check_create(context, proposal)
                except RefusedError:
                    raise
                except BaseException:
                    # Perhaps it has counted the lease and only its answer was lost.
                    counted = counted or each.follows
                    raise
                counted = counted or each.follows
            yield
        finally:
            if noted:
                with self._lock:
                    self._being_made.discard(lease_id)
                    if not counted:
                        self._not_counted.add(lease_id)
                self.on_settled()

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Ask whether a lease may be changed.

        :raises RefusedError: it may not
        :raises EngineUnavailableError: a filter cannot tell at present
        """
        for each in self._filters:
            each.check_update(context, change)

    def deliver(self, message: Message) -> bool:
        """Tell the filters what a message means.

        :return: whether that is done; if not, or if this raises, the same message is to come again
        """
        lease_id = str(message.payload["lease_id"])
        if message.event_type == ASKED:
            with self._lock:
                if lease_id in self._being_made:
                    return False
                counted = lease_id not in self._not_counted
            if not counted or self._is_made(lease_id):
                return True
        for each in self._followers:
            each.on_end(message.payload["lease"])
        return True

    def forget(self, message: Message) -> None:
        """A message was taken from the store."""
        if message.event_type == ASKED:
            with self._lock:
                self._not_counted.discard(str(message.payload["lease_id"]))


def message_body(lease: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a message about a lease."""
    return {"lease_id": lease["id"], "lease": dict(lease)}


def ended_message(lease: Lease, body: Mapping[str, Any]) -> Message:
    """The message that a lease is over.

    :param body: the lease as ``views.lease_body`` shows it
    """
    outcome = {
        "state": lease.state.value,
        "reason": lease.reason,
        "started_at": None if lease.started is None else blazar_date(lease.started),
        "ended_at": None if lease.ended is None else blazar_date(lease.ended),
    }
    return Message(ENDED, message_body({**body, **outcome}))
