"""Messages for filters are given to them until they have taken note, across outages and restarts."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from threading import Event, Thread
from typing import Protocol

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message
from lease_scheduler.service.enforcement.asking import Enforcement

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
        self._wake = Event()
        self._stopping = Event()
        enforcement.on_settled = self.wake
        self._thread = Thread(target=self._run, name="enforcement", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something may be there to be told."""
        self._wake.set()

    def stop(self) -> None:
        """Tell no more; what waits is told by the next engine."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            # Before the look, so that what comes in the meantime causes another one.
            self._wake.clear()
            try:
                succeeded = self._tell_all()
            except Exception:
                LOG.warning("what filters must hear could not be read", exc_info=True)
                succeeded = False
            if succeeded:
                pause = _FIRST_PAUSE
                self._wake.wait(_IDLE_PAUSE)
            else:
                # Whoever failed is not hurried by what else happens.
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

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
                    if self._stopping.is_set():
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
