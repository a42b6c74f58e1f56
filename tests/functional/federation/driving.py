"""A gateway in a few lines: it makes the calls of a negotiation one after the other, and keeps its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lease_scheduler.federation.answers import Answer
from lease_scheduler.federation.members import Member, Verb
from lease_scheduler.federation.negotiation.advance import advance
from lease_scheduler.federation.negotiation.calls import Call, Choose, due
from lease_scheduler.federation.negotiation.events import Answered, Chosen
from lease_scheduler.federation.negotiation.record import Negotiation


def negotiate(
    record: Negotiation, members: Mapping[str, Member], now: Callable[[], int], *, rounds: int = 8, times: int = 1
) -> Negotiation:
    """Return the record when no call is left that a member in reach would answer, or after so many rounds.

    :param times: how often each call is made; the gateway knows only of the last answer
    """
    for _ in range(rounds):
        for each in due(record):
            if isinstance(each, Choose):
                record = advance(record, Chosen(each.among[0]), now())
                continue
            for _ in range(times):
                answer = call(members[each.member], each)
            record = advance(record, Answered(each.member, each.verb, answer), now())
    return record


def call(member: Member, what: Call) -> Answer:
    """Make a call."""
    match what.verb:
        case Verb.HOLD:
            assert what.ask is not None
            assert what.until is not None
            return member.hold(what.ask, what.until)
        case Verb.SUBMIT:
            assert what.ask is not None
            return member.submit(what.ask)
        case Verb.CHANGE:
            assert what.ask is not None
            return member.change(what.lease_id, what.ask.terms)
        case Verb.ACCEPT:
            return member.accept(what.lease_id)
        case Verb.REJECT:
            return member.reject(what.lease_id)
        case _:
            assert what.verb is Verb.END
            return member.end(what.lease_id)
