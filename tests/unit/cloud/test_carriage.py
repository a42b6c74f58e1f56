"""Images are transferred in parallel to everything else, and a failed transfer harms no lease."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lease_scheduler.cloud.carriage import Carriage
from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress

_ORDER = ImageOrder(1, "image", frozenset({"a", "b"}), 0, 100)
_OVER = ImageProgress(frozenset({"a", "b"}), is_over=True)


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
        self.image_caches = self

    def carry(self, order: ImageOrder) -> ImageProgress:
        assert self.cleared, "what was left has to go first"
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def clear(self) -> None:
        if self.fails_to_clear:
            self.fails_to_clear -= 1
            raise ConnectionError("no cloud")
        self.cleared += 1


class _Told:
    """An order that is carried out as the test looks.

    :ivar progress: what was reported of it
    """

    def __init__(self, driver: _Driver, clock: _Clock) -> None:
        self.progress: list[ImageProgress] = []
        self._carriage = Carriage(driver, clock, self._hear, interval=1.0)  # type: ignore[arg-type]
        self._carriage.submit(_ORDER)

    @property
    def is_over(self) -> bool:
        return bool(self.progress) and self.progress[-1].is_over

    def look(self, times: int = 1) -> float | None:
        return [self._carriage.look() for _ in range(times)][-1]

    def _hear(self, order: ImageOrder, progress: ImageProgress) -> None:
        assert order is _ORDER
        self.progress.append(progress)


Begin = Callable[[_Driver], _Told]


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def begin(clock: _Clock) -> Begin:
    """Submits an order to a driver."""
    return lambda driver: _Told(driver, clock)


def test_progress_is_told_when_there_is_any(begin: Begin) -> None:
    half = ImageProgress(frozenset({"a"}))
    told = begin(_Driver(ImageProgress(), ImageProgress(), half, half, _OVER))

    assert told.look(4) == 1.0
    assert told.look() is None
    assert told.progress == [ImageProgress(), half, _OVER]


def test_what_is_over_is_not_asked_for_again(begin: Begin) -> None:
    driver = _Driver(_OVER)
    told = begin(driver)
    told.look(3)

    assert told.is_over
    assert driver.asked == 1


def test_a_refusal_is_final(begin: Begin) -> None:
    told = begin(_Driver(StepFailedError("not allowed")))
    told.look()

    assert told.progress == [ImageProgress(failed={"a": "not allowed", "b": "not allowed"}, is_over=True)]


def test_a_cloud_that_does_not_answer_is_asked_again_for_a_while(begin: Begin, clock: _Clock) -> None:
    driver = _Driver(ConnectionError("no cloud"))
    told = begin(driver)
    told.look(4)
    assert driver.asked == 4
    assert not told.progress

    clock.instant = _ORDER.due + 1_000
    told.look()

    assert told.is_over
    assert told.progress[-1].failed == {"a": "no cloud", "b": "no cloud"}


def test_a_cloud_that_answers_again_goes_on(begin: Begin) -> None:
    told = begin(_Driver(ConnectionError("no cloud"), _OVER))
    told.look(2)

    assert told.progress == [_OVER]


def test_what_was_left_is_removed_before_anything_else(begin: Begin) -> None:
    driver = _Driver(_OVER)
    driver.fails_to_clear = 3
    told = begin(driver)

    assert told.look(3) == 1.0
    assert not driver.asked
    told.look()
    assert told.is_over
    assert driver.cleared == 1
