"""Orders of one lease are carried out one at a time, and nothing waits for what does not matter any more."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.executor import Executor, ThreadedExecutor
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.documents import LeaseDocument
from tests.servers.base import wait_until

_LIMIT = 10.0
_TWENTY = range(1, 21)


class Clock:
    """Waits for an hour, whatever the requested time."""

    def now(self) -> int:
        return 0

    def seconds_until(self, instant: int) -> float:
        return 3600.0


class SlowDriver:
    """Only records its calls; a step that has to be waited for ends when a test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str]] = []
        self.is_over = Event()
        self.fails = False
        #: Whether the end of an order is recorded at once.
        self.is_written = True
        self.during_first: Callable[[], None] = lambda: None

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        return ("discard",) if isinstance(order, Removal) else ("wait", "finish")

    def perform(self, order: AnyOrder, step: str) -> int | None:
        self.asked.append((order.intent_id, step))
        if self.fails:
            raise StepFailedError("broken", "host")
        waits = step == "wait" and not self.is_over.is_set() and order.intent_id == 1
        if len(self.asked) == 1:
            self.during_first()
        return 1 if waits else None


@pytest.fixture
def driver() -> SlowDriver:
    return SlowDriver()


@pytest.fixture
def over() -> list[tuple[int, str | None]]:
    return []


@pytest.fixture
def executor(driver: SlowDriver, over: list[tuple[int, str | None]]) -> Iterator[Executor]:
    def note(order: AnyOrder, error: StepFailedError | None) -> None:
        over.append((order.intent_id, None if error is None else str(error)))
        if driver.is_written:
            made.written([order.intent_id])

    made = ThreadedExecutor(driver, Clock(), lambda reached: None, note, 4)  # type: ignore[arg-type]
    yield made
    made.stop()


def order(number: int, kind: OperationKind | None, lease_id: str = "lease", host: str = "host-1") -> AnyOrder:
    if kind is None:
        return Removal(number, lease_id)
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({"VCPU": 1})),), 0)
    document = LeaseDocument(lease_id, "lease", "project", "user", 0)
    return Order(number, lease_id, Operation(kind, lease_id, (1,), 0, 0), (host,), request, document)


def test_an_order_waits_for_the_one_before(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]]
) -> None:
    executor.submit(order(1, OperationKind.SUSPEND))
    assert wait_until(lambda: (1, "wait") in driver.asked, _LIMIT)
    executor.submit(order(2, OperationKind.RESUME))
    time.sleep(0.2)
    assert (over, executor.is_busy("lease")) == ([], True)
    driver.is_over.set()
    executor.ask_again("lease", None)
    assert wait_until(lambda: [number for number, _ in over] == [1, 2], _LIMIT)
    assert driver.asked[-3:] == [(1, "finish"), (2, "wait"), (2, "finish")]


def test_an_order_waits_until_the_end_of_the_one_before_is_written(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]]
) -> None:
    """Otherwise, after a crash, the last step of the first order would be repeated and undo the second order."""
    driver.is_written = False
    executor.submit(order(1, None))
    executor.submit(order(2, OperationKind.START))
    assert wait_until(lambda: over == [(1, None)], _LIMIT)
    time.sleep(0.2)
    assert (driver.asked, executor.is_busy("lease")) == ([(1, "discard")], True)
    executor.written([1])
    assert wait_until(lambda: over == [(1, None), (2, None)], _LIMIT)
    assert not executor.is_busy("lease")
    executor.written([2, 7])
    executor.submit(order(3, OperationKind.SUSPEND))
    assert wait_until(lambda: over[2:] == [(3, None)], _LIMIT)


@pytest.mark.parametrize(
    ("first", "second"),
    [(OperationKind.SUSPEND, None), (OperationKind.ADJUST, OperationKind.STOP), (OperationKind.ADJUST, None)],
)
def test_what_does_not_matter_any_more_is_given_up(
    driver: SlowDriver,
    executor: Executor,
    over: list[tuple[int, str | None]],
    first: OperationKind,
    second: OperationKind | None,
) -> None:
    """A lease whose change fails because its new host is not free ends all the same."""
    executor.submit(order(1, first))
    assert wait_until(lambda: (1, "wait") in driver.asked, _LIMIT)
    executor.submit(order(2, second))
    assert wait_until(lambda: [number for number, _ in over] == [1, 2], _LIMIT)
    assert (1, "finish") not in driver.asked


@pytest.mark.parametrize(("lease_id", "host"), [("lease", None), (None, "host-1"), ("other", "host-1")])
def test_what_is_waited_for_is_looked_at_when_something_happened(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]], lease_id: str | None, host: str | None
) -> None:
    executor.submit(order(1, OperationKind.SUSPEND))
    assert wait_until(lambda: (1, "wait") in driver.asked, _LIMIT)
    executor.ask_again("other", "host-2")
    time.sleep(0.2)
    assert over == []
    driver.is_over.set()
    executor.ask_again(lease_id, host)
    assert wait_until(lambda: over == [(1, None)], _LIMIT)


def test_what_happens_during_a_look_is_not_missed(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]]
) -> None:
    """The answer to the poll may describe an earlier state; the next poll would be an hour later."""

    def happen() -> None:
        driver.is_over.set()
        executor.ask_again("lease", None)

    driver.during_first = happen
    executor.submit(order(1, OperationKind.SUSPEND))
    assert wait_until(lambda: over == [(1, None)], _LIMIT)
    assert driver.asked == [(1, "wait"), (1, "wait"), (1, "finish")]


def test_what_happens_between_a_look_and_the_wait_is_not_missed(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds_until(clock: Clock, instant: int) -> float:
        driver.is_over.set()
        executor.ask_again("lease", None)
        return 3600.0

    monkeypatch.setattr(Clock, "seconds_until", seconds_until)
    executor.submit(order(1, OperationKind.SUSPEND))
    assert wait_until(lambda: over == [(1, None)], _LIMIT)


def test_leases_do_not_wait_for_each_other(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]]
) -> None:
    executor.submit(order(1, OperationKind.SUSPEND))
    executor.submit(order(2, OperationKind.START, "another"))
    assert wait_until(lambda: over == [(2, None)], _LIMIT)


def test_a_step_that_fails_ends_its_order(
    driver: SlowDriver, executor: Executor, over: list[tuple[int, str | None]]
) -> None:
    driver.fails = True
    executor.submit(order(1, OperationKind.START))
    assert wait_until(lambda: over == [(1, "broken")], _LIMIT)
    assert not executor.is_busy("lease")


class FailingDriver(SlowDriver):
    """Does not answer at all for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = True

    def perform(self, order: AnyOrder, step: str) -> int | None:
        self.asked.append((order.intent_id, step))
        if self.is_away:
            raise ConnectionError("nobody answers")
        return None

    def times(self) -> list[int]:
        """Return how often it was asked to perform a step of each of twenty orders, the most first."""
        asked = Counter(each for each, _ in self.asked)
        return sorted((asked[number] for number in _TWENTY), reverse=True)


def _twenty_fail(over: list[tuple[int, str | None]]) -> tuple[FailingDriver, Executor]:
    """Submit orders that fail at the same time; whichever five of them fail first are those that are tried often."""
    driver = FailingDriver()
    executor = ThreadedExecutor(
        driver,  # type: ignore[arg-type]
        Clock(),
        lambda reached: None,
        lambda order, error: over.append((order.intent_id, None if error is None else str(error))),
        4,
    )
    for number in _TWENTY:
        executor.submit(order(number, OperationKind.START, f"lease-{number}"))
    return driver, executor


def test_a_few_orders_try_often_while_the_cloud_is_away_all_others_less_and_less_often(
    over: list[tuple[int, str | None]],
) -> None:
    driver, executor = _twenty_fail(over)

    def five_are_ahead() -> bool:
        times = driver.times()
        # With equal pauses, none would ever be more than one attempt ahead.
        return times[4] >= times[5] + 2 >= 4

    try:
        assert wait_until(five_are_ahead, 60.0), driver.asked
    finally:
        executor.stop()


def test_all_that_failed_is_tried_as_soon_as_the_cloud_answers(
    over: list[tuple[int, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lease_scheduler.cloud.executor._FIRST_PAUSE", 3_600.0)
    monkeypatch.setattr(Executor._run, "__defaults__", (3_600.0,))
    driver, executor = _twenty_fail(over)
    try:
        assert wait_until(lambda: (times := driver.times())[4:] == [times[4]] + 15 * [1] and times[4] > 1, 60.0)
        driver.is_away = False
        # All but the few would wait for an hour.
        assert wait_until(lambda: len(over) == 20, 60.0), over
    finally:
        executor.stop()
