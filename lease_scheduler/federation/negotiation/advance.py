"""The steps of a negotiation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lease_scheduler.federation.answers import FederationReason, Refusal
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.negotiation.answering import after_answer, after_report
from lease_scheduler.federation.negotiation.calls import choices
from lease_scheduler.federation.negotiation.events import (
    Answered,
    ChangeWanted,
    Chosen,
    EndWanted,
    Event,
    Reported,
    TimePassed,
)
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
from lease_scheduler.model.refusals import RefusalReason


def begin(
    ask: Ask, candidates: Sequence[Candidate], mode: Mode, rules: Rules, now: int, *, may_pay_twice: bool = False
) -> Negotiation | Refusal:
    """Return the first record of a negotiation, or the refusal of an ask that must not be passed on.

    :param candidates: members in the configured order. Those with a refusal, and those that have passed the ask on
        already, are not asked
    :raises InvalidValueError: there is no candidate, or two have the same name
    """
    names = [each.name for each in candidates]
    if not names:
        raise InvalidValueError("candidates", "there are none; give at least one member")
    if len(set(names)) < len(names):
        raise InvalidValueError("candidates", f"{', '.join(names)}: give each member a name of its own")
    path = " > ".join(ask.path)
    if rules.name in ask.path:
        return Refusal(rules.name, RefusalReason.LOOP, f"{rules.name} has passed this ask on already: {path}")
    if len(ask.path) > rules.most_passes:
        message = f"the ask was passed on {len(ask.path)} times, which is more than {rules.most_passes}: {path}"
        return Refusal(rules.name, RefusalReason.DEPTH, message)
    record = Negotiation(ask, tuple(candidates), mode, rules, may_pay_twice)
    refused = {each.name: each.refusal for each in candidates if each.refusal is not None} | {
        name: Refusal(name, RefusalReason.LOOP, f"{name} has passed this ask on already")
        for name in names
        if name == rules.name or name in ask.path
    }
    record = record.with_attempts(
        Attempt(name, AttemptState.CLOSED, refusal=refused[name]) for name in names if name in refused
    )
    if mode is not Mode.IN_TURN and now < record.ask_until:
        record = record.with_attempts(_asked(record, each, now) for each in record.untried if each.can_hold)
    return _settled(_at(record, now))


def advance(record: Negotiation, event: Event, now: int) -> Negotiation:
    """Return the record after an event.

    :param now: the present instant by the clock of the gateway
    :raises InvalidValueError: the event cannot happen, such as an answer of a member that was not asked
    """
    match event:
        case Answered():
            record = after_answer(record, event.member, event.verb, event.answer)
        case Chosen():
            record = _chosen(record, event.member, now)
        case Reported():
            record = after_report(record, event.member, event.transition)
        case EndWanted():
            record = _ended(record)
        case ChangeWanted():
            record = _changed(record, event)
        case TimePassed():
            pass
    return _settled(_at(record, now))


def next_instant(record: Negotiation) -> int | None:
    """Return the instant from which on ``TimePassed`` changes the record, or None if time changes nothing."""
    instants = [_hold_is_over(record, each) for each in record.in_state(AttemptState.REJECTING)]
    if _is_open(record):
        if not record.is_late:
            instants.append(record.ask_until)
        held = record.in_state(AttemptState.HELD)
        if held:
            instants += [record.ask.answer_by, *(_usable_until(record, each) for each in held)]
        if record.in_state(AttemptState.HOLDING) and (closing := _closing(record)) is not None:
            instants.append(closing)
    return min(instants, default=None)


def _is_open(record: Negotiation) -> bool:
    """Return whether it is not decided yet which member grants the lease."""
    return record.final is None and not record.is_ending and record.placed is None


def _asked(record: Negotiation, candidate: Candidate, now: int) -> Attempt:
    """Return the attempt at a member that is asked from now on."""
    if not candidate.can_hold:
        return Attempt(candidate.name, AttemptState.ACCEPTING)
    hold_end = now + record.rules.hold_time + record.rules.clock_difference
    return Attempt(candidate.name, AttemptState.HOLDING, hold_end)


def _chosen(record: Negotiation, member: str, now: int) -> Negotiation:
    among = choices(record)
    if member not in among:
        raise InvalidValueError(
            "chosen", f"{member!r} cannot be chosen now; choose one of: {', '.join(among) or 'none, wait for answers'}"
        )
    attempt = record.attempt(member)
    if attempt is not None:
        return record.with_attempts([replace(attempt, state=AttemptState.ACCEPTING)])
    return record.with_attempts(_asked(record, each, now) for each in record.untried if each.name == member)


def _ended(record: Negotiation) -> Negotiation:
    return (
        record if record.final is not None else replace(_given_up(record, *AttemptState), is_ending=True, wanted=None)
    )


def _changed(record: Negotiation, event: ChangeWanted) -> Negotiation:
    if record.stage is not Stage.PLACED:
        raise InvalidValueError(
            "change", f"the lease is {record.stage}; only one that is {Stage.PLACED} can be changed"
        )
    if event.terms.lease_id != record.ask.ask_id:
        raise InvalidValueError("terms.lease_id", f"must be {record.ask.ask_id}, not {event.terms.lease_id}")
    return replace(record, wanted=replace(record.ask, terms=event.terms), change_refusal=None)


def _given_up(record: Negotiation, *states: AttemptState) -> Negotiation:
    """Return the record without what members hold or may have granted, if they are in one of these states."""
    by_state = {
        AttemptState.HOLDING: AttemptState.REJECTING,
        AttemptState.HELD: AttemptState.REJECTING,
        AttemptState.ACCEPTING: AttemptState.ENDING,
        AttemptState.PLACED: AttemptState.ENDING,
    }
    return record.with_attempts(
        replace(each, state=by_state[each.state])
        for each in record.attempts
        if each.state in states and each.state in by_state
    )


# -- time ------------------------------------------------------------------------------------------------


def _at(record: Negotiation, now: int) -> Negotiation:
    """Return the record with what has ended by an instant."""
    if _is_open(record):
        record = replace(record, is_late=record.is_late or now >= record.ask_until)
        closing = _closing(record)
        if record.is_late or (closing is not None and now >= closing):
            record = record.with_attempts(
                replace(each, state=AttemptState.REJECTING, is_unanswered=True)
                for each in record.in_state(AttemptState.HOLDING)
            )
        record = record.with_attempts(
            replace(each, state=AttemptState.REJECTING, refusal=_expired(each.member))
            for each in record.in_state(AttemptState.HELD)
            if now >= _usable_until(record, each)
        )
        if now >= record.ask.answer_by:
            record = _given_up(record, AttemptState.HELD)
    return record.with_attempts(
        replace(each, state=AttemptState.CLOSED)
        for each in record.in_state(AttemptState.REJECTING)
        if now >= _hold_is_over(record, each)
    )


def _expired(member: str) -> Refusal:
    return Refusal(member, FederationReason.EXPIRED, f"{member} held the lease, but not for long enough")


def _usable_until(record: Negotiation, attempt: Attempt) -> int:
    """Return the instant from which on a held lease may be gone by the clock of its member."""
    assert attempt.bid is not None
    assert attempt.bid.held_until is not None
    return attempt.bid.held_until - record.rules.clock_difference


def _hold_is_over(record: Negotiation, attempt: Attempt) -> int:
    """Return the instant from which on nothing can be held any more."""
    assert attempt.hold_end is not None
    if attempt.bid is None or attempt.bid.held_until is None:
        return attempt.hold_end
    return max(attempt.hold_end, attempt.bid.held_until + record.rules.clock_difference)


def _closing(record: Negotiation) -> int | None:
    """Return the instant from which on waiting for further bids would lose a held one; None if none would be lost."""
    held = record.in_state(AttemptState.HELD) if record.mode is Mode.BEST else ()
    return min((_usable_until(record, each) - record.rules.accept_time for each in held), default=None)


# -- what follows ----------------------------------------------------------------------------------------


def _settled(record: Negotiation) -> Negotiation:
    """Return the record with what follows from the states of its attempts."""
    if record.final is not None:
        return record
    if record.is_ending:
        is_ended = not any(each.may_be_granted for each in record.attempts)
        return replace(record, final=Stage.ENDED, final_reason="ended by its client") if is_ended else record
    if record.placed is not None:
        return _given_up(record, AttemptState.HOLDING, AttemptState.HELD, AttemptState.ACCEPTING)
    held = record.in_state(AttemptState.HELD)
    if held and record.mode is not Mode.BEST and not record.is_blocked:
        return record.with_attempts([replace(held[0], state=AttemptState.ACCEPTING)])
    is_open = any(
        each.may_be_granted or each.state in (AttemptState.HOLDING, AttemptState.HELD) for each in record.attempts
    )
    if is_open or choices(record):
        return record
    return replace(record, final=Stage.REFUSED, final_reason="no member has granted it")
