"""In which order hosts are filled (haizea F34, F38)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.interfaces import HostsAt, Room
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.host_selection.no_policy import NoPolicy
from lease_scheduler.policy.host_selection.packing import Packing
from lease_scheduler.policy.host_selection.vector_fit import VectorFit
from lease_scheduler.policy.host_selection.worst_fit import WorstFit

REQUEST = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, duration=1000)


@pytest.mark.parametrize(
    ("policy", "leases", "free", "unchanged", "order"),
    [
        (GreedySelection, [1, 0, 2], [1, 0.1, 1], [9, 1, 9], [11, 10, 12]),
        (GreedySelection, [0, 0, 0], [0.5, 0.9, 0.7], [9, 1, 9], [11, 12, 10]),
        (GreedySelection, [0, 0, 0], [1, 1, 1], [500, 900, 100], [11, 10, 12]),
        # What lies beyond the lease's duration does not matter: the lower number goes first.
        (GreedySelection, [0, 0, 0], [1, 1, 1], [1000, 9000, 5000], [10, 11, 12]),
        (NoPolicy, [2, 1, 0], [0, 0.5, 1], [1, 2, 3], [10, 11, 12]),
        (Packing, [0, 1, 3], [1, 0.6, 0.2], [1, 1, 1], [12, 11, 10]),
        (Packing, [0, 0, 1], [1, 1, 0.9], [1, 1, 1], [12, 10, 11]),
    ],
)
def test_each_policy_has_its_order(
    policy: type[HostSelectionPolicy], leases: list[int], free: list[float], unchanged: list[int], order: list[int]
) -> None:
    hosts = HostsAt(np.array([10, 11, 12]), np.array(leases), np.array(free, dtype=float), np.array(unchanged))
    assert policy(PolicyOptions()).rank(hosts, REQUEST).tolist() == order


def _hosts(free: list[list[int]], capacity: int, *, allocated: list[float]) -> HostsAt:
    """Return hosts of one capacity; the classes are HOST_SHARE, MEMORY_MB and VCPU."""
    amounts = np.array(free)
    count = amounts.shape[1]
    room = Room((HOST_SHARE, MEMORY_MB, VCPU), amounts, np.full(amounts.shape, capacity), np.array(allocated))
    numbers = np.arange(10, 10 + count)
    return HostsAt(numbers, np.zeros(count, int), np.ones(count), np.ones(count, int), lambda: room)


_FREE = [[9, 9, 9], [1, 4, 8], [2, 6, 2]]
BOTH = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1, MEMORY_MB: 1})),), 0, duration=1000)


@pytest.mark.parametrize(
    ("options", "allocated", "request_", "order"),
    [
        ({}, [0.5, 0.5, 0.5], BOTH, [11, 12, 10]),
        # Memory does not count if the lease does not ask for it.
        ({}, [0.5, 0.5, 0.5], REQUEST, [11, 10, 12]),
        ({"worst_fit_classes": "MEMORY_MB VCPU"}, [0.5, 0.5, 0.5], BOTH, [12, 11, 10]),
        # At most half of the site is allocated: the fullest hosts first (shirako F116).
        ({"worst_fit_threshold": "50"}, [0.9, 0.5, 0.1], BOTH, [10, 12, 11]),
        ({"worst_fit_threshold": "50"}, [0.9, 0.5, 0.2], BOTH, [11, 12, 10]),
    ],
)
def test_worst_fit_orders_by_space_in_several_classes(
    options: dict[str, str], allocated: list[float], request_: LeaseRequest, order: list[int]
) -> None:
    """shirako F69, P26."""
    hosts = _hosts(_FREE, 10, allocated=allocated)
    assert WorstFit(PolicyOptions(options)).rank(hosts, request_).tolist() == order


def test_worst_fit_has_no_preference_for_leases_of_whole_hosts() -> None:
    whole = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({HOST_SHARE: 9})),), 0, duration=1000)
    hosts = _hosts([[9, 9], [1, 4], [2, 6]], 10, allocated=[0.5, 0.5])
    assert WorstFit(PolicyOptions()).rank(hosts, whole).tolist() == [10, 11]


def _in_use(free: list[list[int]], leases: list[int], classes: tuple[str, ...], capacity: int = 100) -> HostsAt:
    amounts = np.array(free)
    room = Room(classes, amounts, np.full(amounts.shape, capacity), np.zeros(len(leases)))
    numbers = np.arange(10, 10 + len(leases))
    return HostsAt(numbers, np.array(leases), np.ones(len(leases)), np.ones(len(leases), int), lambda: room)


def _request(*node_sets: tuple[int, dict[str, int]]) -> LeaseRequest:
    nodes = tuple(NodeSet(count, Resources(needs)) for count, needs in node_sets)
    return LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, duration=1000)


@pytest.mark.parametrize(
    ("request_", "order"),
    [
        # Much memory: hosts with more memory than VCPU left, by number; then the others; the empty one last.
        (_request((1, {VCPU: 1, MEMORY_MB: 4})), [12, 14, 10, 11, 13]),
        (_request((1, {VCPU: 4, MEMORY_MB: 1})), [10, 11, 12, 14, 13]),
        # Equal needs and equal remains are in the order of the classes.
        (_request((1, {VCPU: 2, MEMORY_MB: 2})), [12, 14, 10, 11, 13]),
        # All nodes together count.
        (_request((1, {VCPU: 1, MEMORY_MB: 4}), (2, {VCPU: 4, MEMORY_MB: 1})), [10, 11, 12, 14, 13]),
        # With one class or none there is no vector: by number.
        (_request((1, {VCPU: 1})), [10, 11, 12, 14, 13]),
        (_request((1, {HOST_SHARE: 1, VCPU: 1})), [10, 11, 12, 14, 13]),
    ],
)
def test_vector_fit_evens_out_what_is_left(request_: LeaseRequest, order: list[int]) -> None:
    """dfrs F24, A12: with two classes, Permutation Pack's order of lists."""
    free = [[50] * 5, [10, 20, 80, 100, 60], [30, 40, 60, 100, 60]]
    hosts = _in_use(free, [1, 3, 2, 0, 1], (HOST_SHARE, MEMORY_MB, VCPU))
    assert VectorFit(PolicyOptions()).rank(hosts, request_).tolist() == order


def test_vector_fit_asks_hosts_in_the_order_of_their_lists() -> None:
    """dfrs A12: pairs of ranks (0, 1), (0, 2), (1, 2); of one list, the host comes first whose larger class it is."""
    request = _request((1, {VCPU: 30, MEMORY_MB: 20, "DISK_GB": 10}))
    # Ranks of VCPU and memory: (1, 2), (0, 2), (1, 0), (0, 1), (2, 0), (2, 1).
    vcpu, memory, disk = [5, 9, 5, 9, 1, 1], [1, 1, 9, 5, 9, 5], [9, 5, 1, 1, 5, 9]
    hosts = _in_use([disk, memory, vcpu], [1] * 6, ("DISK_GB", MEMORY_MB, VCPU))
    assert VectorFit(PolicyOptions()).rank(hosts, request).tolist() == [13, 12, 11, 14, 10, 15]


def test_vector_fit_compares_shares_of_capacity() -> None:
    """The same node needs mostly VCPU of one host, and mostly memory of another one."""
    request = _request((1, {VCPU: 2, MEMORY_MB: 4}))
    free, capacity = np.array([[30, 8, 8], [2, 4, 4]]), np.array([[40, 20, 40], [8, 10, 8]])
    room = Room((MEMORY_MB, VCPU), free, capacity, np.zeros(3))
    hosts = HostsAt(np.arange(3), np.ones(3, int), np.ones(3), np.ones(3, int), lambda: room)
    # Host 0: VCPU is needed, memory remains; host 1: needs equal, remains equal; host 2: VCPU of both.
    assert VectorFit(PolicyOptions()).rank(hosts, request).tolist() == [1, 2, 0]


def test_a_threshold_above_100_per_cent_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="worst_fit_threshold.*at most 100"):
        WorstFit(PolicyOptions({"worst_fit_threshold": "150"}))
