"""Records of negotiations in all stages survive being stored as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.federation.answers import Alternative, Bid, FederationReason, Refusal, Released
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.advance import advance, begin
from lease_scheduler.federation.negotiation.calls import Choose, due
from lease_scheduler.federation.negotiation.events import Answered, ChangeWanted, Chosen, EndWanted
from lease_scheduler.federation.negotiation.record import (
    Attempt,
    AttemptState,
    Candidate,
    Mode,
    Negotiation,
    Rules,
    Stage,
)
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import Boot, DiskImage, NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.records.json_text import from_json, to_json
from lease_scheduler.records.negotiations import as_document, restored

_TEXTS = st.text("abc ä", min_size=1, max_size=6)
_INSTANTS = st.integers(0, 2**40)
_AMOUNTS = st.builds(Resources, st.dictionaries(st.sampled_from([VCPU, "MEMORY_MB", "CUSTOM_X"]), st.integers(1, 99)))
_SOME = _AMOUNTS.filter(bool)
_GROUPS = st.lists(st.builds(ProviderGroup, _SOME, st.frozensets(_TEXTS, max_size=2)), max_size=2).map(tuple)
_NODES = st.builds(
    NodeSet,
    st.integers(1, 9),
    _SOME,
    st.frozensets(_TEXTS, max_size=3),
    st.none() | st.frozensets(_TEXTS, max_size=2),
    st.none() | st.integers(1, 3),
    st.lists(st.builds(Boot, st.none() | st.builds(DiskImage, _TEXTS, st.integers(1, 9))), max_size=1).map(tuple),
    st.none(),
    _GROUPS,
)
_TERMS = st.builds(
    LeaseRequest,
    st.uuids().map(str),
    st.just(LeaseKind.RESERVATION),
    st.lists(_NODES, max_size=2).map(tuple),
    st.just(5),
    st.integers(1, 10_000),
    _INSTANTS,
    preemptible=st.booleans(),
    preemption_mode=st.sampled_from(PreemptionMode),
    max_price=st.none() | st.floats(0, 1e6),
    extras=st.dictionaries(_TEXTS, _TEXTS, max_size=2),
    origin=st.none() | _TEXTS,
)
_ASKS = st.builds(
    Ask,
    _TERMS,
    st.integers(5, 2**40),
    st.lists(_TEXTS, unique=True, max_size=3).map(tuple),
    st.builds(OnBehalfOf, _TEXTS, st.none() | _TEXTS, st.none() | _TEXTS),
    st.dictionaries(_TEXTS, _TEXTS, max_size=2),
) | st.builds(Ask, _TERMS, st.integers(5, 2**40))
_REASONS = st.sampled_from([*RefusalReason, *FederationReason])
_REFUSALS = st.builds(
    Refusal,
    _TEXTS,
    _REASONS,
    _TEXTS,
    st.lists(
        st.builds(Alternative, _TEXTS, _INSTANTS, _INSTANTS, st.integers(1, 9), st.none() | st.floats(0, 9)), max_size=2
    ).map(tuple),
)
_BIDS = st.builds(
    lambda member, start, more, price, survival, preempts, until: Bid(
        member,
        "id",
        start,
        None if start is None else start + more,
        price,
        survival,
        preempts,
        until,
    ),
    _TEXTS,
    st.none() | _INSTANTS,
    st.integers(1, 9_999),
    st.none() | st.floats(0, 1e6),
    st.floats(0, 1),
    st.integers(0, 9),
    st.none() | _INSTANTS,
)
_ATTEMPTS = st.builds(
    Attempt,
    _TEXTS,
    st.sampled_from(AttemptState),
    st.none() | _INSTANTS,
    st.none() | _BIDS,
    st.none() | _REFUSALS,
    st.booleans(),
)
_RECORDS = st.builds(
    Negotiation,
    _ASKS,
    st.lists(st.builds(Candidate, _TEXTS, st.booleans()), max_size=3).map(tuple),
    st.sampled_from(Mode),
    st.just(Rules("gateway")),
    st.booleans(),
    st.lists(_ATTEMPTS, max_size=3).map(tuple),
    st.booleans(),
    st.booleans(),
    st.none() | _ASKS,
    st.none() | _REFUSALS,
    st.none() | st.sampled_from(Stage),
    _TEXTS,
)


def _through_json(record: Negotiation) -> Negotiation:
    return restored(from_json(to_json(as_document(record))))


@given(_RECORDS)
def test_any_record_equals_what_is_restored_from_its_json(record: Negotiation) -> None:
    assert _through_json(record) == record


def _bid(member: str, lease_id: str, held_until: int | None) -> Bid:
    return Bid(member, lease_id, 1_000, 1_500, held_until=held_until)


@pytest.mark.parametrize("mode", Mode)
def test_all_stages_of_a_lease_survive(mode: Mode) -> None:
    terms = LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(1, Resources({VCPU: 1})),), 0, 500, 1_000)
    record = begin(Ask(terms, 200), [Candidate("a"), Candidate("b")], mode, Rules("g", hold_time=100), 0)
    assert isinstance(record, Negotiation)
    seen = set()
    for event in (None, ChangeWanted(terms), None, EndWanted()):
        if event is not None:
            record = advance(record, event, 1)
        while True:
            assert _through_json(record) == record
            seen.add(record.stage)
            things = due(record)
            if not things or record.stage is Stage.CHANGING:
                break
            thing = things[0]
            if isinstance(thing, Choose):
                record = advance(record, Chosen(thing.among[0]), 1)
                continue
            is_given_back = thing.verb in (Verb.REJECT, Verb.END)
            answer = Released() if is_given_back else _bid(thing.member, thing.lease_id, 90)
            record = advance(record, Answered(thing.member, thing.verb, answer), 1)
    assert {Stage.HOLDING, Stage.ACCEPTED, Stage.PLACED, Stage.CHANGING, Stage.ENDED} <= seen


@pytest.mark.parametrize("document", [{}, {"ask": 1}, [], {"ask": {"terms": {"kind": "unknown"}}}])
def test_what_is_no_record_is_refused(document: Any) -> None:
    with pytest.raises(InvalidValueError, match="no stored negotiation"):
        restored(document)
