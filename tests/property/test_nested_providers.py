"""Leases never need more of nested providers than Placement can serve, whichever provider it takes (issue 18)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import Provider, ProviderGroup
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.explain import explain, too_large
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

VGPU, OUT, IN = "VGPU", "NET_BW_EGR_KILOBIT_PER_SEC", "NET_BW_IGR_KILOBIT_PER_SEC"
_TRAITS = ("CUSTOM_A", "CUSTOM_B")
_SELECTION = load_policy("host_selection", "greedy", PolicyOptions())
_PREEMPTION = load_policy("preemption", "no-preemption", PolicyOptions())


@st.composite
def _providers(draw: st.DrawFn) -> Provider:
    traits = frozenset(draw(st.sets(st.sampled_from(_TRAITS))))
    if draw(st.booleans()):
        return Provider(Resources({VGPU: draw(st.integers(1, 4))}), traits)
    sizes = {OUT: draw(st.integers(1, 4)), IN: draw(st.integers(1, 4))}
    return Provider(Resources(sizes), traits, Resources({OUT: draw(st.integers(1, 4))}))


@st.composite
def _hosts(draw: st.DrawFn, number: int) -> Host:
    providers = draw(st.lists(_providers(), max_size=4))
    # Equal providers are frequent on real hosts.
    providers += providers[: draw(st.integers(0, len(providers)))]
    own = {VGPU: draw(st.integers(1, 3))} if draw(st.integers(0, 4)) == 0 else {}
    return Host(f"host-{number}", Resources({VCPU: 20, **own}), providers=tuple(providers))


@st.composite
def _groups(draw: st.DrawFn) -> ProviderGroup:
    traits = frozenset(draw(st.sampled_from([set(), set(), {"CUSTOM_A"}, {"CUSTOM_B"}])))
    amounts = draw(st.sampled_from([{VGPU: 1}, {VGPU: 1}, {VGPU: 2}, {VGPU: 3}, {OUT: 1}, {OUT: 2, IN: 1}, {IN: 2}]))
    return ProviderGroup(Resources(amounts), traits)


@st.composite
def _requests(draw: st.DrawFn, number: int) -> LeaseRequest:
    groups = tuple(draw(st.lists(_groups(), min_size=1, max_size=2)))
    nodes = NodeSet(draw(st.integers(1, 2)), Resources({VCPU: 1}), groups=groups)
    return LeaseRequest(
        f"lease-{number}",
        LeaseKind.RESERVATION,
        (nodes,),
        submitted=0,
        start=draw(st.integers(0, 20)),
        duration=draw(st.integers(1, 10)),
    )


@dataclass
class _Cloud:
    """Placement with the worst habits: it takes any provider that fits, as ``draw`` says."""

    site: Site
    draw: st.DataObject

    def __post_init__(self) -> None:
        self.used: Counter[tuple[int, int, str]] = Counter()

    def _providers(self, host: int) -> list[Provider]:
        found = self.site.hosts[host]
        return [*found.providers, Provider(found.capacity, found.traits, found.max_unit)]

    def take(self, host: int, group: ProviderGroup) -> int | None:
        providers = self._providers(host)
        able = [
            number
            for number, each in enumerate(providers)
            if each.can_ever_serve(group)
            and all(
                self.used[host, number, name] + amount <= each.capacity.get(name, 0)
                for name, amount in group.resources.items()
            )
        ]
        if not able:
            return None
        number = self.draw.draw(st.sampled_from(able))
        self.change(host, number, group, 1)
        return number

    def change(self, host: int, number: int, group: ProviderGroup, sign: int) -> None:
        for name, amount in group.resources.items():
            self.used[host, number, name] += sign * amount


@settings(max_examples=300, deadline=None)
@given(data=st.data(), number=st.integers(1, 2), requests=st.integers(1, 14))
def test_every_server_of_a_granted_lease_finds_its_devices(data: st.DataObject, number: int, requests: int) -> None:
    """Servers start at the starts of their leases, and Placement takes the providers that are worst for the others."""
    site = Site(tuple(data.draw(_hosts(each)) for each in range(number)))
    planner = Planner(site, PlanningOptions(), PolicySet(host_selection=_SELECTION, preemption=_PREEMPTION))
    refused = 0
    for each in range(requests):
        request = data.draw(_requests(each))
        try:
            planner.place(Lease(request, each, LeaseState.PENDING), 0)
        except NotPlannableError:
            refused += 1
            refusal = explain(planner, request, 0)
            assert refusal.message
    event(f"refused: {'some' if refused else 'none'}")
    cloud = _Cloud(site, data)
    ends: list[tuple[int, int, int, ProviderGroup]] = []
    planned = sorted(
        ((lease.holdings[0], lease.request) for lease in planner.plan.leases.values() if lease.holdings),
        key=lambda pair: pair[0].start,
    )
    for holding, request in planned:
        for end, host, provider, group in [each for each in ends if each[0] <= holding.start]:
            cloud.change(host, provider, group, -1)
            ends.remove((end, host, provider, group))
        groups = [node_set.groups for node_set in request.nodes for _ in range(node_set.count)]
        for host, of_vm in zip(holding.assignment, groups, strict=True):
            for group in of_vm:
                taken = cloud.take(host, group)
                assert taken is not None, f"{request.lease_id} found no provider for {group} on host {host}"
                ends.append((holding.end, host, taken, group))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_an_empty_site_serves_requests_that_are_not_too_large(data: st.DataObject) -> None:
    """What ``too_large`` admits has a place on the empty site, and what one provider can serve alone is admitted."""
    site = Site((data.draw(_hosts(1)),))
    planner = Planner(site, PlanningOptions(), PolicySet(host_selection=_SELECTION, preemption=_PREEMPTION))
    request = data.draw(_requests(0))
    if too_large(planner.context, request) is None:
        planner.place(Lease(request, 0, LeaseState.PENDING), 0)
    host, (nodes,) = site.hosts[0], request.nodes
    own = Provider(host.capacity, host.traits, host.max_unit)
    if nodes.count == len(nodes.groups) == 1:
        able = any(each.can_ever_serve(nodes.groups[0]) for each in (*host.providers, own))
        assert able == (too_large(planner.context, request) is None)


@pytest.mark.parametrize(("amount", "most"), [(1, 8), (2, 2), (4, 1)])
def test_amounts_fit_whichever_of_several_providers_serves_them(amount: int, most: int) -> None:
    """Two GPUs of 4: eight units fit. Of larger amounts as many fit as do however the GPUs are used otherwise."""
    gpu = Provider(Resources({VGPU: 4}))
    planner = Planner(
        Site((Host("host", Resources({VCPU: 20}), providers=(gpu, gpu)),)),
        PlanningOptions(),
        PolicySet(host_selection=_SELECTION, preemption=_PREEMPTION),
    )
    nodes = NodeSet(1, Resources({VCPU: 1}), groups=(ProviderGroup(Resources({VGPU: amount})),))
    placed = 0
    for number in range(10):
        request = LeaseRequest(f"lease-{number}", LeaseKind.RESERVATION, (nodes,), 0, duration=10, start=5)
        try:
            planner.place(Lease(request, number, LeaseState.PENDING), 0)
        except NotPlannableError:
            break
        placed += 1
    assert placed == most
