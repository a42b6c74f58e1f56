"""Hosts, and how long they can hold a lease (haizea F32, F53; Sotomayor 2010, algorithm 4)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.host_fit import Anywhere, InPlace, latest_end
from lease_scheduler.plan.fitting.mapper import GREEDY, map_vms
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, MakePlanner, new_planner

ONE = Resources({VCPU: 1, MEMORY_MB: 1})
TWO = Resources({VCPU: 2, MEMORY_MB: 2})


def _take(planner: Planner, make_lease: MakeLease, host: int, start: int, end: int, vms: int = 1) -> None:
    """Add other leases' nodes of one VCPU on a host in an interval."""
    lease = make_lease(LeaseKind.RESERVATION, vms, end - start, ONE, start=start)
    holding = Holding((host,) * vms, start, start, end, end)
    planner.plan.put(replace(lease.to(LeaseState.SCHEDULED), holdings=(holding,)))


def _request(make_lease: MakeLease, *sets: NodeSet) -> LeaseRequest:
    return make_lease(LeaseKind.BEST_EFFORT, node_sets=sets).request


def test_the_interval_ends_where_hosts_run_out(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F32: three hosts, two of which are taken later; the requested interval is a limit as well."""
    planner = make_planner(3, ONE)
    _take(planner, make_lease, 0, 100, 200)
    _take(planner, make_lease, 1, 50, 60)
    for count, longest, end in ((1, 999, 999), (1, 40, 40), (2, 999, 100), (3, 999, 50)):
        found = Anywhere(planner.context, _request(make_lease, NodeSet(count, ONE))).fit(0, 1, longest)
        assert found is not None
        assert (len(set(found[0])), found[1]) == (count, end)


@pytest.mark.parametrize(("shortest", "fits"), [(50, True), (51, False)])
def test_an_interval_below_the_shortest_useful_one_does_not_fit(
    make_planner: MakePlanner, make_lease: MakeLease, shortest: int, fits: bool
) -> None:
    """haizea F55."""
    planner = make_planner(1, ONE)
    _take(planner, make_lease, 0, 50, 60)
    fitting = Anywhere(planner.context, _request(make_lease, NodeSet(1, ONE)))
    assert (fitting.fit(0, shortest, 1000) is not None) is fits
    in_place = InPlace(planner.context, _request(make_lease, NodeSet(1, ONE)), (0,))
    assert (in_place.fit(0, shortest, 1000) is not None) is fits


def test_node_sets_that_compete_shorten_the_interval_together(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F5, F32: each set alone fits for ever, both together until 70."""
    planner = make_planner(2, TWO)
    _take(planner, make_lease, 0, 70, 80)
    sets = NodeSet(1, TWO), NodeSet(2, ONE)
    request = _request(make_lease, *sets)
    demands = planner.plan.demands(request)
    assert latest_end(planner.plan.availability, demands, 0) > 1000
    found = Anywhere(planner.context, request).fit(0, 1, 1000)
    assert found is not None
    assert found[1] == 70
    assert Anywhere(planner.context, request).fit(0, 71, 1000) is None


def test_if_one_node_set_does_not_fit_nothing_fits(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(1, TWO)
    _take(planner, make_lease, 0, 0, 10)
    request = _request(make_lease, NodeSet(1, ONE), NodeSet(1, TWO))
    assert latest_end(planner.plan.availability, planner.plan.demands(request), 0) == 0
    assert Anywhere(planner.context, request).fit(0, 1, 10) is None


def test_windows_open_when_hosts_become_free(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F48: only if a window of the required length follows the instant."""
    planner = make_planner(2, ONE)
    _take(planner, make_lease, 0, 0, 30)
    _take(planner, make_lease, 0, 50, 90)
    _take(planner, make_lease, 1, 0, 40)
    both = Anywhere(planner.context, _request(make_lease, NodeSet(2, ONE)))
    assert both.starts(0, 10)[0] == 40
    assert both.starts(0, 11)[0] == 90
    mixed = Anywhere(planner.context, _request(make_lease, NodeSet(1, ONE), NodeSet(1, ONE)))
    assert mixed.starts(0, 11)[0] == 30, "each set by itself fits; fit() tells that they do not together"
    assert mixed.fit(30, 11, 11) is None


def test_a_lease_that_resumes_in_place_uses_only_its_own_hosts(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F54, migration off: with both nodes on one host that can hold them both."""
    planner = make_planner(2, TWO)
    _take(planner, make_lease, 1, 10, 20)
    _take(planner, make_lease, 1, 100, 110)
    fitting = InPlace(planner.context, _request(make_lease, NodeSet(2, ONE)), (1, 1))
    assert fitting.fit(0, 5, 50) == ((1, 1), 10)
    assert fitting.fit(12, 1, 50) is None
    assert fitting.fit(20, 50, 500) == ((1, 1), 100)
    assert fitting.starts(12, 80).tolist()[0] == 20
    assert fitting.starts(12, 81).tolist()[0] == 110


def _without_fixtures(taken: list[tuple[int, int, int]]) -> Planner:
    """Return a planner of hosts of one, two and three VCPUs, on which others hold one VCPU at times."""
    capacities = [Resources({VCPU: size, MEMORY_MB: size}) for size in (1, 2, 3)]
    site = Site(tuple(Host(str(number), capacity) for number, capacity in enumerate(capacities)))
    planner = new_planner(site=site)
    for number, (host, start, length) in enumerate(taken):
        request = LeaseRequest(str(number), LeaseKind.RESERVATION, (NodeSet(1, ONE),), 0, length, start=start)
        if planner.plan.availability.free(start, start + length)[0, host]:
            holding = Holding((host,), start, start, start + length, start + length)
            planner.plan.put(Lease(request, number, LeaseState.SCHEDULED, holdings=(holding,)))
    return planner


_intervals = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 10)), max_size=8)
_sets = st.lists(st.builds(NodeSet, st.integers(1, 2), st.sampled_from([ONE, TWO])), min_size=1, max_size=2)


@given(_intervals, _sets, st.integers(0, 10), st.integers(1, 8))
def test_the_end_is_the_latest_one_that_the_mapper_can_reach(
    taken: list[tuple[int, int, int]], sets: list[NodeSet], start: int, shortest: int
) -> None:
    """haizea F32: against trying every end, on hosts of three sizes."""
    planner = _without_fixtures(taken)
    request = LeaseRequest("new", LeaseKind.BEST_EFFORT, tuple(sets), 0)
    plan, demands = planner.plan, planner.plan.demands(request)

    def holds(end: int) -> bool:
        selection = planner.context.selection
        return map_vms(plan.availability, request, demands, start, end, selection, GREEDY) is not None

    found = Anywhere(planner.context, request).fit(start, shortest, 40)
    ends = [end for end in range(start + shortest, start + 41) if holds(end)]
    assert (None if found is None else found[1]) == max(ends, default=None)
