"""Mapping a lease whose nodes have hosts already."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.fitting.present_hosts import PresentHosts, map_keeping
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner

#: Takes the place of two nodes.
LARGE = Resources({VCPU: 2, MEMORY_MB: 2048})
TWO_PLACES = LARGE


def _mapped(
    planner: Planner,
    make_lease: MakeLease,
    node_sets: Sequence[NodeSet],
    hosts: Sequence[int | None] | None,
    *,
    binding: bool = False,
) -> tuple[int, ...] | None:
    request = make_lease(LeaseKind.IMMEDIATE, duration=100, node_sets=tuple(node_sets)).request
    present = None if hosts is None else PresentHosts.of(request, hosts, binding=binding)
    context = planner.context
    demands = context.plan.demands(request)
    return map_keeping(context.plan.availability, request, demands, present, 0, 100, context.selection, context.mapper)


@pytest.fixture
def planner(make_planner: MakePlanner, make_lease: MakeLease) -> Planner:
    """Return a planner of four hosts with two places each; one place of host 0 is taken."""
    planner = make_planner(4, capacity=TWO_PLACES)
    planner.place(make_lease(LeaseKind.RESERVATION, start=50, duration=10), 0)
    return planner


@pytest.mark.parametrize("binding", [False, True])
@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        (None, (1, 1, 2)),
        ([None, None, None], (1, 1, 2)),
        ([3, 2, 3], (3, 2, 3)),
        ([3, None, 2], (3, 1, 2)),
        ([0, None, None], (0, 1, 1)),
        ([None, 0, 1], (1, 0, 1)),
        ([None, None, 0], (1, 1, 0)),
        ([3], (3, 1, 1)),
    ],
)
def test_nodes_keep_the_hosts_that_they_have(
    planner: Planner,
    make_lease: MakeLease,
    hosts: list[int | None] | None,
    expected: tuple[int, ...],
    binding: bool,
) -> None:
    """The others are placed as the policy wants, in what is left."""
    found = _mapped(planner, make_lease, [NodeSet(3, VM)], hosts, binding=binding)
    assert found == expected


def test_a_node_leaves_a_host_on_which_it_does_not_fit_unless_it_is_binding(
    planner: Planner, make_lease: MakeLease
) -> None:
    """Host 0 has one place, for the first of its two nodes."""
    nodes = [NodeSet(3, VM)]
    found = _mapped(planner, make_lease, nodes, [0, 0, 3])
    assert found is not None
    assert (found[0], found[2]) == (0, 3)
    assert found[1] != 0
    assert _mapped(planner, make_lease, nodes, [0, 0, 3], binding=True) is None
    assert _mapped(planner, make_lease, nodes, [0, 3, 3], binding=True) == (0, 3, 3)


def test_all_nodes_are_placed_anew_if_the_rest_does_not_fit(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A small node is on each of two hosts, so that the large one has none; it has one if both go to the same host."""
    planner = make_planner(2, capacity=TWO_PLACES)
    nodes = [NodeSet(2, VM), NodeSet(1, LARGE)]
    found = _mapped(planner, make_lease, nodes, [0, 1, None])
    assert found is not None
    assert found[0] == found[1] != found[2]
    assert _mapped(planner, make_lease, nodes, [0, 1, None], binding=True) is None
    assert _mapped(planner, make_lease, nodes, [1, 1, None], binding=True) == (1, 1, 0)


def test_node_sets_share_what_is_left(planner: Planner, make_lease: MakeLease) -> None:
    """What one of them keeps or gets is taken for the others."""
    nodes = [NodeSet(2, VM), NodeSet(2, LARGE)]
    found = _mapped(planner, make_lease, nodes, [1, None, None, 2])
    assert found is not None
    assert (found[0], found[2], found[3]) == (1, 3, 2)
    assert found[1] in (0, 1)
    assert _mapped(planner, make_lease, [NodeSet(1, VM), NodeSet(3, LARGE)], [1, None, None, None]) == (0, 1, 2, 3)


def test_nodes_that_must_be_apart_stay_apart(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Kept nodes count for the limit of a host."""
    planner = make_planner(3, capacity=TWO_PLACES)
    apart = NodeSet(3, VM, per_host=1)
    found = _mapped(planner, make_lease, [apart], [1, None, None])
    assert found is not None
    assert (found[0], set(found)) == (1, {0, 1, 2})
    second = _mapped(planner, make_lease, [NodeSet(2, VM, per_host=1)], [1, 1])
    assert second is not None
    assert (second[0], len(set(second))) == (1, 2)
    assert _mapped(planner, make_lease, [NodeSet(4, VM, per_host=1)], [1, None, None, None]) is None


def test_each_node_set_keeps_the_hosts_of_its_own_nodes() -> None:
    """In the order of the nodes; nodes beyond the list have none."""
    nodes = (NodeSet(2, VM), NodeSet(1, LARGE), NodeSet(3, VM))
    request = LeaseRequest("1", LeaseKind.IMMEDIATE, nodes, 0, 100)
    found = PresentHosts.of(request, [0, 1, 2, None, 4], binding=True)
    assert found == PresentHosts(((0, 1), (2,), (None, 4)), binding=True)


@pytest.mark.parametrize("binding", [False, True])
def test_nodes_without_a_host_compete_for_what_the_kept_ones_leave(
    make_planner: MakePlanner, make_lease: MakeLease, binding: bool
) -> None:
    """Only the first two hosts have a GPU; nodes that can be anywhere leave the second one to the node that cannot."""
    gpu = frozenset({"GPU"})
    planner = make_planner(
        site=Site(tuple(Host(f"h{each}", VM, gpu if each < 2 else frozenset()) for each in range(4)))
    )
    sets = [NodeSet(3, VM), NodeSet(1, VM, gpu)]
    assert _mapped(planner, make_lease, sets, [3, None, None, None], binding=binding) == (3, 0, 2, 1)
    assert _mapped(planner, make_lease, sets, [3, 0, 1, None], binding=True) is None
