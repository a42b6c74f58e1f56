"""Quotes of engines as bids of members."""

from __future__ import annotations

from lease_scheduler.federation.answers import Bid
from lease_scheduler.plan.explaining.quote import Quote


def as_bid(member: str, quote: Quote) -> Bid | None:
    """Return what an engine would grant as a bid, or None if it would refuse the request.

    :param member: name of the member that the engine belongs to
    """
    if quote.lease is None:
        return None
    holdings = quote.lease.holdings
    return Bid(
        member,
        quote.lease.lease_id,
        holdings[0].run_start if holdings else None,
        holdings[-1].run_end if holdings else None,
        price=quote.price,
        preempts=len(quote.preempted),
    )
