"""A gateway in a few lines: it makes the calls of a negotiation one after the other, and keeps its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lease_scheduler.federation.members import Member
from lease_scheduler.federation.negotiation.advance import advance
from lease_scheduler.federation.negotiation.calls import Choose, due
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
                answer = each.made_to(members[each.member])
            record = advance(record, Answered(each.member, each.verb, answer), now())
    return record
