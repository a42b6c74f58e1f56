"""Which host gets which node (haizea F31, F33)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.fitting.mapper import GREEDY, hosts_at, map_vms
from lease_scheduler.plan.fitting.present_hosts import PresentHosts, map_keeping
from lease_scheduler.plan.interfaces import HostSelection, Mapper
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.host_selection.no_policy import NoPolicy
from lease_scheduler.policy.mapper.spread import Spread
from tests.unit.plan.conftest import MakeLease, MakePlanner

NO_POLICY, FEWEST_LEASES = NoPolicy(PolicyOptions()), GreedySelection(PolicyOptions())
SPREAD = Spread(PolicyOptions())
FOUR = Resources({VCPU: 4, MEMORY_MB: 4096})


def _need(vcpus: int, memory: int = 1) -> Resources:
    return Resources({VCPU: vcpus, MEMORY_MB: memory})


def _mapped(
    planner: Planner,
    make_lease: MakeLease,
    *sets: NodeSet,
    end: int = 100,
    selection: HostSelection = NO_POLICY,
    mapper: Mapper = GREEDY,
) -> tuple[int, ...] | None:
    request = make_lease(LeaseKind.BEST_EFFORT, node_sets=sets).request
    plan = planner.plan
    return map_vms(plan.availability, request, plan.demands(request), 0, end, selection, mapper)


def test_a_host_is_filled_before_the_next_one_is_used(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 4.6 (a)."""
    assert _mapped(make_planner(3, FOUR), make_lease, NodeSet(6, _need(1))) == (0, 0, 0, 0, 1, 1)


@pytest.mark.parametrize(("count", "fits"), [(12, True), (13, False)])
def test_all_nodes_are_mapped_or_none(make_planner: MakePlanner, make_lease: MakeLease, count: int, fits: bool) -> None:
    """haizea F31: a lease is mapped as a whole."""
    assert (_mapped(make_planner(3, FOUR), make_lease, NodeSet(count, _need(1))) is not None) is fits


@pytest.mark.parametrize(("end", "host"), [(50, 0), (51, 1)])
def test_a_node_has_its_host_for_the_whole_interval(
    make_planner: MakePlanner, make_lease: MakeLease, end: int, host: int
) -> None:
    """haizea 8.2, 14: a lease that starts at the very end of the interval is not in the way."""
    planner = make_planner(2, FOUR, selection=NO_POLICY)
    taken = planner.place(planner.plan.put(make_lease(LeaseKind.RESERVATION, 1, 10, _need(4), start=50)), 0)
    assert taken.holdings[0].assignment == (0,)
    assert _mapped(planner, make_lease, NodeSet(1, _need(1)), end=end) == (host,)


def test_the_scarcest_class_decides(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F2: 4 VCPU would do for four nodes, the memory does for two."""
    assert _mapped(make_planner(2, FOUR), make_lease, NodeSet(4, _need(1, 2048))) == (0, 0, 1, 1)


def test_the_largest_nodes_are_placed_first(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F33: in the order of the request the small ones would fill the only host that can hold the large one."""
    site = Site((Host("large", _need(4, 4096)), Host("small", _need(2, 4096))))
    planner = make_planner(site=site)
    assert _mapped(planner, make_lease, NodeSet(2, _need(1)), NodeSet(1, _need(4))) == (1, 1, 0)


def test_size_counts_all_classes_each_by_its_largest_need(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F33: 3/3 + 1/4 of the first set is less than 2/3 + 4/4 of the second."""
    planner = make_planner(2, FOUR)
    sets = NodeSet(1, Resources({VCPU: 3, MEMORY_MB: 1000})), NodeSet(1, Resources({VCPU: 2, MEMORY_MB: 4000}))
    assert _mapped(planner, make_lease, *sets) == (1, 0)


def test_after_a_dead_end_hosts_are_tried_in_the_order_of_their_numbers(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F31: both sets compete for the host that the policy fills first."""

    class LastFirst(HostSelection):
        def rank(self, hosts, lease):  # type: ignore[no-untyped-def]
            return hosts.numbers[::-1]

    site = Site((Host("plain", _need(2, 4096)), Host("gpu", _need(2, 4096), frozenset({"GPU"}))))
    sets = NodeSet(2, _need(1)), NodeSet(2, _need(1), frozenset({"GPU"}))
    assert _mapped(make_planner(site=site), make_lease, *sets, selection=LastFirst()) == (0, 0, 1, 1)
    assert _mapped(make_planner(site=site), make_lease, NodeSet(1, _need(1)), selection=LastFirst()) == (1,)


WHOLE = Resources({HOST_SHARE: WHOLE_HOST})
SHARED = Resources({VCPU: 1, HOST_SHARE: 1})
GPU = frozenset({"GPU"})


def _site(hosts: int, gpus: int) -> Site:
    """Hosts for leases of whole hosts; those with a GPU have the lowest numbers."""
    capacity = Resources({VCPU: 4, HOST_SHARE: WHOLE_HOST})
    return Site(
        tuple(Host(f"compute-{each + 1}", capacity, GPU if each < gpus else frozenset()) for each in range(hosts))
    )


@pytest.mark.parametrize("kind", list(LeaseKind))
@pytest.mark.parametrize(
    "sets",
    [
        pytest.param((NodeSet(1, WHOLE), NodeSet(1, WHOLE, hosts=frozenset({"compute-1"}))), id="a named host"),
        pytest.param((NodeSet(1, SHARED), NodeSet(1, WHOLE, hosts=frozenset({"compute-1"}))), id="host and instance"),
        pytest.param((NodeSet(4, WHOLE), NodeSet(4, WHOLE, GPU)), id="GPU hosts"),
        pytest.param((NodeSet(140, WHOLE), NodeSet(4, WHOLE, GPU)), id="every host"),
    ],
)
def test_the_scarcest_set_gets_its_hosts_first(
    make_planner: MakePlanner, make_lease: MakeLease, kind: LeaseKind, sets: tuple[NodeSet, ...]
) -> None:
    """haizea F31: whole hosts all have the same size, so the largest node first is no order of them."""
    planner = make_planner(site=_site(144, 4))
    start = 0 if kind.has_start else None
    terms = {"deadline": 9_999} if kind is LeaseKind.DEADLINE else {}

    for nodes in (sets, sets[::-1]):
        request = make_lease(kind, node_sets=nodes, start=start, **terms).request
        found = quote(planner, request, 100, 0)
        assert found.granted
        assert found.lease is not None and found.lease.holdings[0].start == 0


def test_a_lease_without_a_greedy_mapping_is_placed(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F31: the larger node takes the host with more processors, the only one with the memory for the other."""
    site = Site((Host("a", _need(400, 32_768)), Host("b", _need(800, 8_192))))
    sets = NodeSet(1, _need(400, 8_000)), NodeSet(1, _need(100, 30_000))
    assert _mapped(make_planner(site=site), make_lease, *sets) == (1, 0)
    assert _mapped(make_planner(site=site), make_lease, *sets[::-1]) == (0, 1)


def test_hosts_that_a_policy_leaves_out_stay_out_of_a_dead_end(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F38."""

    class NotTheFirst(HostSelection):
        def rank(self, hosts, lease):  # type: ignore[no-untyped-def]
            return hosts.numbers[1:]

    sets = NodeSet(1, WHOLE), NodeSet(1, WHOLE, GPU)
    assert _mapped(make_planner(site=_site(3, 2)), make_lease, *sets, selection=NotTheFirst()) == (2, 1)
    assert _mapped(make_planner(site=_site(2, 2)), make_lease, *sets, selection=NotTheFirst()) is None


def test_a_policy_may_leave_hosts_out(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F38: hosts that a policy does not rank are not used."""

    class OnlyTheSecond(HostSelection):
        def rank(self, hosts, lease):  # type: ignore[no-untyped-def]
            return hosts.numbers[hosts.numbers == 1]

    planner = make_planner(3, FOUR)
    assert _mapped(planner, make_lease, NodeSet(4, _need(1)), selection=OnlyTheSecond()) == (1, 1, 1, 1)
    assert _mapped(planner, make_lease, NodeSet(5, _need(1)), selection=OnlyTheSecond()) is None


def test_max_unit_bounds_one_node_and_not_the_host(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F3: a host of two 50 % CPU instances."""
    half = Host("a", Resources({VCPU: 100}), frozenset(), Resources({VCPU: 50}))
    planner = make_planner(site=Site((half,)))
    assert _mapped(planner, make_lease, NodeSet(2, Resources({VCPU: 50}))) == (0, 0)
    assert _mapped(planner, make_lease, NodeSet(1, Resources({VCPU: 51}))) is None
    assert _mapped(planner, make_lease, NodeSet(3, Resources({VCPU: 50}))) is None


def test_greedy_prefers_hosts_without_leases(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F38, F34."""
    planner = make_planner(3, FOUR, selection=NO_POLICY)
    planner.place(planner.plan.put(make_lease(LeaseKind.RESERVATION, 1, 10, _need(1), start=0)), 0)
    assert _mapped(planner, make_lease, NodeSet(2, _need(2)), selection=FEWEST_LEASES) == (1, 1)
    assert _mapped(planner, make_lease, NodeSet(2, _need(1)), selection=NO_POLICY) == (0, 0)


def test_node_sets_of_a_lease_are_spread_together(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The second set starts on the host with the fewest nodes of the first one (haizea F30)."""
    two, one = NodeSet(2, Resources({VCPU: 2})), NodeSet(3, Resources({VCPU: 1}))

    assert _mapped(make_planner(3, FOUR), make_lease, two, one, mapper=SPREAD) == (0, 1, 0, 1, 2)


def test_an_added_node_goes_where_the_fewest_are(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3, FOUR)
    request = make_lease(LeaseKind.BEST_EFFORT, node_sets=(NodeSet(4, Resources({VCPU: 1})),)).request
    demands = planner.plan.demands(request)

    assignment = map_keeping(
        planner.plan.availability,
        request,
        demands,
        PresentHosts.of(request, (0, 0, 1, None)),
        0,
        100,
        NO_POLICY,
        SPREAD,
    )

    assert assignment == (0, 0, 1, 2)


def test_policies_see_how_hosts_are_used(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A lease takes 1 of 4 processors and 3 GB of 4 of the first host until 100."""
    planner = make_planner(2, capacity=FOUR)
    small = make_lease(LeaseKind.RESERVATION, node_sets=(NodeSet(1, _need(1, 3072)),), duration=100, start=0)
    planner.place(planner.plan.put(small), 0)

    hosts = hosts_at(planner.plan.availability, 0, 200, np.array([0, 1]))

    assert hosts.leases.tolist() == [1, 0]
    assert hosts.free.tolist() == [(0.75 + 0.25) / 2, 1.0]
    assert hosts.unchanged[0] == 100
    room = hosts.room()
    assert room.allocated.tolist() == [0.75, 0.0]
    assert room.free[room.classes.index(VCPU)].tolist() == [3, 4]
    assert room.capacity[room.classes.index(MEMORY_MB)].tolist() == [4096, 4096]
