"""Moves of running nodes, each of which fits at its destination (shirako F117, F118, A20, A21)."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.plan.changing.moves import Move, Placement, fullest_with_room, in_order, to_grow
from lease_scheduler.policy.relocation.base import to_wished


def placement(capacity: list[int], nodes: list[tuple[int, int]], wished: list[int] | None = None) -> Placement:
    """Return a placement in one class.

    :param nodes: size and host of each node
    """
    sizes, hosts = np.array([[size for size, _ in nodes]]), np.array([host for _, host in nodes])
    used = np.bincount(hosts, weights=sizes[0], minlength=len(capacity)).astype(np.int64)
    return Placement(
        np.array([capacity]),
        np.array([capacity]) - used,
        sizes,
        hosts,
        hosts if wished is None else np.array(wished),
        np.ones(len(capacity), dtype=bool),
        used > 0,
    )


def test_a_move_waits_until_the_node_fits() -> None:
    """The node of size 3 can go to host 1 only after the node there has left."""
    site = placement([4, 4, 4], [(3, 0), (2, 1)])
    assert in_order(site, [Move(0, 1), Move(1, 2)]) == [Move(1, 2), Move(0, 1)]


def test_nodes_that_swap_hosts_need_a_third_host() -> None:
    site = placement([4, 4, 4], [(4, 0), (3, 1)])
    assert in_order(site, [Move(0, 1), Move(1, 0)]) == [Move(1, 2), Move(0, 1), Move(1, 0)]


def test_moves_that_cannot_be_made_are_left_out() -> None:
    site = placement([4, 4], [(4, 0), (3, 1)])
    assert in_order(site, [Move(0, 1), Move(1, 0)]) == []


def test_a_node_whose_destination_stays_full_stays_where_it_is() -> None:
    """It would only go to another host, and from there to yet another one, for ever."""
    site = placement([1, 1, 1], [(1, 0), (1, 1)], wished=[1, 1])
    assert to_wished(site) == []


def test_a_node_that_cannot_arrive_does_not_keep_others_from_swapping_hosts() -> None:
    """The smallest node would step aside first, for nothing, and take the only host in between."""
    site = placement([4, 4, 4, 1], [(4, 0), (4, 1), (1, 3)], wished=[1, 0, 0])
    assert to_wished(site) == [Move(0, 2), Move(1, 0), Move(0, 1)]


def test_nothing_moves_to_hosts_that_may_not_be_used() -> None:
    site = placement([4, 4], [(1, 0)])
    site.usable[1] = False
    assert in_order(site, [Move(0, 1)]) == []
    assert fullest_with_room(site, site.free, np.array([4])) is None


def test_best_fit_takes_the_fullest_host_on_which_the_node_fits() -> None:
    site = placement([4, 4, 4], [(1, 0), (3, 1)])
    assert fullest_with_room(site, site.free, np.array([1])) == 1
    assert fullest_with_room(site, site.free, np.array([2])) == 0
    assert fullest_with_room(site, site.free, np.array([4])) == 2


def test_a_neighbour_moves_when_a_sliver_grows_to_the_whole_host() -> None:
    """shirako G3, E15: one migration, of B."""
    assert to_grow(placement([4, 4], [(1, 0), (1, 0)]), 0, np.array([2])) == []
    assert to_grow(placement([4, 4], [(2, 0), (1, 0)]), 0, np.array([4])) == [Move(1, 1)]


def test_a_growing_sliver_moves_itself_if_that_moves_less() -> None:
    assert to_grow(placement([8, 8], [(1, 0), (6, 0)]), 0, np.array([3])) == [Move(0, 1)]
    assert to_grow(placement([4, 4], [(2, 0), (2, 0), (3, 1)]), 0, np.array([3])) is None


def test_the_allocated_share_is_that_of_the_scarcest_class() -> None:
    site = Placement(
        np.array([[4, 4, 0], [8, 8, 0]]),
        np.array([[3, 4, 0], [2, 8, 0]]),
        np.array([[1], [6]]),
        np.array([0]),
        np.array([0]),
        np.ones(3, dtype=bool),
        np.array([True, False, False]),
    )
    assert site.allocated == 0.375


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_each_node_fits_when_its_move_has_its_turn(data: st.DataObject) -> None:
    hosts = data.draw(st.integers(2, 5))
    capacity = data.draw(st.lists(st.integers(1, 8), min_size=hosts, max_size=hosts))
    left = list(capacity)
    nodes = []
    for size, host in data.draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, hosts - 1)), max_size=9)):
        if left[host] >= size:
            left[host] -= size
            nodes.append((size, host))
    if not nodes:
        return
    site = placement(capacity, nodes)
    wanted = [Move(node, data.draw(st.integers(0, hosts - 1))) for node in range(len(nodes))]
    at = [host for _, host in nodes]
    for move in in_order(site, [move for move in wanted if move.to != at[move.node]]):
        size = nodes[move.node][0]
        left[at[move.node]] += size
        left[move.to] -= size
        at[move.node] = move.to
        assert min(left) >= 0
