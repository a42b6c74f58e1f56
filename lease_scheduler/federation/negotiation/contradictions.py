"""What bids must not say."""

from __future__ import annotations

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.kinds import LeaseKind


def contradiction(ask: Ask, member: str, bid: Bid, held: Bid | None, *, is_hold: bool) -> str | None:
    """Return how a bid contradicts what was asked for or what was offered before, or None if it does not.

    :param ask: the ask as it came
    :param member: name of the member that was asked
    :param held: what the member has offered before; None if it is its first answer
    :param is_hold: whether the member was asked to hold the lease
    """
    terms = ask.terms
    expected = lease_id_at(member, ask.ask_id)
    if bid.member != member or bid.lease_id != expected:
        return f"is about lease {bid.lease_id} at {bid.member}, not about lease {expected} at {member}"
    if is_hold and bid.held_until is None:
        return "does not say until when the lease is held"
    if bid.start is None or bid.end is None:
        return (
            None if terms.kind is LeaseKind.BEST_EFFORT else f"has no start, but leases of kind {terms.kind.value} do"
        )
    if terms.kind is LeaseKind.RESERVATION and bid.start != terms.start and not _was_accepted_late(ask, bid):
        return f"starts at {bid.start}, not at {terms.start}"
    if terms.kind is LeaseKind.RESERVATION and bid.start == terms.start and bid.end - bid.start < terms.duration:
        return f"lasts {exactly(bid.end - bid.start)}, not {exactly(terms.duration)}"
    if terms.start is not None and bid.start < terms.start:
        return f"starts at {bid.start}, before {terms.start}"
    if terms.deadline is not None and bid.end > terms.deadline:
        return f"ends at {bid.end}, after the deadline {terms.deadline}"
    if terms.max_price is not None and (bid.price or 0.0) > terms.max_price:
        return f"costs {bid.price}, more than max_price, {terms.max_price}"
    if held is not None and (bid.price or 0.0) > (held.price or 0.0):
        return f"costs {bid.price}, more than the {held.price} that were offered"
    return None


def _was_accepted_late(ask: Ask, bid: Bid) -> bool:
    """Return whether a reservation that was to start at once starts when it was accepted, and ends as it was to end."""
    terms = ask.terms
    assert terms.start is not None
    assert bid.start is not None
    return terms.start < bid.start <= ask.answer_by and bid.end == terms.start + terms.duration
