"""The calls that follow from the record of a negotiation."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.federation.answers import Answer
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import Member, Verb
from lease_scheduler.federation.negotiation.record import Attempt, AttemptState, Mode, Negotiation


@dataclass(frozen=True)
class Call:
    """A call to a member. It may be made any number of times.

    :ivar member: name of the member
    :ivar verb: what it is asked to do
    :ivar lease_id: id of the lease at the member
    :ivar ask: what is asked for; None for verbs that name an existing lease only
    :ivar until: instant at which a hold ends at the latest, for ``HOLD``; None for other verbs
    """

    member: str
    verb: Verb
    lease_id: str
    ask: Ask | None = None
    until: int | None = None

    def made_to(self, member: Member) -> Answer:
        """Make the call, and return its outcome."""
        match self.verb:
            case Verb.HOLD:
                assert self.ask is not None
                assert self.until is not None
                return member.hold(self.ask, self.until)
            case Verb.SUBMIT:
                assert self.ask is not None
                return member.submit(self.ask)
            case Verb.CHANGE:
                assert self.ask is not None
                return member.change(self.lease_id, self.ask.terms)
            case Verb.ACCEPT:
                return member.accept(self.lease_id)
            case Verb.REJECT:
                return member.reject(self.lease_id)
            case _:
                assert self.verb is Verb.END
                return member.end(self.lease_id)


@dataclass(frozen=True)
class Choose:
    """A choice that a router has to make.

    :ivar among: names of the members; those that have made bids have them in the record
    """

    among: tuple[str, ...]


def due(record: Negotiation) -> tuple[Call | Choose, ...]:
    """Return the calls, and the choice, that a record makes necessary, in the order of the attempts.

    Each call is due until ``advance`` is told its outcome. An ``Unanswered`` leaves most calls due, to be repeated
    after a while. Calls to different members may be made at the same time.
    """
    calls: list[Call | Choose] = [call for each in record.attempts if (call := _call(record, each)) is not None]
    among = choices(record)
    if among:
        calls.append(Choose(among))
    return tuple(calls)


def choices(record: Negotiation) -> tuple[str, ...]:
    """Return the members of which a router has to choose one now; empty if there is nothing to choose."""
    if record.final is not None or record.is_ending or record.is_blocked or record.in_state(AttemptState.HOLDING):
        return ()
    if record.mode is Mode.BEST and (held := record.in_state(AttemptState.HELD)):
        return tuple(each.member for each in held)
    if record.is_late:
        return ()
    return tuple(each.name for each in record.untried if record.mode is Mode.IN_TURN or not each.can_hold)


def _call(record: Negotiation, attempt: Attempt) -> Call | None:
    member, lease_id = attempt.member, lease_id_at(attempt.member, record.ask.ask_id)
    asked = record.ask.passed_on(record.rules.name, member)
    match attempt.state:
        case AttemptState.HOLDING:
            assert attempt.hold_end is not None
            return Call(member, Verb.HOLD, lease_id, asked, attempt.hold_end - record.rules.clock_difference)
        case AttemptState.ACCEPTING if attempt.hold_end is None:
            return Call(member, Verb.SUBMIT, lease_id, asked)
        case AttemptState.ACCEPTING:
            return Call(member, Verb.ACCEPT, lease_id)
        case AttemptState.REJECTING:
            return Call(member, Verb.REJECT, lease_id)
        case AttemptState.ENDING | AttemptState.CLEARING:
            return Call(member, Verb.END, lease_id)
        case AttemptState.PLACED if record.wanted is not None:
            return Call(member, Verb.CHANGE, lease_id, record.wanted.passed_on(record.rules.name, member))
        case _:
            return None
