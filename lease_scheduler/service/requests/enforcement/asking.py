"""Questions to the filters, and messages by which filters that keep count learn the outcome."""

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
from lease_scheduler.service.requests.enforcement.base import (
    Account,
    ChangeProposal,
    Proposal,
    StatesBudgets,
    UsageFilter,
)
from lease_scheduler.service.requests.enforcement.views import lease_body

#: Event type: a filter that keeps count was asked about a lease. It must be told if the lease is not made.
ASKED = f"{FOR_FILTERS}asked"
#: Event type: a lease has ended.
ENDED = f"{FOR_FILTERS}ended"

#: Maximum seconds to wait for another request of the same project, if the request itself has no limit.
_PATIENCE = 60.0


class Enforcement:
    """The enabled filters, which are asked one after the other.

    :param filters: in this order
    :param keep: stores a message, to be given to ``deliver`` until that returns True
    :param is_made: returns whether the store knows a lease of this id, live or ended
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
        # Ids of leases that are being made, and of leases that no filter has counted.
        self._being_made: set[str] = set()
        self._not_counted: set[str] = set()
        #: Called when ``deliver`` may succeed where it did not before.
        self.on_settled: Callable[[], None] = lambda: None

    def replace_filters(self, filters: Sequence[UsageFilter]) -> None:
        """Replace the filters. If a present filter follows ends, a new one must do so, too."""
        self._filters = tuple(filters)
        self._followers = tuple(each for each in self._filters if each.follows)

    @property
    def is_on(self) -> bool:
        """Whether there are filters to ask."""
        return bool(self._filters)

    @property
    def weighs_others(self) -> bool:
        """Whether a filter needs to know which other leases an extension would delay."""
        return any(getattr(each, "weighs_others", False) for each in self._filters)

    @property
    def weighs_plan(self) -> bool:
        """Whether a filter needs the account of the project, and the plan of changed leases."""
        return any(getattr(each, "weighs_plan", False) for each in self._filters)

    def statement(self, account: Account, lease: Lease | None) -> list[Document] | None:
        """Return what is left of the budgets of a project; see ``budget.BudgetFilter.statement``.

        May take long.

        :return: None if no filter has budgets
        :raises EngineUnavailableError: the limits cannot be read at present
        """
        for each in self._filters:
            if isinstance(each, StatesBudgets):
                return each.statement(account, lease)
        return None

    @property
    def follows(self) -> bool:
        """Whether a filter must be told of every end."""
        return bool(self._followers)

    @contextmanager
    def one_at_a_time(self, project_id: str, expires: float | None = None) -> Iterator[None]:
        """Let only one request of a project into the block at a time, as two could use the same rest of a limit.

        :param expires: real instant after which the caller no longer waits
        :raises EngineUnavailableError: other requests of the project took too long
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
        """Ask the filters whether a lease may be made; the block makes it.

        If the block fails or this process ends within it, filters that keep count are told.

        :raises RefusedError: a filter refuses
        :raises EngineUnavailableError: a filter cannot decide at present
        """
        lease_id = str(proposal.lease["id"])
        counted = noted = False
        try:
            for each in self._filters:
                if each.follows and not noted:
                    with self._lock:
                        self._being_made.add(lease_id)
                        # The request may be a repetition, and its answer may differ this time.
                        self._not_counted.discard(lease_id)
                    noted = True
                    self._keep(Message(ASKED, message_body(lease_body(proposal.lease, proposal.allocations))))
                try:
                    each.check_create(context, proposal)
                except RefusedError:
                    raise
                except BaseException:
                    # The filter may have counted the lease, and only its answer was lost.
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

    def check_update(self, context: Document, change: ChangeProposal, *, is_quote: bool = False) -> None:
        """Ask the filters whether a lease may be changed.

        :param is_quote: whether the change is only quoted. Filters that keep count are then not asked
        :raises RefusedError: a filter refuses
        :raises EngineUnavailableError: a filter cannot decide at present
        """
        for each in self._filters:
            if not (is_quote and each.follows):
                each.check_update(context, change)

    def deliver(self, message: Message) -> bool:
        """Tell filters that keep count that a lease has ended, or that one was asked about and not made.

        :return: whether the message is done with. If not, or after an error, deliver it again later
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
        """Note that a message was removed from the store."""
        if message.event_type == ASKED:
            with self._lock:
                self._not_counted.discard(str(message.payload["lease_id"]))


def message_body(lease: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of a message about a lease."""
    return {"lease_id": lease["id"], "lease": dict(lease)}


def ended_message(lease: Lease, body: Mapping[str, Any]) -> Message:
    """Return the message that a lease has ended.

    :param body: the lease as ``views.lease_body`` shows it
    """
    outcome = {
        "state": lease.state.value,
        "reason": lease.reason,
        "started_at": None if lease.started is None else blazar_date(lease.started),
        "ended_at": None if lease.ended is None else blazar_date(lease.ended),
    }
    return Message(ENDED, message_body({**body, **outcome}))
