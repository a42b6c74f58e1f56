"""Which leases are placed alike; that they get the right places is in ``tests/property/test_alike_starts.py``."""

from __future__ import annotations

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.fitting.hosts_by_keys import SortKey
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from tests.unit.plan.conftest import MakeLease, MakePlanner


class _Counting(GreedySelection):
    """Counts how often hosts are sorted."""

    def __init__(self) -> None:
        super().__init__(PolicyOptions())
        self.sorted = 0

    def keys(self, hosts: HostsAt, lease: LeaseRequest) -> tuple[SortKey, ...]:
        self.sorted += 1
        return super().keys(hosts, lease)


class _OtherOrder(_Counting):
    """May sort hosts by something other than keys."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return super().rank(hosts, lease)


class _SameOrder(_OtherOrder):
    """Says that it still sorts by its keys."""

    sorts_by_keys = True

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return super().rank(hosts, lease)


@pytest.mark.parametrize(("selection", "times"), [(_Counting(), 4), (_OtherOrder(), 20), (_SameOrder(), 4)])
def test_hosts_are_sorted_once_for_leases_of_a_kind(
    make_planner: MakePlanner, make_lease: MakeLease, selection: _Counting, times: int
) -> None:
    """Three of them are placed one by one first, and all if the order is not that of the keys."""
    planner = make_planner(20, selection=selection)
    leases = [planner.plan.put(make_lease(LeaseKind.BEST_EFFORT, 1, 100)) for _ in range(20)]
    for lease in leases:
        planner.enqueue(lease)

    planner.process_queue(0)

    assert selection.sorted == times
    assert sorted(each.holdings[0].assignment for each in planner.plan.leases.values()) == [(n,) for n in range(20)]
    assert planner.plan.availability.within_capacity()
