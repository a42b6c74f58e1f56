from __future__ import annotations

import json
import time
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
import requests

from lease_scheduler.rehearsal.actors.bookings import BOOKINGS, Desk
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.story import Ledger, Story


class _Service:
    """A service that gives the next answer to each request: a status, or None for no answer."""

    nova: Any = None

    def __init__(self, *answers: int | None) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, str, Any]] = []

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        self.asked.append((method, path, body))
        status = self._answers.pop(0)
        if status is None:
            raise requests.ConnectionError
        answer = requests.Response()
        answer.status_code = status
        answer._content = json.dumps({"lease": {"id": (body or {}).get("id", "")}}).encode()
        return answer


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def _desk(service: _Service) -> Desk:
    scheduler = Scheduler(1)
    return Desk(service, "physics", Random(1), Story(scheduler), Ledger(scheduler))


def test_a_request_without_an_answer_is_sent_again_unchanged() -> None:
    service = _Service(None, 503, 201)
    desk = _desk(service)
    BOOKINGS["book"][0](desk)
    first, *others = service.asked
    assert others == [first, first]
    assert list(desk.ledger.leases) == desk.mine == [first[2]["id"]]


def test_nothing_is_promised_by_a_refusal_or_by_silence() -> None:
    for answers in ((409,), (None,) * 6):
        desk = _desk(_Service(*answers))
        BOOKINGS["book"][0](desk)
        assert not desk.ledger.leases
        assert not desk.mine


def test_an_end_counts_only_if_it_is_confirmed() -> None:
    desk = _desk(_Service(201, 500, 204))
    BOOKINGS["book"][0](desk)
    BOOKINGS["delete"][0](desk)
    assert desk.mine
    assert not desk.ledger.ended
    BOOKINGS["delete"][0](desk)
    assert not desk.mine
    assert desk.ledger.ended


def test_no_two_requests_have_the_same_name() -> None:
    desk = _desk(_Service())
    assert len({desk.terms()["name"] for _ in range(100)}) == 100
