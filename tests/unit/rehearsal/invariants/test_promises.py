from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.rehearsal.invariants import promises
from lease_scheduler.rehearsal.invariants.facts import (
    BreachFact,
    Facts,
    HoldingFact,
    LeaseFact,
    OperationFact,
    TransitionFact,
)
from lease_scheduler.rehearsal.story import ToldLease

_NOW = 100_000.0
_LONG = promises.SETTLING + 1.0


def _lease(lease_id: str = "l", state: str = "active", **values: Any) -> LeaseFact:
    said = {"ended": None, **values}
    return LeaseFact(lease_id, said.pop("project", "p"), said.pop("name", "work"), "immediate", state, **said)


def _facts(*leases: LeaseFact, calm_since: float | None = _LONG, **values: Any) -> Facts:
    return Facts(_NOW, calm_since, {each.lease_id: each for each in leases}, **values)


def _told(*ids: str) -> dict[str, ToldLease]:
    return {each: ToldLease(each, "p", "work", 0.0) for each in ids}


def test_a_promised_lease_exists() -> None:
    assert not list(promises.lost(_facts(_lease(), told=_told("l"))))
    (found,) = promises.lost(_facts(_lease(), told=_told("l", "another")))
    assert found.subject == "another"


def test_a_request_makes_one_lease() -> None:
    assert not list(promises.doubled(_facts(_lease("a"), _lease("b", project="q"))))
    assert not list(promises.doubled(_facts(_lease("a", is_maintenance=True), _lease("b", is_maintenance=True))))
    (found,) = promises.doubled(_facts(_lease("a"), _lease("b")))
    assert found.subject == "b"


def test_a_lease_whose_end_was_confirmed_does_not_go_on() -> None:
    assert not list(promises.revived(_facts(_lease(state="cancelled"), told_ends={"l": 1.0})))
    assert list(promises.revived(_facts(_lease(state="scheduled"), told_ends={"l": 1.0})))
    assert not list(promises.revived(_facts(_lease(), told_ends={"l": _NOW - 5.0})))


@pytest.mark.parametrize(("state", "is_late"), [("scheduled", True), ("active", True), ("done", False)])
def test_a_lease_starts_and_ends_in_time(state: str, is_late: bool) -> None:
    early, late = int(_NOW - promises.LATE) - 20, int(_NOW) - 5
    assert not list(
        promises.forgotten(_facts(_lease(state=state, holdings=[HoldingFact(late, late, late, late, "1")])))
    )
    lease = _lease(state=state, holdings=[HoldingFact(early, early, early + 9, early + 9, "1")])
    assert bool(list(promises.forgotten(_facts(lease)))) is is_late
    assert not list(promises.forgotten(_facts(lease, calm_since=None)))


def test_an_offer_that_has_expired_is_not_held() -> None:
    assert list(promises.held(_facts(_lease(state="ready", offered_until=int(_NOW) - 61))))
    assert not list(promises.held(_facts(_lease(state="ready", offered_until=int(_NOW) - 59))))
    assert not list(promises.held(_facts(_lease(state="ready", offered_until=int(_NOW) - 61), calm_since=None)))
    assert not list(promises.held(_facts(_lease(state="rejected-by-user", offered_until=int(_NOW) - 61))))


def test_operations_are_completed_in_time() -> None:
    late = OperationFact("l", "stop", int(_NOW - promises.LATE) - 1)
    assert list(promises.stuck(_facts(operations=[late])))
    assert not list(promises.stuck(_facts(operations=[late], calm_since=promises.SETTLING)))
    assert not list(promises.stuck(_facts(operations=[OperationFact("l", "stop", int(_NOW))])))


@pytest.mark.parametrize(("seconds", "is_stuck"), [(1, False), (promises.LATE + 1, True)])
def test_what_is_due_at_once_is_completed_soon_after_the_last_change(seconds: float, is_stuck: bool) -> None:
    discard, ended = OperationFact("l", "kill", 0), TransitionFact("l", int(_NOW - seconds), "active", "cancelled")
    assert bool(list(promises.stuck(_facts(operations=[discard], history=[ended])))) is is_stuck


def _history(*states: str) -> list[TransitionFact]:
    return [TransitionFact("l", 1, *pair) for pair in zip(states[::2], states[1::2], strict=True)]


def test_a_legal_history_ends_with_the_state() -> None:
    legal = _history("new", "ready", "ready", "ready", "ready", "active", "active", "done")
    assert not list(promises.illegal(_facts(_lease(state="done"), history=legal)))
    (found,) = promises.illegal(_facts(_lease(state="active"), history=legal))
    assert found.invariant == "the history tells the state"


def test_a_final_state_is_final() -> None:
    (found,) = promises.illegal(_facts(history=_history("new", "done", "done", "active")))
    assert found.invariant == "transitions are legal"


def test_a_history_has_no_gap() -> None:
    (found,) = promises.illegal(_facts(history=_history("new", "scheduled", "ready", "active")))
    assert found.invariant == "histories have no gaps"


def test_a_reservation_that_has_failed_has_a_breach() -> None:
    failed = replace(_lease(state="failed"), kind="reservation")
    assert list(promises.compensated(_facts(failed)))
    assert not list(promises.compensated(_facts(failed, breaches=[BreachFact("l", "ended-early", 1)])))
    assert not list(promises.compensated(_facts(replace(failed, offered_until=1))))
    assert not list(promises.compensated(_facts(replace(failed, state="done"))))
