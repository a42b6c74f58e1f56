"""Images are transferred in parallel to everything else, and a failed transfer harms no lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from lease_scheduler.cloud.carriage import Carriage
from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from tests.servers.base import wait_until

_ORDER = ImageOrder(1, "image", frozenset({"a", "b"}), 0, 100)
_OVER = ImageProgress(frozenset({"a", "b"}), is_over=True)
_LIMIT = 10.0


class _Clock:
    def __init__(self) -> None:
        self.instant = 0

    def now(self) -> int:
        return self.instant

    def seconds_until(self, instant: int) -> float:
        return 0.0


class _Driver:
    """Gives the answers that a test sets, and repeats the last one."""

    def __init__(self, *answers: ImageProgress | Exception) -> None:
        self.answers = list(answers)
        self.cleared = 0
        self.fails_to_clear = 0
        self.asked = 0

    def carry(self, order: ImageOrder) -> ImageProgress:
        assert self.cleared, "what was left has to go first"
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def clear_carried(self) -> None:
        if self.fails_to_clear:
            self.fails_to_clear -= 1
            raise ConnectionError("no cloud")
        self.cleared += 1


Begin = Callable[[_Driver], tuple[list[ImageProgress], Event]]


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def begin(clock: _Clock) -> Iterator[Begin]:
    """Carries out an order; returns what is reported of it, and an event that is set when it is over."""
    made: list[Carriage] = []

    def make(driver: _Driver) -> tuple[list[ImageProgress], Event]:
        told: list[ImageProgress] = []
        over = Event()

        def hear(order: ImageOrder, progress: ImageProgress) -> None:
            assert order is _ORDER
            told.append(progress)
            if progress.is_over:
                over.set()

        made.append(Carriage(driver, clock, hear, interval=0.01))  # type: ignore[arg-type]
        made[-1].submit(_ORDER)
        made[-1].start()
        return told, over

    yield make
    for carriage in made:
        carriage.stop()


def test_progress_is_told_when_there_is_any(begin: Begin) -> None:
    half = ImageProgress(frozenset({"a"}))
    told, over = begin(_Driver(ImageProgress(), ImageProgress(), half, half, _OVER))

    assert over.wait(_LIMIT)
    assert told == [ImageProgress(), half, _OVER]


def test_what_is_over_is_not_asked_for_again(begin: Begin) -> None:
    driver = _Driver(_OVER)
    _, over = begin(driver)

    assert over.wait(_LIMIT)
    assert not wait_until(lambda: driver.asked > 1, 0.1)


def test_a_refusal_is_final(begin: Begin) -> None:
    told, over = begin(_Driver(StepFailedError("not allowed")))

    assert over.wait(_LIMIT)
    assert told == [ImageProgress(failed={"a": "not allowed", "b": "not allowed"}, is_over=True)]


def test_a_cloud_that_does_not_answer_is_asked_again_for_a_while(begin: Begin, clock: _Clock) -> None:
    driver = _Driver(ConnectionError("no cloud"))
    told, over = begin(driver)
    assert wait_until(lambda: driver.asked > 3, _LIMIT)
    assert not told

    clock.instant = _ORDER.due + 1_000

    assert over.wait(_LIMIT)
    assert told[-1].failed == {"a": "no cloud", "b": "no cloud"}


def test_a_cloud_that_answers_again_goes_on(begin: Begin) -> None:
    told, over = begin(_Driver(ConnectionError("no cloud"), _OVER))

    assert over.wait(_LIMIT)
    assert told == [_OVER]


def test_what_was_left_is_removed_before_anything_else(begin: Begin) -> None:
    driver = _Driver(_OVER)
    driver.fails_to_clear = 3
    _, over = begin(driver)

    assert over.wait(_LIMIT)
    assert driver.cleared == 1
