"""What leases give by leaving, compared with the plan without them (contention F16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.candidates import members, minimal_sets
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.plan import Plan

_START, _END = 100, 200


def _unasked(request: LeaseRequest | None, leases: Sequence[Lease]) -> bool:
    raise AssertionError("gains follow from the plan alone")


@st.composite
def _plans(draw: st.DrawFn) -> tuple[Plan, list[Lease], LeaseRequest]:
    """Draw a plan on small hosts that several nodes may share, the leases that may leave, and a request."""
    cores = draw(st.sampled_from([1, 2, 4]))
    plan = Plan(Site.homogeneous(draw(st.integers(1, 4)), Resources({VCPU: cores, MEMORY_MB: 1024})))
    leaving = []
    for number in range(draw(st.integers(1, 7))):
        node_set = NodeSet(draw(st.integers(1, 2)), Resources({VCPU: draw(st.integers(1, cores))}))
        request = LeaseRequest(str(number), LeaseKind.BEST_EFFORT, (node_set,), 0, 1000, preemptible=True)
        start = draw(st.sampled_from([0, 50, 100, 140, 180]))
        end = start + draw(st.sampled_from([20, 60, 130]))
        hosts = tuple(draw(st.integers(0, len(plan.site) - 1)) for _ in range(node_set.count))
        lease = Lease(request, number, LeaseState.SCHEDULED, holdings=(Holding(hosts, start, start, end, end),))
        before = plan.availability
        plan.put(lease)
        if not plan.availability.within_capacity():
            plan.put(replace(lease, holdings=()))
            assert plan.availability.equals(before)
        elif draw(st.integers(0, 3)):
            leaving.append(lease)
    sets = [
        NodeSet(
            draw(st.integers(1, 4)),
            Resources({VCPU: draw(st.integers(1, cores))}),
            per_host=draw(st.none() | st.just(1)),
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return plan, leaving, LeaseRequest("r", LeaseKind.RESERVATION, tuple(sets), 0, _END - _START, start=_START)


@settings(max_examples=300, deadline=None)
@given(_plans())
def test_a_set_is_sufficient_exactly_if_the_plan_without_it_has_places(
    drawn: tuple[Plan, list[Lease], LeaseRequest],
) -> None:
    """A set of leases is sufficient exactly if every node set fits in the plan without them."""
    plan, leaving, request = drawn

    def suffices(left: int) -> bool:
        emptied = plan.without([leaving[number] for number in members(left)], _START, until=_END)
        return all(
            emptied.places(d.amounts, d.eligible, d.per_host).throughout(_START, _END) >= d.count
            for d in plan.demands(request)
        )

    everything = range(1 << len(leaving))
    sufficient = {left for left in everything if suffices(left)}
    gains = Shortage(plan, request, _START, _END, _unasked).gains(leaving)
    assert (gains is None) == (0 in sufficient or not sufficient)
    if gains is not None:
        minimal = {left for left in sufficient if all(left ^ (1 << n) not in sufficient for n in members(left))}
        assert set(minimal_sets(gains)) == minimal


def test_unnamed_memory_counts_as_the_share_of_the_host() -> None:
    """A node that does not say how much memory it needs may use its share of the host."""
    plan = Plan(Site.homogeneous(2, Resources({VCPU: 4, MEMORY_MB: 1000})))
    sets = (NodeSet(2, Resources({VCPU: 1, MEMORY_MB: 64})), NodeSet(1, Resources({VCPU: 2})))
    request = LeaseRequest("r", LeaseKind.BEST_EFFORT, sets, 0)
    assert Shortage(plan, request, 0, 1, _unasked).memory(request) == [64, 64, 500]
