from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from threading import Event

import pytest

from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, DueSubscription, SubscriptionRecord
from lease_scheduler.service.runners import ThreadRunner
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError
from lease_scheduler.service.telling.subscriptions.courier import Courier, choose
from lease_scheduler.service.telling.subscriptions.options import DeliveryOptions
from tests.servers.base import wait_until

_LIMIT = 30.0


def _due(*subscriptions: tuple[str, str, int]) -> list[DueSubscription]:
    return [DueSubscription(*each) for each in subscriptions]


def _ids(due: Collection[DueSubscription]) -> list[str]:
    return [each.subscription_id for each in due]


class TestChoose:
    def test_receivers_that_work_come_first(self) -> None:
        due = _due(("dead", "a", 3), ("new", "b", 0), ("newer", "c", 0))
        assert _ids(choose(due, {}, 2)) == ["new", "newer"]
        assert _ids(choose(due, {}, 4)) == ["new", "newer", "dead"]

    def test_those_that_failed_take_at_most_half(self) -> None:
        due = _due(*((f"dead-{number}", f"p{number}", 1) for number in range(9)))
        assert _ids(choose(due, {}, 4)) == ["dead-0", "dead-1"]
        busy = {"dead-0": due[0]}
        assert _ids(choose(due, busy, 4)) == ["dead-1"]
        assert _ids(choose([*due, *_due(("new", "b", 0))], {"dead-0": due[0], "dead-1": due[1]}, 4)) == ["new"]

    def test_a_project_takes_at_most_half(self) -> None:
        due = _due(*((f"{number}", "loud", 0) for number in range(9)), ("quiet", "b", 0))
        assert _ids(choose(due, {}, 4)) == ["0", "1", "quiet"]

    def test_none_is_served_twice_at_the_same_time(self) -> None:
        (one,) = due = _due(("one", "a", 0))
        assert choose(due, {"one": one}, 4) == []


def test_the_pause_doubles_up_to_its_maximum() -> None:
    options = DeliveryOptions(first_pause=10, longest_pause=3_600)
    assert [options.pause(failures) for failures in (1, 2, 3, 9, 10, 1_000)] == [10, 20, 40, 2_560, 3_600, 3_600]


class Store:
    """Deliveries in memory, as the database has them.

    :ivar notes: what became of attempts: subscription, failures, error
    """

    def __init__(self) -> None:
        self.waiting: dict[str, deque[Delivery]] = {}
        self.failures: dict[str, int] = {}
        self.next_attempt: dict[str, float] = {}
        self.notes: list[tuple[str, int, str]] = []
        self.is_full = False

    def add(self, subscription_id: str, *texts: str, age: int = 0) -> None:
        for text in texts:
            message = Message("lease.update", {"text": text})
            delivery = Delivery(text, subscription_id, message, int(time.time()) - age)
            self.waiting.setdefault(subscription_id, deque()).append(delivery)

    def due(self, drivers: Collection[str], now: int) -> list[DueSubscription]:
        return [
            DueSubscription(key, key, self.failures.get(key, 0))
            for key, held in self.waiting.items()
            if held and self.next_attempt.get(key, 0) <= now
        ]

    def first(self, subscription_id: str) -> tuple[SubscriptionRecord, Delivery, int] | None:
        held = self.waiting[subscription_id]
        record = SubscriptionRecord(subscription_id, "project", "user", "webhook", "https://a/", 1, secret="a")
        return (record, held[0], self.failures.get(subscription_id, 0)) if held else None

    def delivered(self, delivery: Delivery, now: int) -> None:
        if self.is_full:
            raise OSError("the disk is full")
        self.waiting[delivery.subscription_id].popleft()
        self.failures[delivery.subscription_id] = 0

    def failed(self, delivery: Delivery, failures: int, next_attempt: int, error: str) -> None:
        self.failures[delivery.subscription_id] = failures
        self.next_attempt[delivery.subscription_id] = next_attempt
        self.notes.append((delivery.subscription_id, failures, error))

    def give_up(self, delivery: Delivery, error: str) -> None:
        self.waiting[delivery.subscription_id].popleft()
        self.notes.append((delivery.subscription_id, self.failures.get(delivery.subscription_id, 0), error))


class Receivers:
    """Takes deliveries.

    :ivar got: subscription and text of what was taken, in order
    :ivar broken: subscriptions whose receivers take nothing
    :ivar hanging: subscriptions whose receivers answer only when ``goes_on`` is set; ``is_asked`` says that one waits
    """

    def __init__(self) -> None:
        self.got: list[tuple[str, str]] = []
        self.broken: set[str] = set()
        self.hanging: set[str] = set()
        self.goes_on = Event()
        self.is_asked = Event()

    def send(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        key = subscription.subscription_id
        if key in self.hanging:
            self.is_asked.set()
            assert self.goes_on.wait(_LIMIT)
        if key in self.broken:
            raise NotDeliveredError("closed")
        if delivery.delivery_id == "bug":
            raise ZeroDivisionError
        self.got.append((key, delivery.delivery_id))


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def receivers() -> Receivers:
    return Receivers()


Start = Callable[..., Courier]


@pytest.fixture
def runner() -> ThreadRunner:
    return ThreadRunner()


@pytest.fixture
def start(store: Store, receivers: Receivers, runner: ThreadRunner) -> Iterator[Start]:
    made: list[Courier] = []

    def begin(is_mine: Callable[[], bool] = lambda: True, **options: int) -> Courier:
        values = {"workers": 2, "first_pause": 1, "longest_pause": 1, **options}
        courier = Courier(store, {"webhook": receivers}, DeliveryOptions(**values), is_mine)
        runner.start([courier, *courier.hands])
        courier.wake()
        made.append(courier)
        return courier

    yield begin
    receivers.goes_on.set()
    for courier in made:
        runner.stop([courier, *courier.hands])


def test_deliveries_of_a_subscription_arrive_in_order(store: Store, receivers: Receivers, start: Start) -> None:
    store.add("one", *"abcdefgh")
    start(workers=4)
    wait_until(lambda: not store.waiting["one"], _LIMIT)
    assert receivers.got == [("one", text) for text in "abcdefgh"]


def test_nothing_overtakes_a_delivery_that_failed(store: Store, receivers: Receivers, start: Start) -> None:
    receivers.broken.add("one")
    store.add("one", "a", "b")
    start()
    wait_until(lambda: len(store.notes) >= 2, _LIMIT)
    assert store.notes[:2] == [("one", 1, "closed"), ("one", 2, "closed")]
    assert receivers.got == []
    receivers.broken.clear()
    wait_until(lambda: not store.waiting["one"], _LIMIT)
    assert receivers.got == [("one", "a"), ("one", "b")]


def test_a_receiver_that_hangs_delays_no_other(store: Store, receivers: Receivers, start: Start) -> None:
    receivers.hanging.add("slow")
    store.add("slow", "a")
    store.add("quick", "b")
    courier = start()
    wait_until(lambda: not store.waiting["quick"], _LIMIT)
    store.add("quick", "c")
    courier.wake()
    wait_until(lambda: not store.waiting["quick"], _LIMIT)
    assert receivers.got == [("quick", "b"), ("quick", "c")]
    receivers.goes_on.set()
    wait_until(lambda: not store.waiting["slow"], _LIMIT)


def test_what_is_too_old_is_given_up(store: Store, receivers: Receivers, start: Start) -> None:
    store.add("one", "old", age=100)
    store.add("one", "new")
    start(give_up_after=60)
    wait_until(lambda: not store.waiting["one"], _LIMIT)
    assert receivers.got == [("one", "new")]
    assert store.notes == [("one", 0, "lease.update was not delivered in time and is given up")]


def test_a_fault_of_ours_is_tried_again_like_any_other(store: Store, receivers: Receivers, start: Start) -> None:
    store.add("one", "bug")
    start()
    wait_until(lambda: bool(store.notes), _LIMIT)
    assert store.notes[0] == ("one", 1, "internal error (ZeroDivisionError)")


def test_what_cannot_be_noted_is_not_sent_over_and_over(store: Store, receivers: Receivers, start: Start) -> None:
    store.is_full = True
    store.add("one", "a")
    start()
    wait_until(lambda: bool(receivers.got), _LIMIT)
    time.sleep(0.5)
    assert receivers.got == [("one", "a")]


def test_an_engine_that_was_deposed_sends_nothing(
    store: Store, receivers: Receivers, start: Start, runner: ThreadRunner
) -> None:
    asked = Event()

    def is_mine() -> bool:
        asked.set()
        return False

    store.add("one", "a")
    courier = start(is_mine)
    assert asked.wait(_LIMIT)
    runner.stop([courier, *courier.hands])
    assert receivers.got == []


def test_an_engine_that_stops_does_not_wait_for_a_receiver_that_hangs(
    store: Store, receivers: Receivers, start: Start, runner: ThreadRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lease_scheduler.service.telling.subscriptions.courier._PATIENCE", 0.1)
    receivers.hanging.add("slow")
    store.add("slow", "a")
    courier = start()
    wait_until(lambda: receivers.is_asked.is_set(), _LIMIT)
    runner.stop([courier, *courier.hands])
    assert not receivers.goes_on.is_set()
    assert receivers.got == []
