from __future__ import annotations

from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.grid.post import Post


def _done(post: Post, clock: SimulatedClock) -> None:
    while (instant := post.next_instant()) is not None:
        clock.set(max(clock.now(), instant))
        post.act()


def test_messages_of_an_instant_arrive_in_order_and_before_requests() -> None:
    clock, seen = SimulatedClock(), list[str]()
    post = Post(clock)
    post.arrive(5, lambda: seen.append("request"))
    post.at(5, lambda: seen.append("first"))
    post.after(5, lambda: seen.append("second"))
    post.after(3, lambda: post.after(2, lambda: seen.append("third")))
    _done(post, clock)

    assert seen == ["first", "second", "third", "request"]
    assert clock.now() == 5


def test_what_was_cancelled_is_not_done_and_takes_no_time() -> None:
    clock, seen = SimulatedClock(), list[str]()
    post = Post(clock)
    entry = post.at(100, lambda: seen.append("cancelled"))
    post.at(1, entry.cancel)
    _done(post, clock)

    assert seen == []
    assert clock.now() == 1


def test_what_is_late_is_done_now() -> None:
    clock, seen = SimulatedClock(50), list[int]()
    post = Post(clock)
    post.at(20, lambda: seen.append(post.now()))
    _done(post, clock)

    assert seen == [50]
