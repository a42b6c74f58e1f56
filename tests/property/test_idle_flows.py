"""Flows that are forgotten: no tags change, and what is kept is bounded (shirako F89, F93, F95)."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Accounting, ShareLimit, Shares, WhenIdle, WinksOptions

_NAMES = ("a", "b", "c", "d")
_CAPACITY = 10

_OPTIONS = st.builds(
    WinksOptions,
    st.sampled_from([0, 50]),
    st.sampled_from(list(ShareLimit)),
    st.booleans(),
    st.just(Accounting.SCHEDULE),
    st.sampled_from(list(WhenIdle)),
)

#: What happens to a flow: seconds that pass before it, the flow, what, and how much.
_STEPS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(_NAMES),
        st.sampled_from(["arrive", "serve", "serve", "reserve", "credit", "charge", "withdraw", "rest"]),
        st.integers(1, 30),
    ),
    max_size=25,
)


def _weight(name: str) -> float:
    return float(1 + _NAMES.index(name))


def _happen(shares: Shares, now: int, name: str, what: str, cost: int, order: int) -> object:
    """Let something happen, and return the tags that follow from it."""
    shares.forget_before(now)
    flow, share = shares.flow(name, _weight(name)), shares.share_per_weight(now)
    if what == "arrive":
        shares.arrive(flow, QueuedRequest(str(order), cost, width=2, is_wide=bool(cost % 2), order=order))
        return flow.queue.tags()[-1]
    if what == "reserve":
        return shares.charge_ahead(flow, cost, now, share)
    if what == "rest":
        if not any(each.queue.requests for each in shares.flows.values()):
            shares.rest()
        return shares.virtual_time
    if flow.queue.requests and what == "serve":
        return shares.schedule(flow, 0, now, now, share)
    if flow.queue.requests and what == "withdraw":
        flow.queue.withdraw(len(flow.queue.requests) - 1)
    return None


@settings(max_examples=300, deadline=None)
@given(_OPTIONS, _STEPS, _STEPS)
def test_forgetting_flows_changes_no_tags(
    options: WinksOptions, before: list[tuple[int, str, str, int]], after: list[tuple[int, str, str, int]]
) -> None:
    """Whatever has happened, and whatever happens then: each tag and the use of each window are the same.

    Credits and charges are for leases that have been charged and are not over, so their flows are not forgotten.
    """
    kept = Shares(options, _CAPACITY)
    now = 0
    serving: set[str] = set()
    for order, (passed, name, what, cost) in enumerate(before):
        now += passed
        _happen(kept, now, name, what, cost, order)
        if what in ("credit", "charge"):
            flow = kept.flow(name, _weight(name))
            flow.queue.credit(cost) if what == "credit" else flow.queue.charge(cost)
            serving.add(name)
    forgetful = deepcopy(kept)
    gone = forgetful.forget_idle(serving, 1)

    for name in gone:
        flow = kept.flows[name]
        assert not flow.queue.requests and flow.queue.clock <= kept.virtual_time and name not in serving
    for order, (passed, name, what, cost) in enumerate(after, len(before)):
        now += passed
        assert _happen(kept, now, name, what, cost, order) == _happen(forgetful, now, name, what, cost, order)
        assert kept.virtual_time == forgetful.virtual_time
        assert kept.share_per_weight(now) == forgetful.share_per_weight(now)
    for name, flow in forgetful.flows.items():
        assert flow.queue.tags() == kept.flows[name].queue.tags()
        assert flow.windows.as_document() == kept.flows[name].windows.as_document()
        assert max(flow.queue.tail, kept.virtual_time) == max(kept.flows[name].queue.tail, kept.virtual_time)


@settings(max_examples=100, deadline=None)
@given(_OPTIONS, _STEPS)
def test_flows_that_stay_are_queued_or_owe_something(
    options: WinksOptions, steps: list[tuple[int, str, str, int]]
) -> None:
    shares = Shares(options, _CAPACITY)
    now = 0
    for order, (passed, name, what, cost) in enumerate(steps):
        now += passed
        _happen(shares, now, name, what, cost, order)
    shares.forget_before(10_000)
    shares.forget_idle((), 1)
    for flow in shares.flows.values():
        has_debt = flow.queue.clock > shares.virtual_time or not flow.windows.is_clear
        assert flow.queue.requests or has_debt
    if not any(flow.queue.requests for flow in shares.flows.values()):
        shares.rest()
        shares.forget_idle((), 1)
        assert all(not flow.windows.is_clear for flow in shares.flows.values())
