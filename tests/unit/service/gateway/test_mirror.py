from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.federation.answers import Bid, FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import MemberTransition, Verb
from lease_scheduler.federation.negotiation.advance import advance, begin
from lease_scheduler.federation.negotiation.events import Answered, Chosen, EndWanted, Reported
from lease_scheduler.federation.negotiation.record import Candidate, Mode, Negotiation, Rules
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.gateway.mirror import mirrored, placed_at

_NODES = (NodeSet(1, Resources({VCPU: 1})),)
_AT_A = lease_id_at("a", "1")
_DOCUMENT = LeaseDocument("1", "mine", "red", "eve", 0)


def _begun(kind: LeaseKind = LeaseKind.RESERVATION) -> Negotiation:
    terms = LeaseRequest("1", kind, _NODES, 0, 500, 1_000 if kind is LeaseKind.RESERVATION else None)
    record = begin(Ask(terms, 200), [Candidate("a", can_hold=False)], Mode.IN_TURN, Rules("g"), 0)
    assert isinstance(record, Negotiation)
    return advance(record, Chosen("a"), 0)


def _granted(kind: LeaseKind = LeaseKind.RESERVATION, start: int | None = 1_000) -> Negotiation:
    bid = Bid("a", _AT_A, start, None if start is None else start + 500, price=7.0)
    return advance(_begun(kind), Answered("a", Verb.SUBMIT, bid), 1)


def _lease(record: Negotiation) -> Lease:
    return mirrored(Lease(record.ask.terms, 0), record, 5)


def _heard(state: LeaseState, instant: int = 1_000, reason: str = "its time has come") -> MemberTransition:
    return MemberTransition(3, _AT_A, instant, state, reason)


def test_what_is_not_decided_is_pending() -> None:
    record = _begun()
    found = _lease(record)
    assert (found.state, found.holdings, found.ended) == (LeaseState.PENDING, (), None)
    assert placed_at(_DOCUMENT, record) == _DOCUMENT


def test_what_is_granted_has_the_interval_and_the_price_of_its_bid() -> None:
    record = _granted()
    found = _lease(record)
    (held,) = found.holdings
    assert (held.run_start, held.run_end, held.assignment) == (1_000, 1_500, ())
    assert (found.state, found.reason, found.grant.price) == (LeaseState.SCHEDULED, "granted by a", 7.0)
    document = placed_at(_DOCUMENT, record)
    assert (document.site, document.site_lease_id) == ("a", _AT_A)


def test_what_waits_in_the_queue_of_its_site_has_no_interval() -> None:
    found = _lease(_granted(LeaseKind.BEST_EFFORT, None))
    assert (found.state, found.holdings) == (LeaseState.QUEUED, ())


def test_states_are_those_that_the_site_tells() -> None:
    record = _granted()
    heard = _heard(LeaseState.ACTIVE)
    active = mirrored(_lease(record), advance(record, Reported("a", heard), 1_000), 1_000, heard)
    assert (active.state, active.started, active.active_since) == (LeaseState.ACTIVE, 1_000, 1_000)
    assert active.reason == "its time has come"
    heard = _heard(LeaseState.SUSPENDING, 1_100)
    suspending = mirrored(active, record, 1_100, heard)
    assert (suspending.state, suspending.started) == (LeaseState.SUSPENDING, 1_000)


@pytest.mark.parametrize("state", [LeaseState.DONE, LeaseState.CANCELLED])
def test_the_end_that_the_site_tells_is_the_end(state: LeaseState) -> None:
    record, heard = _granted(), _heard(state, 1_500, "over")
    found = mirrored(_lease(record), advance(record, Reported("a", heard), 1_501), 1_501, heard)
    assert (found.state, found.reason, found.ended, found.holdings) == (state, "over", 1_501, ())


def test_what_its_site_forgets_has_failed() -> None:
    record = _granted()
    unknown = Refusal("a", FederationReason.UNKNOWN, "there is no such lease")
    found = mirrored(_lease(record), advance(record, Answered("a", Verb.SHOW, unknown), 9), 9)
    assert (found.state, found.ended) == (LeaseState.FAILED, 9)


@pytest.mark.parametrize(
    ("started", "state"), [(None, LeaseState.CANCELLED), (1_000, LeaseState.DONE)], ids=["before", "after"]
)
def test_an_end_that_its_client_wants_depends_on_the_start(started: int | None, state: LeaseState) -> None:
    record = _granted()
    lease = replace(_lease(record), started=started)
    ending = advance(record, EndWanted(), 1_200)
    assert mirrored(lease, ending, 1_200).state is LeaseState.SCHEDULED
    ended = advance(ending, Answered("a", Verb.END, Released()), 1_201)
    assert mirrored(lease, ended, 1_201).state is state
    away = replace(placed_at(_DOCUMENT, record), unreachable=True)
    assert not placed_at(away, ended).unreachable


def test_a_refusal_has_the_reasons_of_all() -> None:
    refusal = Refusal("a", RefusalReason.CAPACITY, "all hosts are taken")
    record = advance(_begun(), Answered("a", Verb.SUBMIT, refusal), 1)
    record = advance(record, Answered("a", Verb.END, Released()), 1)
    found = _lease(record)
    assert (found.state, found.reason) == (LeaseState.REJECTED, "a: all hosts are taken")


def test_a_grant_that_is_not_confirmed_says_so() -> None:
    record = advance(_begun(), Answered("a", Verb.SUBMIT, Unanswered()), 1)
    assert _lease(record).reason == "a may have granted it, but does not say so"
