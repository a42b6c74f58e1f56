from __future__ import annotations

import pytest

from lease_scheduler.federation.members import Arrivals, Events, MemberDescription, MemberTransition, Verb
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState


def _transition(sequence: int) -> MemberTransition:
    return MemberTransition(sequence, "1", 100, LeaseState.ACTIVE)


def test_events_are_asked_for_after_the_latest_one() -> None:
    assert Events(3).latest == 3
    assert Events(3, (_transition(4), _transition(9))).latest == 9
    assert Events(3, (_transition(4),), up_to=7).latest == 7
    assert Events(3, up_to=7).latest == 7


@pytest.mark.parametrize(
    ("numbers", "message"), [((3,), "events: have 3 after 3; sequence"), ((5, 4), "events: have 4 after 5; sequence")]
)
def test_events_whose_numbers_do_not_increase_are_refused(numbers: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Events(3, tuple(map(_transition, numbers)))


@pytest.mark.parametrize("missing", [Verb.HOLD, Verb.ACCEPT, Verb.REJECT])
def test_a_member_holds_leases_only_if_holds_can_be_accepted_and_given_back(missing: Verb) -> None:
    assert MemberDescription(Resources({VCPU: 1})).can_hold
    assert not MemberDescription(Resources({VCPU: 1}), frozenset(Verb) - {missing}).can_hold


@pytest.mark.parametrize(
    ("rate", "work", "squares", "message"),
    [
        (-1.0, {}, {}, "rate: must be finite and at least 0, not -1"),
        (1.0, {VCPU: float("inf")}, {VCPU: 1.0}, "work: must be finite and at least 0, not inf"),
        (1.0, {VCPU: 1.0}, {VCPU: float("nan")}, "squares: must be finite and at least 0, not nan"),
        (1.0, {VCPU: 1.0}, {}, "squares: must have the classes of work: VCPU"),
    ],
)
def test_a_load_that_cannot_be_is_refused(
    rate: float, work: dict[str, float], squares: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Arrivals(rate, work, squares)


def test_a_member_has_a_speed() -> None:
    with pytest.raises(InvalidValueError, match="speed: must be more than 0, not 0"):
        MemberDescription(Resources({VCPU: 1}), speed=0)


def test_a_member_has_looked_at_least_as_far_as_its_last_transition() -> None:
    with pytest.raises(InvalidValueError, match="up_to: must be at least 4"):
        Events(3, (_transition(4),), up_to=3)
