"""What a flow has, and when its queued leases can be expected to start."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.policy.queueing.report import FlowReport
from lease_scheduler.policy.queueing.winks.costs import HOST_UNITS
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Shares
from lease_scheduler.policy.queueing.winks.state import Charge


def reports(shares: Shares, charges: Iterable[Charge], now: int) -> list[FlowReport]:
    """Return a report of each flow, by name.

    A lease is blocked if its flow would need a larger share to start it. The expected start of any other one is when
    virtual time reaches its start tag, if all flows that have queued leases keep having some, and the site is used
    completely.

    :param charges: what was charged for leases that are not over
    """
    holding = {charge.flow for charge in charges}
    backlogged = sum(float(flow.weight) for flow in shares.flows.values() if flow.queue.requests)
    active = [flow for flow in shares.flows.values() if flow.queue.requests or flow.name in holding]
    weights = sum(float(flow.weight) for flow in active)
    latest = max((flow.queue.clock for flow in active), default=0)
    first = min((flow.queue.clock for flow in active if flow.queue.requests), default=0)
    share_per_weight = shares.share_per_weight(now)
    found = []
    for flow in sorted(shares.flows.values(), key=lambda each: each.name):
        expected: dict[str, int] = {}
        blocked: dict[str, str] = {}
        share, overtaken = share_per_weight * float(flow.weight), 0
        for request, (start, end) in zip(flow.queue.requests, flow.queue.tags(), strict=True):
            if shares.is_too_costly(request, share):
                blocked[request.key] = _blocked(request, share, has_spare=shares.has_spare)
                # Requests behind a blocked one go before it.
                overtaken += end - start
            elif shares.capacity:
                ahead = max(0, start - overtaken - first) / UNIT
                expected[request.key] = now + round(ahead * backlogged / shares.capacity)
        is_active = flow in active
        behind = max(0, latest - flow.queue.clock) / UNIT * float(flow.weight) / HOST_UNITS if is_active else 0.0
        found.append(
            FlowReport(
                flow.name,
                float(flow.weight),
                float(flow.weight) / weights if is_active and weights else 0.0,
                behind,
                len(flow.queue.requests),
                {request.key: position for position, request in enumerate(flow.queue.requests, 1)},
                expected,
                blocked,
            )
        )
    return found


def _blocked(request: QueuedRequest, share: float, *, has_spare: bool) -> str:
    """Return why a request does not start at present.

    :param share: cost that its flow may use of a window
    :param has_spare: whether it may use hosts that would stay idle
    """
    others = "when it fits on hosts that no other lease can use, when fewer projects share the site, "
    cost, most = (round(amount / (3_600 * HOST_UNITS), 2) for amount in (request.needed, share))
    return (
        f"it needs {cost:g} host-hours, and the share of its project in a window is {most:g}: it starts "
        f"{others if has_spare else ''}when its project has a larger weight, or with fewer nodes or a shorter duration"
    )
