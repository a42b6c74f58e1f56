"""Which running nodes move, and where new ones go (shirako F115, F116)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.plan.changing.moves import Move
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.relocation.energy_aware import EnergyAware
from lease_scheduler.policy.relocation.follow_broker import FollowBroker
from tests.unit.plan.changing.test_moves import placement

ONE = np.array([1])


def _energy_aware(**options: str) -> EnergyAware:
    return EnergyAware(PolicyOptions(options))


def test_follow_broker_moves_nodes_back_to_their_planned_hosts() -> None:
    policy = FollowBroker(PolicyOptions())
    site = placement([2, 2], [(1, 0), (1, 0)], wished=[0, 1])
    assert policy.moves(site) == [Move(1, 1)]
    assert policy.host_for(site, ONE, 1) == 1
    assert policy.host_for(site, ONE, 0) == 1
    assert policy.host_for(placement([1, 1], [(1, 0), (1, 1)]), ONE, 0) is None


def test_energy_aware_fills_hosts_while_the_site_is_quiet() -> None:
    """At most half of the site is allocated: new nodes fill the fullest host, running ones stay."""
    policy = _energy_aware(energy_aware_consolidates="false")
    quiet = placement([2, 2, 2, 2], [(1, 1)], wished=[2])
    assert policy.moves(quiet) == []
    assert policy.host_for(quiet, ONE, 3) == 1


def test_energy_aware_converges_to_the_planner_above_the_threshold() -> None:
    busy = placement([2, 2], [(1, 0), (1, 0), (1, 1)], wished=[0, 1, 1])
    assert _energy_aware().moves(busy) == [Move(1, 1)]
    assert _energy_aware().host_for(busy, ONE, 1) == 1
    assert _energy_aware(energy_aware_threshold="80").host_for(busy, ONE, 1) == 1


def test_hosts_are_emptied_wholly_or_not_at_all() -> None:
    policy = _energy_aware()
    assert policy.moves(placement([4, 4, 4, 4], [(1, 0), (2, 1), (1, 2)])) == [Move(0, 1), Move(2, 1)]
    # The nodes of the second host would not all fit.
    assert policy.moves(placement([4, 4, 9], [(3, 0), (1, 1), (2, 1)])) == []


def test_a_host_with_a_node_that_cannot_move_is_not_emptied() -> None:
    site = placement([4, 4, 4, 4], [(1, 0), (2, 1)])
    site.free[0, 0] -= 1
    assert _energy_aware().moves(site) == [Move(1, 0)]


def test_a_host_with_only_nodes_that_cannot_move_is_filled() -> None:
    """It stays in use anyway."""
    site = placement([4, 4, 4], [(1, 0), (1, 1)])
    site.free[0, 2] -= 2
    site.in_use[2] = True
    assert _energy_aware().moves(site) == [Move(0, 2), Move(1, 2)]


def test_a_threshold_above_100_per_cent_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="energy_aware_threshold.*at most 100"):
        _energy_aware(energy_aware_threshold="101")
