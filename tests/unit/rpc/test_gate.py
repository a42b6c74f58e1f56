"""A stuck engine does not block all threads that call it; a busy one serves every request."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.rpc.gate import Gate
from tests.servers.base import wait_until


def test_a_stuck_engine_keeps_a_limited_number_of_requests_waiting() -> None:
    """As many requests wait as there are places; the others are refused, later ones at once."""
    gate, release = Gate(2, silence=0.3), Event()

    def ask() -> float:
        begun = time.monotonic()
        try:
            with gate.turn(60):
                release.wait(60)
        except EngineUnavailableError:
            return time.monotonic() - begun
        return -1

    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(ask) for _ in range(6)]
        assert wait_until(lambda: sum(each.done() for each in asked) == 4, 10)
        assert 0 <= pool.submit(ask).result(10) < 0.25, "the engine is known to be stuck by now"
        release.set()
        assert sorted(each.result() for each in asked)[:2] == [-1, -1]


def test_a_busy_engine_answers_every_request() -> None:
    """It answers one after the other, so every request gets its turn, however many there are."""
    gate = Gate(2, silence=2.0)

    def ask(_: int) -> None:
        with gate.turn(60):
            time.sleep(0.1)
            gate.answered()

    with ThreadPoolExecutor(80) as pool:
        list(pool.map(ask, range(80)))


def test_silence_before_the_first_request_does_not_count() -> None:
    gate = Gate(1, silence=0.1)
    time.sleep(0.3)
    with gate.turn(1):
        pass
    with pytest.raises(EngineUnavailableError, match="1 requests wait"), gate.turn(1), gate.turn(1):
        pass
