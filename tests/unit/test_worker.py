"""A worker runs round after round, waits as its work says, and ends when told to."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from queue import Empty, Queue

import pytest

from lease_scheduler.worker import Worker

LIMIT = 20.0


class _Rounds:
    """Work that records its rounds and returns how long to wait."""

    def __init__(self) -> None:
        self.pause: float | None = None
        self.error: Exception | None = None
        self._done: Queue[float] = Queue()

    def __call__(self) -> float | None:
        self._done.put(time.monotonic())
        if self.error is not None:
            raise self.error
        return self.pause

    def wait(self) -> float:
        return self._done.get(timeout=LIMIT)

    def none_for(self, seconds: float) -> bool:
        try:
            self._done.get(timeout=seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def rounds() -> _Rounds:
    return _Rounds()


@pytest.fixture
def made() -> Iterator[list[Worker]]:
    workers: list[Worker] = []
    yield workers
    for worker in workers:
        worker.stop()


def test_rounds_follow_each_other_after_the_pause(rounds: _Rounds, made: list[Worker]) -> None:
    rounds.pause = 0.2
    made.append(Worker("test", rounds, LIMIT))
    made[0].start()
    first = rounds.wait()
    assert 0.19 <= rounds.wait() - first < LIMIT


def test_the_first_round_may_wait(rounds: _Rounds, made: list[Worker]) -> None:
    made.append(Worker("test", rounds, LIMIT, first=0.3))
    begun = time.monotonic()
    made[0].start()
    assert rounds.wait() - begun >= 0.29


def test_without_a_pause_it_waits_until_it_is_woken(rounds: _Rounds, made: list[Worker]) -> None:
    made.append(Worker("test", rounds, LIMIT))
    made[0].start()
    rounds.wait()
    assert rounds.none_for(0.3)
    made[0].wake()
    rounds.wait()
    assert rounds.none_for(0.3), "woken once, it does one round"


def test_woken_during_a_round_it_does_another_one(made: list[Worker]) -> None:
    begun, go_on, second = threading.Event(), threading.Event(), threading.Event()

    def work() -> float | None:
        if begun.is_set():
            second.set()
            return None
        begun.set()
        assert go_on.wait(LIMIT)
        return None

    made.append(Worker("test", work, LIMIT))
    made[0].start()
    assert begun.wait(LIMIT)
    made[0].wake()
    go_on.set()
    assert second.wait(LIMIT)


def test_an_error_is_told_and_the_round_is_tried_again(rounds: _Rounds, made: list[Worker]) -> None:
    told: list[Exception] = []
    rounds.error = ValueError("no")
    made.append(Worker("test", rounds, 0.2, told.append))
    made[0].start()
    first = rounds.wait()
    second = rounds.wait()
    assert second - first >= 0.19
    assert told[0] is rounds.error
    made[0].wake()
    rounds.wait()


def test_an_error_is_logged(rounds: _Rounds, made: list[Worker], caplog: pytest.LogCaptureFixture) -> None:
    rounds.error = ValueError("what was wrong")
    with caplog.at_level(logging.ERROR):
        made.append(Worker("test", rounds, 0.01))
        made[0].start()
        rounds.wait()
        rounds.wait()
    assert "tried again" in caplog.text
    assert "what was wrong" in caplog.text


@pytest.mark.parametrize("pause", [None, 3_600.0, 0.0])
def test_stop_ends_a_wait(rounds: _Rounds, pause: float | None) -> None:
    rounds.pause = pause
    worker = Worker("stopped", rounds, LIMIT)
    worker.start()
    rounds.wait()
    worker.stop()
    assert worker.is_stopping
    assert all(each.name != "stopped" for each in threading.enumerate())
    # Neither call does any harm then.
    worker.wake()
    worker.stop()


def test_stop_waits_for_the_round_but_not_within_one(made: list[Worker]) -> None:
    waited: list[bool] = []
    begun = threading.Event()

    def work() -> float:
        begun.set()
        waited.append(made[0].wait_for_stop(LIMIT))
        return 0.0

    made.append(Worker("test", work, LIMIT))
    made[0].start()
    assert begun.wait(LIMIT)
    made[0].wake()
    assert not waited, "to wake it cuts no such wait short"
    made[0].stop()
    assert waited == [True]


def test_the_work_may_end_the_thread(made: list[Worker]) -> None:
    done: list[int] = []

    def work() -> float:
        done.append(1)
        made[0].ask_to_stop()
        return 0.0

    made.append(Worker("test", work, LIMIT))
    made[0].start()
    made[0].join()
    assert done == [1]


def test_one_that_was_never_started_can_be_stopped(rounds: _Rounds) -> None:
    Worker("test", rounds, LIMIT).stop()
    assert rounds.none_for(0.0)
