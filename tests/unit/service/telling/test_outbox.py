from __future__ import annotations

import logging
from typing import Any

import pytest

from lease_scheduler.records.messages import Message
from lease_scheduler.service.rounds import FirmPause
from lease_scheduler.service.telling.outbox import Outbox


class Store:
    """Messages that wait, and how often they were asked for."""

    def __init__(self, number: int) -> None:
        self.waiting = [(number, Message("lease.create", {})) for number in range(number)]
        self.reads = 0

    def waiting_messages(self, limit: int) -> list[tuple[int, Message]]:
        self.reads += 1
        return self.waiting[:limit]

    def forget_messages(self, ids: list[int]) -> None:
        self.waiting = [each for each in self.waiting if each[0] not in ids]


def _outbox(store: Any) -> tuple[Outbox, list[Message]]:
    sent: list[Message] = []
    return Outbox(store, sent.append), sent


def test_the_database_is_not_read_again_without_news() -> None:
    store = Store(2)
    outbox, sent = _outbox(store)
    assert isinstance(outbox.round(0.0), FirmPause)
    assert len(sent) == 2
    left = outbox.round(1.0)
    assert not isinstance(left, FirmPause)
    assert 0.0 < left < 60.0
    assert store.reads == 1

    store.waiting = [(7, Message("lease.end", {}))]
    outbox.wake()
    outbox.round(2.0)
    assert sent[2:] == [Message("lease.end", {})]


def test_the_database_is_read_again_after_a_while_in_any_case() -> None:
    store = Store(0)
    outbox, _ = _outbox(store)
    pause = outbox.round(0.0)
    outbox.round(pause)
    assert store.reads == 2


def test_many_notifications_are_sent_without_a_wake_up() -> None:
    store = Store(1_200)
    outbox, sent = _outbox(store)
    for second in range(3):
        outbox.round(float(second))
    assert (len(sent), store.waiting) == (1_200, [])


def test_what_could_not_be_sent_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    store = Store(1)

    def refuse(message: Message) -> None:
        raise ConnectionError("no broker")

    outbox = Outbox(store, refuse)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        for second in range(2):
            with pytest.raises(ConnectionError) as failure:
                outbox.round(float(second))
            outbox.failed(failure.value)
    assert store.reads == 2
    assert len(store.waiting) == 1
