"""Delivery of messages to filters, repeated across outages and restarts until they confirm."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message
from lease_scheduler.service.requests.enforcement.asking import Enforcement
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds before a failed delivery is retried: at first, and at most.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
#: Real seconds between two rounds without a wake-up.
_IDLE_PAUSE = 30.0
_BATCH = 200


class MessageStore(Protocol):
    """The part of a store that is needed here (see ``store.sql.store``)."""

    def waiting_messages(
        self, limit: int = ..., *, for_filters: bool = ..., after: int = ...
    ) -> list[tuple[int, Message]]:
        """Return waiting messages, oldest first."""
        ...

    def forget_messages(self, ids: Iterable[int]) -> None:
        """Delete messages that are done."""
        ...

    def is_mine(self) -> bool:
        """Return whether no other engine has taken over."""
        ...


class Teller(UpkeepWorker):
    """Worker that delivers messages to filters. What it leaves when it stops, the next engine delivers."""

    def __init__(self, store: MessageStore, enforcement: Enforcement) -> None:
        super().__init__("enforcement", _FIRST_PAUSE)
        self._store = store
        self._enforcement = enforcement
        self._pause = _FIRST_PAUSE
        enforcement.on_settled = self.wake

    def round(self, now: float) -> float:
        """Deliver all messages that wait."""
        try:
            succeeded = self._tell_all()
        except Exception:
            LOG.warning("the messages for filters could not be read", exc_info=True)
            succeeded = False
        if succeeded:
            self._pause = _FIRST_PAUSE
            return _IDLE_PAUSE
        # Wake-ups must not shorten the pause after a failure.
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        return FirmPause(pause)

    def _tell_all(self) -> bool:
        """Deliver all waiting messages; return whether all succeeded."""
        succeeded, last = True, 0
        while batch := self._store.waiting_messages(_BATCH, for_filters=True, after=last):
            # The messages were read before this check, so none is about a lease that another engine is making.
            if not self._store.is_mine():
                return True
            done: list[tuple[int, Message]] = []
            try:
                for message_id, message in batch:
                    if self.is_stopping:
                        return True
                    try:
                        if self._enforcement.deliver(message):
                            done.append((message_id, message))
                    except EngineUnavailableError as error:
                        LOG.warning("%s; filters will be told later which leases have ended", error)
                        return False
                    except Exception:
                        LOG.exception("lease %s: filters could not be told of its end", message.payload.get("lease_id"))
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
