from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import EndlessWorldError, Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


def _order(seed: int, pauses: list[int]) -> tuple[list[int], str]:
    """Let threads run that pause some times each, and return who ran when, with the digest."""
    scheduler = Scheduler(seed)
    process = Process(scheduler, "process", "host")
    order: list[int] = []

    def main(number: int) -> None:
        for _ in range(pauses[number]):
            order.append(number)
            scheduler.pause()

    for number in range(len(pauses)):
        scheduler.spawn(process, lambda number=number: main(number))  # type: ignore[misc]
    scheduler.run(1)
    return order, scheduler.trace.digest()


@settings(deadline=None)
@given(st.integers(0, 2**40), st.lists(st.integers(0, 5), max_size=6))
def test_a_seed_gives_one_order_in_which_everybody_has_their_turns(seed: int, pauses: list[int]) -> None:
    order, digest = _order(seed, pauses)
    assert [order.count(number) for number in range(len(pauses))] == pauses
    assert _order(seed, pauses) == (order, digest)


def test_seeds_differ_in_the_order() -> None:
    assert len({tuple(_order(seed, [3, 3, 3])[0]) for seed in range(20)}) > 10


def test_time_passes_only_while_all_wait(scheduler: Scheduler, start: Start) -> None:
    instants: list[float] = []

    def main() -> None:
        for _ in range(3):
            scheduler.sleep(2.5)
            instants.append(scheduler.now)

    start(main)
    scheduler.run(6.0)
    assert instants == [2.5, 5.0]
    assert scheduler.now == 6.0
    scheduler.run(2.0)
    assert instants == [2.5, 5.0, 7.5]


def test_a_woken_thread_knows_it_and_its_time_limit_means_nothing_later(scheduler: Scheduler, start: Start) -> None:
    ends: list[tuple[float, bool]] = []

    def main() -> None:
        for seconds in (10.0, 20.0):
            woken = scheduler.park(seconds)
            ends.append((scheduler.now, woken))

    process = start(main)
    scheduler.run(4.0)
    (thread,) = process.threads
    scheduler.wake(thread)
    scheduler.run(40.0)
    assert ends == [(4.0, True), (24.0, False)]


def test_callbacks_come_at_their_instants(scheduler: Scheduler) -> None:
    called: list[tuple[float, str]] = []
    scheduler.call_later(3.0, lambda: called.append((scheduler.now, "late")))
    scheduler.call_later(1.0, lambda: called.append((scheduler.now, "early")))
    scheduler.run(2.0)
    assert called == [(1.0, "early")]
    scheduler.run(2.0)
    assert called == [(1.0, "early"), (3.0, "late")]


def test_errors_of_threads_are_kept(scheduler: Scheduler, start: Start) -> None:
    def main() -> None:
        raise ValueError("in the test")

    process = start(main, "failing")
    scheduler.run(1)
    ((instant, name, error),) = scheduler.crashes
    assert (instant, name, str(error)) == (0.0, f"{process.label}#1", "in the test")


def test_nobody_outside_of_threads_can_wait(scheduler: Scheduler) -> None:
    with pytest.raises(RuntimeError, match="only a thread of the world can wait"):
        scheduler.park()


def test_threads_that_wake_each_other_forever_are_named(
    scheduler: Scheduler, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lease_scheduler.rehearsal.runtime.scheduler._ENDLESS", 100)

    def main() -> None:
        while True:
            scheduler.pause()

    process = start(main, "busy")
    with pytest.raises(EndlessWorldError, match=f"{process.label}#1"):
        scheduler.run(1)


def test_closing_ends_threads_wherever_they_wait(scheduler: Scheduler, start: Start) -> None:
    ended: list[str] = []

    def main() -> None:
        try:
            scheduler.park()
        finally:
            ended.append("waiting")

    def stubborn() -> None:
        while True:
            try:
                scheduler.park()
            except BaseException:
                if len(ended) > 5:
                    raise
                ended.append("stubborn")

    start(main)
    start(stubborn)
    scheduler.run(1)
    assert ended == []
    scheduler.close()
    assert set(ended) == {"waiting", "stubborn"}


def test_by_chance_threads_run_between_others_that_do_not_wait() -> None:
    scheduler = Scheduler(1, pauses=0.5)
    process = Process(scheduler, "process", "host")
    order: list[str] = []

    def main(name: str) -> None:
        for _ in range(20):
            scheduler.pause_by_chance()
            order.append(name)

    for name in "ab":
        scheduler.spawn(process, lambda name=name: main(name))  # type: ignore[misc]
    scheduler.run(60)
    assert order.count("a") == order.count("b") == 20
    assert "".join(order) not in ("a" * 20 + "b" * 20, "b" * 20 + "a" * 20)
