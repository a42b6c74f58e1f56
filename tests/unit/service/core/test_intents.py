"""Intents of the engine: open until the cloud reports their end, which the engine learns once."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Operation, OperationKind
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.intents import Intents


class _Kept:
    def __init__(self) -> None:
        self.changes = StoreChanges(0)
        self.learnt: dict[str, Mapping[str, int]] = {}
        self.over: list[str] = []
        self.intents = Intents(7, lambda: self.changes, self.learnt.__setitem__, self.over.append)


@pytest.fixture
def kept() -> _Kept:
    return _Kept()


def _operation(kind: OperationKind = OperationKind.START, lease_id: str = "a") -> Operation:
    return Operation(kind, lease_id, (1,), 0, 0)


def _event(lease_id: str = "a") -> CloudEvent:
    return CloudEvent(EventKind.COMPLETED, 5, lease_id)


def _lease(lease_id: str, *, started: int | None = None) -> Any:
    return cast(Any, SimpleNamespace(lease_id=lease_id, started=started, is_prepared=False))


def test_a_command_is_an_intent_of_the_transaction(kept: _Kept) -> None:
    kept.intents.begin(_operation())
    kept.intents.discard("b", 0)
    assert [(each.intent_id, each.lease_id) for each in kept.changes.begun] == [(7, "a"), (8, "b")]
    assert kept.changes.begun[1].operation is None
    assert kept.intents.open_intents() == kept.changes.begun


def test_an_intent_that_is_over_is_closed_and_told(kept: _Kept) -> None:
    kept.intents.begin(_operation())
    (intent,) = kept.changes.begun
    kept.intents.report(intent, _event())
    assert kept.intents.open_intents() == [intent], "until the engine has taken note"
    assert kept.intents.take_events(5) == [_event()]
    assert (kept.changes.over, kept.over) == ([7], ["a"])
    assert not kept.intents.open_intents()
    assert not kept.intents.has_reports
    assert kept.intents.take_events(6) == []


def test_what_comes_of_an_operation_that_was_given_up_is_not_told(kept: _Kept) -> None:
    kept.intents.begin(_operation())
    kept.intents.begin(_operation(OperationKind.STOP))
    first, second = kept.changes.begun
    kept.intents.report(first, _event())
    assert kept.intents.take_events(5) == []
    assert kept.changes.over == [first.intent_id]
    kept.intents.report(second, _event())
    assert kept.intents.take_events(6) == [_event()]


def test_nobody_waits_for_an_adjustment(kept: _Kept) -> None:
    """A later intent does not replace the result of the operation before it."""
    kept.intents.begin(_operation())
    kept.intents.begin(_operation(OperationKind.ADJUST))
    first, _ = kept.changes.begun
    kept.intents.report(first, _event())
    assert kept.intents.take_events(5) == [_event()]


def test_what_happens_by_itself_is_told(kept: _Kept) -> None:
    kept.intents.report(None, _event("z"))
    assert kept.intents.take_events(5) == [_event("z")]
    assert not kept.changes.over


def test_aggregates_are_learnt_with_the_next_step(kept: _Kept) -> None:
    kept.intents.learn_aggregates("a", {"r": 3})
    assert not kept.learnt
    kept.intents.take_events(5)
    assert kept.learnt == {"a": {"r": 3}}


def test_what_hosts_have_of_leases(kept: _Kept) -> None:
    intents = kept.intents
    intents.begin(_operation())
    assert intents.has_touched("a")
    intents.begin(_operation(OperationKind.STOP))
    assert (intents.has_touched("a"), intents.is_stopping("a")) == (False, True)
    intents.forget("a")
    assert not intents.is_stopping("a")
    intents.begin(_operation())
    intents.discard("a", 0)
    assert not intents.has_touched("a")


def test_an_engine_that_takes_over_goes_on_with_what_matters(kept: _Kept) -> None:
    stop = Intent(2, "stops", _operation(OperationKind.STOP, "stops"))
    given_up, removal = Intent(3, "b", _operation(lease_id="b")), Intent(4, "b", None)
    of_nobody = Intent(1, "gone", _operation(lease_id="gone"))
    leases = {each.lease_id: each for each in (_lease("stops", started=1), _lease("b"), _lease("waits"))}
    kept.intents.restore([of_nobody, stop, given_up, removal], leases)
    assert kept.intents.open_intents() == [stop, removal]
    assert kept.changes.over == [1, 3]
    assert kept.intents.is_stopping("stops")
    assert [each for each in leases if kept.intents.has_touched(each)] == ["stops", "b"]


def test_transfers_are_taken_once(kept: _Kept) -> None:
    transfer = cast(Any, object())
    kept.intents.bring(transfer, 0)
    assert kept.intents.take_transfers() == [transfer]
    assert kept.intents.take_transfers() == []
