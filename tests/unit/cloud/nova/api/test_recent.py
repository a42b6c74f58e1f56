"""Recent answers that are reused."""

from __future__ import annotations

import pytest

from lease_scheduler.cloud.nova.api.recent import Recent


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recent(clock: Clock) -> Recent[str, str]:
    return Recent(3.0, clock)


def test_answer_holds_for_some_seconds(recent: Recent[str, str], clock: Clock) -> None:
    recent.put("a", "answer", recent.mark())
    clock.now += 2.9
    assert recent.get("a") == "answer"
    clock.now += 0.2
    assert recent.get("a") is None


def test_answer_does_not_outlive_a_change(recent: Recent[str, str]) -> None:
    recent.put("a", "answer", recent.mark())
    recent.put("b", "other", recent.mark())
    recent.change("a")
    assert (recent.get("a"), recent.get("b")) == (None, "other")


def test_answer_that_was_under_way_during_a_change_is_not_kept(recent: Recent[str, str]) -> None:
    mark = recent.mark()
    recent.change("a")
    recent.put("a", "of before", mark)
    assert recent.get("a") is None


def test_answer_to_a_change_is_kept(recent: Recent[str, str]) -> None:
    recent.put("a", "of before", recent.mark())
    recent.change("a", "of after", recent.mark())
    assert recent.get("a") == "of after"


def test_answers_to_changes_side_by_side_are_not_kept(recent: Recent[str, str]) -> None:
    """Either answer may lack the other's change."""
    first, second = recent.mark(), recent.mark()
    recent.change("a", "of the first", first)
    recent.change("a", "of the second", second)
    assert recent.get("a") is None


def test_all_answers_are_cleared(recent: Recent[str, str]) -> None:
    recent.put("a", "answer", recent.mark())
    recent.clear()
    assert recent.get("a") is None


def test_an_answer_is_kept_while_other_keys_change(recent: Recent[str, str]) -> None:
    """Something changes all the time while many leases start."""
    mark = recent.mark()
    recent.change("b", "other", recent.mark())
    recent.put("a", "answer", mark)
    assert (recent.get("a"), recent.get("b")) == ("answer", "other")
    recent.change("a", "of after", mark)
    assert recent.get("a") == "of after"


def test_a_change_is_known_for_longer_than_any_request_takes(recent: Recent[str, str], clock: Clock) -> None:
    mark = recent.mark()
    recent.change("a")
    clock.now += 500.0
    recent.put("a", "of before", mark)
    assert recent.get("a") is None
