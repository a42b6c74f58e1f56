"""What the answers and reports of members mean for a negotiation."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.federation.answers import Answer, Bid, FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import lease_id_at
from lease_scheduler.federation.members import MemberTransition, Verb
from lease_scheduler.federation.negotiation.contradictions import contradiction
from lease_scheduler.federation.negotiation.record import Attempt, AttemptState, Negotiation, Stage
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import FINAL_STATES, LeaseState


def after_answer(record: Negotiation, member: str, verb: Verb, answer: Answer) -> Negotiation:
    """Return the record after the outcome of a call.

    Outcomes may come late, or twice: what a member grants or holds after all is given back.

    :raises InvalidValueError: the member was not asked
    """
    attempt = record.attempt(member)
    if attempt is None:
        raise InvalidValueError("answered", f"{member!r} was not asked")
    match verb:
        case Verb.HOLD:
            return record.with_attempts([_after_hold(record, attempt, answer)])
        case Verb.ACCEPT | Verb.SUBMIT:
            return record.with_attempts([_after_accept(record, attempt, answer)])
        case Verb.REJECT:
            return record.with_attempts([_after_rejecting(attempt, answer)])
        case Verb.END:
            states = AttemptState.ENDING, AttemptState.CLEARING
            return record.with_attempts([_after_giving_back(attempt, answer, *states)])
        case Verb.CHANGE if record.wanted is not None and attempt.state is AttemptState.PLACED:
            return _after_change(record, attempt, answer)
        case Verb.SHOW if attempt.state is AttemptState.PLACED and _is_unknown(answer):
            return _lost(record, attempt, f"{member} does not know it any more")
        case _:
            return record


def after_report(record: Negotiation, member: str, transition: MemberTransition) -> Negotiation:
    """Return the record after a member has told of a transition; only the end of the granted lease changes it."""
    attempt = record.attempt(member)
    is_its = attempt is not None and transition.lease_id == lease_id_at(member, record.ask.ask_id)
    if attempt is None or not is_its or transition.state not in FINAL_STATES:
        return record
    match attempt.state:
        case AttemptState.ENDING:
            return record.with_attempts([replace(attempt, state=AttemptState.CLOSED)])
        case AttemptState.PLACED if transition.state is LeaseState.FAILED:
            return _lost(record, attempt, transition.reason)
        case AttemptState.PLACED:
            closed = record.with_attempts([replace(attempt, state=AttemptState.CLOSED)])
            return replace(closed, final=Stage.ENDED, final_reason=transition.reason, wanted=None)
        case _:
            return record


def _after_hold(record: Negotiation, attempt: Attempt, answer: Answer) -> Attempt:
    if attempt.state is AttemptState.CLOSED and isinstance(answer, Bid):
        return replace(attempt, state=AttemptState.REJECTING)
    if attempt.state is not AttemptState.HOLDING:
        return attempt
    match answer:
        case Bid():
            wrong = contradiction(record.ask, attempt.member, answer, None, is_hold=True)
            if wrong is not None:
                return replace(attempt, state=AttemptState.REJECTING, refusal=_contradictory(attempt, wrong))
            return replace(attempt, state=AttemptState.HELD, bid=answer)
        case Refusal():
            return replace(attempt, state=AttemptState.CLOSED, refusal=answer)
        case Released():
            return replace(attempt, state=AttemptState.CLOSED, refusal=_contradictory(attempt, "is no bid"))
        case Unanswered():
            return replace(attempt, state=AttemptState.REJECTING, is_unanswered=True)


def _after_accept(record: Negotiation, attempt: Attempt, answer: Answer) -> Attempt:
    if attempt.state in (AttemptState.CLOSED, AttemptState.CLEARING) and isinstance(answer, Bid):
        return replace(attempt, state=AttemptState.ENDING)
    if attempt.state is not AttemptState.ACCEPTING:
        return attempt
    match answer:
        case Bid():
            wrong = contradiction(record.ask, attempt.member, answer, attempt.bid, is_hold=False)
            if wrong is not None:
                refusal = _contradictory(attempt, wrong)
                return replace(attempt, state=AttemptState.ENDING, refusal=refusal, is_unanswered=False)
            state = AttemptState.PLACED if record.placed is None else AttemptState.ENDING
            return replace(attempt, state=state, bid=answer, is_unanswered=False)
        case Refusal():
            return replace(attempt, state=AttemptState.CLEARING, refusal=answer, is_unanswered=False)
        case Released():
            refusal = _contradictory(attempt, "is no bid")
            return replace(attempt, state=AttemptState.CLEARING, refusal=refusal, is_unanswered=False)
        case Unanswered():
            return replace(attempt, is_unanswered=True)


def _after_rejecting(attempt: Attempt, answer: Answer) -> Attempt:
    # A hold that cannot be rejected was accepted: by a member of the project that it is for, beside the gateway.
    if attempt.state is AttemptState.REJECTING and isinstance(answer, Refusal) and not _is_unknown(answer):
        return replace(attempt, state=AttemptState.ENDING)
    return _after_giving_back(attempt, answer, AttemptState.REJECTING)


def _after_giving_back(attempt: Attempt, answer: Answer, *states: AttemptState) -> Attempt:
    # What a member refused to grant, and does not let the caller end, is somebody else's: its id was taken.
    is_foreign = (
        attempt.state is AttemptState.CLEARING and isinstance(answer, Refusal) and answer.reason is RefusalReason.POLICY
    )
    is_gone = isinstance(answer, Released) or _is_unknown(answer) or is_foreign
    return replace(attempt, state=AttemptState.CLOSED) if is_gone and attempt.state in states else attempt


def _after_change(record: Negotiation, attempt: Attempt, answer: Answer) -> Negotiation:
    assert record.wanted is not None
    match answer:
        case Bid():
            wrong = contradiction(record.wanted, attempt.member, answer, None, is_hold=False)
            if wrong is not None:
                return replace(record, wanted=None, change_refusal=_contradictory(attempt, wrong))
            changed = record.with_attempts([replace(attempt, bid=answer)])
            return replace(changed, ask=record.wanted, wanted=None)
        case Refusal() if _is_unknown(answer):
            return _lost(record, attempt, f"{attempt.member} does not know it any more")
        case Refusal():
            return replace(record, wanted=None, change_refusal=answer)
        case _:
            return record


def _lost(record: Negotiation, attempt: Attempt, reason: str) -> Negotiation:
    closed = record.with_attempts([replace(attempt, state=AttemptState.CLOSED)])
    return replace(closed, final=Stage.LOST, final_reason=reason, wanted=None)


def _is_unknown(answer: Answer) -> bool:
    return isinstance(answer, Refusal) and answer.reason is FederationReason.UNKNOWN


def _contradictory(attempt: Attempt, wrong: str) -> Refusal:
    return Refusal(attempt.member, FederationReason.CONTRADICTORY, f"the answer of {attempt.member} {wrong}")
