"""Elastic sizes: what is granted out of a range of sizes (shirako F21, F70, F71)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.placing.elastic import is_elastic, with_sizes_of
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, new_planner

HOST = Resources({VCPU: 16, MEMORY_MB: 64})
KINDS = [LeaseKind.RESERVATION, LeaseKind.IMMEDIATE, LeaseKind.DEADLINE, LeaseKind.BEST_EFFORT]


def _elastic(count: int = 1, most: int = 16, least: int = 8, memory: int = 1) -> NodeSet:
    return NodeSet(count, Resources({VCPU: most, MEMORY_MB: memory}), least_resources=Resources({VCPU: least}))


def _used(planner: Planner, make_lease: MakeLease, vcpus: int, hosts: int = 1, **terms: object) -> Lease:
    """Take some VCPUs of some hosts, by default for good and in such a way that they cannot be preempted."""
    nodes = (NodeSet(hosts, Resources({VCPU: vcpus, MEMORY_MB: 1}), per_host=1),)
    lease = make_lease(LeaseKind.RESERVATION, node_sets=nodes, start=0, duration=100_000, **terms)
    return planner.place(lease, 0)


def _placed(planner: Planner, make_lease: MakeLease, kind: LeaseKind, nodes: NodeSet) -> Lease:
    times: dict[str, int] = {}
    if kind.has_start:
        times["start"] = 0
    if kind is LeaseKind.DEADLINE:
        times["deadline"] = 7_200
    lease = make_lease(kind, node_sets=(nodes,), **times)
    if kind is not LeaseKind.BEST_EFFORT:
        return planner.place(lease, 0)
    planner.enqueue(lease)
    planner.process_queue(0)
    return planner.plan.leases[lease.lease_id]


def _sizes(lease: Lease) -> list[int]:
    assert not is_elastic(lease.request)
    return [node_set.resources[VCPU] for node_set in lease.request.nodes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("used", "granted"), [(0, 16), (3, 13), (8, 8)])
def test_a_node_grows_into_what_is_free(make_lease: MakeLease, kind: LeaseKind, used: int, granted: int) -> None:
    planner = new_planner(1, HOST)
    if used:
        _used(planner, make_lease, used)
    lease = _placed(planner, make_lease, kind, _elastic())
    assert _sizes(lease) == [granted]
    assert lease.request.nodes[0].resources[MEMORY_MB] == 1
    free = planner.plan.availability.free(0, 3_600)[planner.plan.classes.index(VCPU)]
    assert free.tolist() == [16 - used - granted]


@pytest.mark.parametrize("kind", KINDS[:3])
def test_without_the_smallest_size_there_is_no_place(make_lease: MakeLease, kind: LeaseKind) -> None:
    planner = new_planner(1, HOST)
    _used(planner, make_lease, 9)
    with pytest.raises(NotPlannableError):
        _placed(planner, make_lease, kind, _elastic())


def test_nodes_of_a_set_have_one_size(make_lease: MakeLease) -> None:
    """One host has 10 free, another one 16: two nodes get 10 each, and not 16."""
    planner = new_planner(2, HOST)
    _used(planner, make_lease, 6)
    assert _sizes(_placed(planner, make_lease, LeaseKind.RESERVATION, _elastic(2))) == [10]


def test_only_the_smallest_size_may_preempt(make_lease: MakeLease) -> None:
    """Room that a victim would have to make is used only if even the smallest size needs it."""
    planner = new_planner(1, HOST)
    victim = make_lease(LeaseKind.BEST_EFFORT, node_sets=(NodeSet(1, Resources({VCPU: 6, MEMORY_MB: 1})),))
    planner.enqueue(victim)
    planner.process_queue(0)
    assert _sizes(_placed(planner, make_lease, LeaseKind.RESERVATION, _elastic())) == [10]
    assert planner.plan.leases[victim.lease_id].holdings

    planner = new_planner(1, HOST)
    large = replace(victim, request=replace(victim.request, nodes=(NodeSet(1, Resources({VCPU: 12, MEMORY_MB: 1})),)))
    planner.enqueue(large)
    planner.process_queue(0)
    # Eight are free only without the victim; then all sixteen are.
    assert _sizes(_placed(planner, make_lease, LeaseKind.RESERVATION, _elastic())) == [16]
    assert not planner.plan.leases[large.lease_id].holdings


def test_a_queued_lease_starts_as_soon_as_the_smallest_size_fits(make_lease: MakeLease) -> None:
    planner = new_planner(1, HOST)
    _used(planner, make_lease, 5)
    lease = _placed(planner, make_lease, LeaseKind.BEST_EFFORT, _elastic())
    assert (lease.holdings[0].start, _sizes(lease)) == (0, [11])


def test_several_sets_share_what_is_free(make_lease: MakeLease) -> None:
    planner = new_planner(1, HOST)
    sets = (_elastic(most=12, least=2), _elastic(most=12, least=2))
    lease = planner.place(make_lease(LeaseKind.RESERVATION, node_sets=sets, start=0), 0)
    assert sum(_sizes(lease)) == 16
    assert all(2 <= size <= 12 for size in _sizes(lease))


def test_the_number_of_nodes_comes_before_their_size(make_lease: MakeLease) -> None:
    """shirako A14: as many slivers as fit with the smallest size, and only then larger ones."""
    planner = new_planner(1, HOST)
    lease = make_lease(LeaseKind.RESERVATION, node_sets=(_elastic(4, most=16, least=4),), start=0)
    placed = planner.place_most(lease, (1,), 0)
    assert (placed.request.node_count, _sizes(placed)) == (4, [4])


def test_the_largest_unit_of_a_host_limits_the_size(make_lease: MakeLease) -> None:
    site = Site.of([Host("a", HOST, frozenset(), Resources({VCPU: 10}))])
    assert _sizes(_placed(new_planner(site=site), make_lease, LeaseKind.RESERVATION, _elastic())) == [10]


def test_a_quote_has_the_size_that_would_be_granted(make_lease: MakeLease) -> None:
    planner = new_planner(1, HOST)
    _used(planner, make_lease, 3)
    for kind, times in ((LeaseKind.RESERVATION, {"start": 0}), (LeaseKind.BEST_EFFORT, {})):
        request = LeaseRequest("new", kind, (_elastic(),), 0, 3_600, **times)  # type: ignore[arg-type]
        found = quote(planner, request, 99, 0)
        assert found.lease is not None
        assert _sizes(found.lease) == [13]


def test_new_terms_of_servers_keep_their_sizes() -> None:
    asked = LeaseRequest("1", LeaseKind.BEST_EFFORT, (_elastic(3), _elastic()), 0)
    granted = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(2, Resources({VCPU: 11, MEMORY_MB: 1})), _elastic()), 0)
    found = with_sizes_of(asked, granted)
    assert [(each.count, each.resources[VCPU], each.least_resources) for each in found.nodes] == [
        (3, 11, None),
        (1, 8, None),
    ]


@pytest.mark.parametrize("least", [{VCPU: 17}, {"CUSTOM_GPU": 1}])
def test_the_smallest_size_must_be_within_the_largest(least: dict[str, int]) -> None:
    with pytest.raises(InvalidValueError, match=rf"nodes\.least_resources\.{next(iter(least))}: must be at most"):
        NodeSet(1, Resources({VCPU: 16}), least_resources=Resources(least))
