"""In which order hosts are filled (haizea F34, F38)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.lease import LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.host_selection.no_policy import NoPolicy
from lease_scheduler.policy.host_selection.packing import Packing

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
