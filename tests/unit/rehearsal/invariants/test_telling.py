from __future__ import annotations

from lease_scheduler.rehearsal.disturbances import Disturbance
from lease_scheduler.rehearsal.invariants import telling
from lease_scheduler.rehearsal.invariants.facts import Facts, SentFact, TransitionFact
from lease_scheduler.rehearsal.invariants.promises import SETTLING

_STEPS = [(10, "new", "ready"), (20, "ready", "active"), (30, "active", "done")]


def _broken(*sent: int, calm: float = 100.0, host: str = "") -> list[str]:
    """Return what is broken if these of the steps were sent, in this order, and something went wrong until it was calm.

    :param host: the only host that it was about; empty if it was felt everywhere
    """
    facts = Facts(
        1_000.0,
        None,
        disturbances=[Disturbance("rain", 0.0, calm, host)],
        history=[TransitionFact("l", *each) for each in _STEPS],
        sent=[SentFact("l", *_STEPS[number]) for number in sent],
    )
    return [each.invariant for each in telling.untold(facts)]


def test_all_transitions_are_told_in_order() -> None:
    assert _broken(0, 1, 2) == []
    assert _broken(0, 2, 1) == ["notifications are in order"]


def test_they_may_be_told_again() -> None:
    assert _broken(0, 1, 0, 1, 2) == []


def test_a_transition_that_is_not_told_is_found_when_all_have_settled() -> None:
    assert _broken(0, 1) == ["every transition is told"]
    assert _broken(0, 1, calm=821.0) == []
    assert _broken(0, 1, calm=819.0) == ["every transition is told"]
    assert _broken(0, 1, calm=1_000.0, host="compute-1") == ["every transition is told"]


def test_one_that_is_left_out_is_found_at_once() -> None:
    assert _broken(0, 2, calm=1_000.0) == ["notifications are in order"]


def test_what_is_new_has_time_until_it_is_told() -> None:
    new = Facts(31.0, SETTLING + 1, history=[TransitionFact("l", *_STEPS[2])])
    assert not list(telling.untold(new))


def test_changes_of_other_things_are_no_transitions() -> None:
    assert not list(telling.untold(Facts(1_000.0, SETTLING + 1, history=[TransitionFact("l", 1, "ready", "ready")])))


def test_notifications_do_not_wait() -> None:
    assert not list(telling.waiting(Facts(1_000.0, SETTLING + 1, waiting=[950])))
    assert list(telling.waiting(Facts(1_000.0, SETTLING + 1, waiting=[990, 900])))
    assert not list(telling.waiting(Facts(1_000.0, SETTLING, waiting=[900])))
