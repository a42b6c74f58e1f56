"""Workers run in threads, or are stepped on a virtual clock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, current_thread

import pytest

from lease_scheduler.service.rounds import FirmPause, OwnThreads, UpkeepWorker
from lease_scheduler.service.runners import SteppedRunner, ThreadRunner

_LIMIT = 60


class _Worker(UpkeepWorker):
    """Notes its rounds; each returns the next of some pauses, or the last one.

    :param pauses: an error is raised instead of returned
    """

    def __init__(
        self, name: str, *pauses: float | Exception | None, first: float = 0.0, has_rounds: bool = True
    ) -> None:
        super().__init__(name, 7.0, first)
        self._pauses = list(pauses)
        self._has_rounds = has_rounds
        self.rounds: list[float] = []
        self.during: Callable[[], None] = lambda: None
        self.is_cleaned = False

    def prepare(self) -> bool:
        return self._has_rounds

    def round(self, now: float) -> float | None:
        self.rounds.append(now)
        self.during()
        pause = self._pauses.pop(0) if len(self._pauses) > 1 else self._pauses[0]
        if isinstance(pause, Exception):
            raise pause
        return pause

    def ended(self) -> None:
        self.is_cleaned = True


def _step(*workers: _Worker, until: int) -> SteppedRunner:
    runner = SteppedRunner()
    runner.start(workers)
    for now in range(until):
        runner.step(now)
    return runner


def test_rounds_are_done_when_they_are_due() -> None:
    worker = _Worker("a", 3.0, first=2.0)
    runner = _step(worker, until=10)
    assert worker.rounds == [2, 5, 8]
    assert runner.next_due() == 11


def test_a_worker_without_rounds_is_never_due() -> None:
    runner = _step(_Worker("a", 1.0, has_rounds=False), until=2)
    assert runner.next_due() is None


def test_workers_are_stepped_in_the_order_of_the_list_until_none_is_due() -> None:
    order: list[str] = []
    first, second = _Worker("first", None), _Worker("second", None)

    def of_second() -> None:
        order.append("second")
        if len(order) == 2:
            first.wake()

    first.during, second.during = lambda: order.append("first"), of_second
    _step(first, second, until=1)
    assert order == ["first", "second", "first"]


def test_a_wake_up_causes_a_round_at_once_even_before_the_start() -> None:
    worker = _Worker("a", 100.0, first=50.0)
    worker.wake()
    runner = _step(worker, until=1)
    worker.wake()
    runner.step(4)
    assert worker.rounds == [0, 4]


def test_a_wake_up_does_not_shorten_a_firm_pause() -> None:
    worker = _Worker("a", FirmPause(5.0), None)
    runner = _step(worker, until=1)
    worker.wake()
    for now in range(1, 8):
        runner.step(now)
    assert worker.rounds == [0, 5]


def test_a_round_that_fails_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    worker = _Worker("a", OSError("no answer"), None)
    with caplog.at_level(logging.ERROR):
        _step(worker, until=20)
    assert worker.rounds == [0, 7]
    assert "a round of a has failed" in caplog.text


def test_a_worker_that_stops_itself_has_no_further_round() -> None:
    worker = _Worker("a", 1.0)
    worker.during = worker.ask_to_stop
    assert _step(worker, until=5).next_due() is None
    assert worker.rounds == [0]


def test_workers_that_wake_each_other_for_ever_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lease_scheduler.service.runners._ENDLESS", 10)
    with pytest.raises(RuntimeError, match="more than 10 rounds at 0"):
        _step(_Worker("a", 0.0), until=1)


def test_what_is_stopped_is_cleaned_up_and_stepped_no_more() -> None:
    worker = _Worker("a", 1.0)
    runner = _step(worker, until=1)
    runner.stop([worker])
    runner.step(5)
    assert worker.rounds == [0]
    assert worker.is_cleaned
    assert worker.is_stopping


def test_each_worker_has_a_thread_with_its_name() -> None:
    names: list[str] = []
    done = Event()
    worker = _Worker("counts", None)

    def note() -> None:
        names.append(current_thread().name)
        done.set()

    worker.during = note
    runner = ThreadRunner()
    runner.start([worker])
    assert done.wait(_LIMIT)
    done.clear()
    worker.wake()
    assert done.wait(_LIMIT)
    runner.stop([worker])
    assert set(names) == {"counts"}
    assert worker.is_cleaned


def test_all_workers_are_prepared_before_a_thread_begins() -> None:
    seen: list[bool] = []
    first, second = _Worker("first", None), _Worker("second", None)
    is_prepared = Event()
    done = Event()

    def note() -> None:
        seen.append(is_prepared.is_set())
        done.set()

    def prepare() -> bool:
        is_prepared.set()
        return False

    first.during = note
    second.prepare = prepare  # type: ignore[method-assign]
    runner = ThreadRunner()
    runner.start([first, second])
    assert done.wait(_LIMIT)
    runner.stop([first, second])
    assert seen == [True]


def test_a_stop_ends_a_firm_pause() -> None:
    worker, paused = _Worker("a", FirmPause(10_000.0)), Event()
    worker.during = paused.set
    runner = ThreadRunner()
    runner.start([worker])
    assert paused.wait(_LIMIT)
    runner.stop([worker])
    assert len(worker.rounds) == 1


def test_a_worker_with_threads_of_its_own_gets_none() -> None:
    calls: list[str] = []

    class Threads:
        def start(self) -> None:
            calls.append("start")

        def ask_to_stop(self) -> None:
            calls.append("ask")

        def join(self) -> None:
            calls.append("join")

    class Own(_Worker):
        def own_threads(self) -> OwnThreads:
            return Threads()

    worker, runner = Own("own", None), ThreadRunner()
    runner.start([worker])
    runner.stop([worker])
    assert calls == ["start", "ask", "join"]
    assert worker.rounds == []
