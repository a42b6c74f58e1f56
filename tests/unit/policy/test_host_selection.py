"""In which order hosts are filled (haizea F34, F38)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseKind, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.interfaces import HostsAt, Room
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.host_selection.no_policy import NoPolicy
from lease_scheduler.policy.host_selection.packing import Packing
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
def test_order(
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


def test_a_threshold_above_100_per_cent_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="worst_fit_threshold.*at most 100"):
        WorstFit(PolicyOptions({"worst_fit_threshold": "150"}))
