"""How the charge for a lease changes after it got its place: new terms, an early end, a place that is lost.

Grit 2007, sections 5.6.1 and 5.6.2 (shirako A29-A31, F107). Clock and window are charged together, so that both of them
add up to what was served.
"""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import UNLIMITED, Lease
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.queueing.winks.shares import Flow, Shares
from lease_scheduler.policy.queueing.winks.state import Charge


def with_terms(
    shares: Shares,
    flow: Flow,
    charge: Charge,
    cost: int,
    seconds: int,
    share_per_weight: float,
    *,
    is_overestimated: bool = False,
) -> Charge:
    """Charge a flow for the new terms of a lease, and return the new charge.

    :param cost: cost of the lease under its new terms
    :param seconds: its duration
    :param share_per_weight: see ``Shares.share_per_weight``
    :param is_overestimated: whether the lease becomes shorter while it runs
    """
    more = cost - charge.cost
    _charge(shares, flow, charge, more + (_penalty(shares, -more) if is_overestimated else 0))
    charge = replace(charge, cost=cost, duration=seconds)
    if not charge.owes and charge.window >= flow.windows.first and shares.owes(flow, cost, share_per_weight):
        flow.windows.refund(charge.window, cost)
        flow.windows.add(charge.window, cost, owes=True)
        return replace(charge, owes=True)
    return charge


def settle(shares: Shares, flow: Flow, charge: Charge, ran: int, *, is_overestimated: bool = False) -> None:
    """Let the flow of a lease that is over pay for what it has run.

    :param ran: seconds that it has run
    :param is_overestimated: whether it ran for less than its project had asked for, by the will of the project
    """
    more = charge.part(ran) - charge.cost
    _charge(shares, flow, charge, more + (_penalty(shares, -more) if is_overestimated else 0))


def ends_early(outcome: Outcome, lease: Lease) -> bool:
    """Return whether a lease that is over ran for less than its project had asked for, by the will of the project."""
    return (
        outcome in (Outcome.DONE, Outcome.CANCELLED)
        and lease.started is not None
        and lease.accumulated < lease.request.duration < UNLIMITED
    )


def is_shortened(lease: Lease, old: Lease) -> bool:
    """Return whether a lease has become shorter by its new terms after it has started."""
    return lease.started is not None and lease.request.duration < old.request.duration < UNLIMITED


def take_back(flow: Flow, charge: Charge) -> None:
    """Take back the charge of a lease that lost its place before it started, before it joins the queue again."""
    flow.windows.refund(charge.window, charge.cost, owes=charge.owes)
    if charge.is_due:
        # ``FlowQueue.put_back`` refunds the clock, which was not charged.
        flow.queue.charge(charge.cost)


def _penalty(shares: Shares, unused: int) -> int:
    """Return what of the cost of unused time is not given back (section 5.6.2; shirako F107)."""
    return int(shares.options.overestimate_penalty * max(0, unused))


def _charge(shares: Shares, flow: Flow, charge: Charge, cost: int) -> None:
    """Charge a flow for more than was charged, or for less if the cost is negative."""
    if cost > 0:
        if shares.limits:
            flow.windows.add(charge.window, cost, owes=charge.owes)
        if not charge.is_due:
            flow.queue.charge(cost)
    else:
        flow.windows.refund(charge.window, -cost, owes=charge.owes)
        if not charge.is_due:
            flow.queue.credit(-cost)
