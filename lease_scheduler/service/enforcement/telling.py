"""Messages for filters are given to them until they have taken note, across outages and restarts."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message
from lease_scheduler.service.enforcement.asking import Enforcement
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Real seconds until what failed is tried again: at first, and at most.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
#: Real seconds between two looks if nobody wakes it.
_IDLE_PAUSE = 30.0
_BATCH = 200


class MessageStore(Protocol):
    """What is needed of a store (see ``store.sql.store``)."""

    def waiting_messages(
        self, limit: int = ..., *, for_filters: bool = ..., after: int = ...
    ) -> list[tuple[int, Message]]:
        """Messages that wait, oldest first."""
        ...

    def forget_messages(self, ids: Iterable[int]) -> None:
        """Messages that are done with."""
        ...

    def is_mine(self) -> bool:
        """Whether no other engine has taken over."""
        ...


class Teller:
    """A thread that tells filters what they must hear."""

    def __init__(self, store: MessageStore, enforcement: Enforcement) -> None:
        self._store = store
        self._enforcement = enforcement
        self._pause = _FIRST_PAUSE
        self._worker = Worker("enforcement", self._tell, _FIRST_PAUSE)
        enforcement.on_settled = self.wake
        self._worker.start()

    def wake(self) -> None:
        """Something may be there to be told."""
        self._worker.wake()

    def stop(self) -> None:
        """Tell no more; what waits is told by the next engine."""
        self._worker.stop()

    def _tell(self) -> float:
        try:
            succeeded = self._tell_all()
        except Exception:
            LOG.warning("what filters must hear could not be read", exc_info=True)
            succeeded = False
        if succeeded:
            self._pause = _FIRST_PAUSE
            return _IDLE_PAUSE
        # A filter that failed is not hurried by what else happens.
        self._worker.wait_for_stop(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return 0.0

    def _tell_all(self) -> bool:
        """Tell everything that waits; whether all went well."""
        succeeded, last = True, 0
        while batch := self._store.waiting_messages(_BATCH, for_filters=True, after=last):
            # Read before this was asked, so none of them is of a lease that another engine is making.
            if not self._store.is_mine():
                return True
            done: list[tuple[int, Message]] = []
            try:
                for message_id, message in batch:
                    if self._worker.is_stopping:
                        return True
                    try:
                        if self._enforcement.deliver(message):
                            done.append((message_id, message))
                    except EngineUnavailableError as error:
                        LOG.warning("%s; the end of leases is told later", error)
                        return False
                    except Exception:
                        LOG.exception("lease %s: its end could not be told", message.payload.get("lease_id"))
                        succeeded = False
            finally:
                self._forget(done)
            last = batch[-1][0]
        return succeeded

    def _forget(self, done: list[tuple[int, Message]]) -> None:
        if done:
            self._store.forget_messages([message_id for message_id, _ in done])
            for _, message in done:
                self._enforcement.forget(message)
