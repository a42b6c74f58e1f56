from __future__ import annotations

from lease_scheduler.service.gateway.breaker import Breaker, Condition, Reachability


class Now:
    """An instant that is moved."""

    def __init__(self) -> None:
        self.instant = 100

    def __call__(self) -> int:
        return self.instant


def test_a_member_that_answers_now_and_then_is_called_each_time() -> None:
    breaker = Breaker(Now(), most=2)
    for is_answered in (False, True, False, True, False):
        assert breaker.lets_through()
        breaker.note(is_answered=is_answered)
    assert breaker.lets_through()


def test_a_member_that_never_answers_is_left_alone_and_then_tried_once() -> None:
    now = Now()
    breaker = Breaker(now, most=2, pause=30)
    for _ in range(2):
        assert breaker.lets_through()
        breaker.note(is_answered=False)
    assert not breaker.lets_through()
    now.instant += 30
    assert breaker.lets_through()
    assert not breaker.lets_through()
    breaker.note(is_answered=True)
    assert breaker.lets_through()
    assert breaker.lets_through()


def test_another_pause_follows_a_trial_without_an_answer() -> None:
    now = Now()
    breaker = Breaker(now, most=1, pause=30)
    breaker.note(is_answered=False)
    now.instant += 30
    assert breaker.lets_through()
    breaker.note(is_answered=False)
    now.instant += 29
    assert not breaker.lets_through()
    now.instant += 1
    assert breaker.lets_through()


def test_how_a_member_answers_is_told_with_its_last_answer() -> None:
    now = Now()
    breaker = Breaker(now, most=2, pause=30)
    assert breaker.reachability() == Reachability(Condition.UNKNOWN, None)
    breaker.note(is_answered=True)
    assert breaker.reachability() == Reachability(Condition.ANSWERING, 100)
    now.instant += 10
    breaker.note(is_answered=False)
    assert breaker.reachability() == Reachability(Condition.FAILING, 100)
    breaker.note(is_answered=False)
    assert breaker.reachability() == Reachability(Condition.PAUSED, 100)
    now.instant += 30
    assert breaker.reachability() == Reachability(Condition.FAILING, 100)
    breaker.note(is_answered=True)
    assert breaker.reachability() == Reachability(Condition.ANSWERING, 140)
