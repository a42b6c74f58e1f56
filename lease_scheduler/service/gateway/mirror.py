"""Federated leases as users see them, which follows from the record of a negotiation and from what its member tells."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.asks import lease_id_at
from lease_scheduler.federation.members import MemberTransition
from lease_scheduler.federation.negotiation.record import Negotiation, Stage
from lease_scheduler.federation.negotiation.refusing import final_refusal
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.documents import LeaseDocument

_UNDECIDED = frozenset({LeaseState.NEW, LeaseState.PENDING})


def mirrored(lease: Lease, record: Negotiation, now: int, heard: MemberTransition | None = None) -> Lease:
    """Return a lease after its record has changed.

    :param lease: its value before
    :param heard: what its member has told of it, if that is the reason of the change
    """
    state = _state(lease, record, heard)
    bid = None if record.placed is None else record.placed.bid
    return replace(
        lease,
        request=record.ask.terms,
        state=state,
        reason=_reason(lease, record, heard),
        started=_started(lease, state, heard),
        active_since=heard.instant if heard is not None and state is LeaseState.ACTIVE else lease.active_since,
        ended=(lease.ended or now) if state in FINAL_STATES else None,
        holdings=() if state in FINAL_STATES else _holdings(bid),
        grant=lease.grant if bid is None else Grant(price=bid.price),
    )


def placed_at(document: LeaseDocument, record: Negotiation) -> LeaseDocument:
    """Return the document of a lease with the site that it is at."""
    placed = record.placed
    if placed is None:
        return replace(document, unreachable=False) if record.final is not None else document
    return replace(
        document,
        site=placed.member,
        site_lease_id=lease_id_at(placed.member, record.ask.ask_id),
        site_project_id=record.ask.projects.get(placed.member),
    )


def _state(lease: Lease, record: Negotiation, heard: MemberTransition | None) -> LeaseState:
    match record.stage:
        case Stage.REFUSED:
            return LeaseState.REJECTED
        case Stage.LOST:
            return LeaseState.FAILED
        case Stage.ENDED:
            if heard is not None and heard.state in FINAL_STATES:
                return heard.state
            return LeaseState.CANCELLED if lease.started is None else LeaseState.DONE
        case Stage.PLACED | Stage.CHANGING:
            if heard is not None:
                return heard.state
            return _first_state(record) if lease.state in _UNDECIDED else lease.state
        case _:
            return LeaseState.PENDING if lease.state in _UNDECIDED else lease.state


def _first_state(record: Negotiation) -> LeaseState:
    assert record.placed is not None
    bid = record.placed.bid
    return LeaseState.QUEUED if bid is None or bid.start is None else LeaseState.SCHEDULED


def _reason(lease: Lease, record: Negotiation, heard: MemberTransition | None) -> str:
    match record.stage:
        case Stage.REFUSED:
            return final_refusal(record).message or "no member may be asked"
        case Stage.LOST | Stage.ENDED:
            return record.final_reason
        case Stage.PLACED | Stage.CHANGING:
            assert record.placed is not None
            if heard is not None:
                return heard.reason
            return f"granted by {record.placed.member}" if lease.state in _UNDECIDED else lease.reason
        case Stage.UNSETTLED:
            doubtful = ", ".join(each.member for each in record.attempts if each.may_be_granted)
            return f"{doubtful} may have granted it, but does not say so"
        case Stage.ENDING:
            return lease.reason
        case _:
            return ""


def _started(lease: Lease, state: LeaseState, heard: MemberTransition | None) -> int | None:
    is_start = heard is not None and state is LeaseState.ACTIVE and lease.started is None
    return heard.instant if is_start and heard is not None else lease.started


def _holdings(bid: Bid | None) -> tuple[Holding, ...]:
    """Return when a lease runs; the hosts are known to its member only."""
    if bid is None or bid.start is None or bid.end is None:
        return ()
    return (Holding((), bid.start, bid.start, bid.end, bid.end),)
