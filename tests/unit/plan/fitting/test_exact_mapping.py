"""The exact mapping of node sets that compete for hosts (haizea F31)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.fitting import mapper
from lease_scheduler.plan.fitting.exact_mapping import Attempts, Competition, could_fit, fit_exactly
from lease_scheduler.plan.fitting.host_fit import Anywhere, last_again
from tests.unit.plan.conftest import MakeLease, MakePlanner


def _competition(free: list[list[int]], amounts: list[list[int]], counts: list[int]) -> Competition:
    """Node sets that may use all hosts."""
    hosts, needs = np.array(free, dtype=np.int64), np.array(amounts, dtype=np.int64)
    fitting = [[min(f // a for f, a in zip(host, need, strict=True) if a) for host in hosts.T] for need in needs]
    return Competition(hosts, needs, np.array(counts, dtype=np.int64), np.array(fitting, dtype=np.int64))


def test_capacity_that_is_enough_in_total_may_not_suffice_host_by_host() -> None:
    """Hosts of 4 take a 3 or two 2: two of them take no three 2 beside one 3, although 9 is less than 12."""
    assert could_fit(_competition([[4, 4]], [[3], [2]], [1, 2]))
    assert fit_exactly(_competition([[4, 4]], [[3], [2]], [1, 2])) is not None
    tight = _competition([[4, 4, 4]], [[3], [2]], [2, 3])
    assert could_fit(tight)
    assert fit_exactly(tight) is None


def test_nodes_that_need_a_host_each_are_counted_together() -> None:
    """Hall's condition: each set by itself fits, and both need the first two hosts."""
    whole = np.ones((1, 4), dtype=np.int64)
    places = np.array([[1, 1, 0, 0], [1, 1, 0, 0]], dtype=np.int64)
    assert not could_fit(Competition(whole, np.ones((2, 1), dtype=np.int64), np.array([1, 2]), places))
    assert could_fit(Competition(whole, np.ones((2, 1), dtype=np.int64), np.array([1, 1]), places))


def test_of_equal_hosts_the_first_ones_are_taken() -> None:
    taken = fit_exactly(_competition([[4] * 6], [[3], [2]], [1, 2]))
    assert taken is not None
    assert taken.sum(axis=0).nonzero()[0].tolist() == [0, 1]


def test_hosts_that_many_small_nodes_could_share_get_some_of_their_patterns() -> None:
    """Four sets of small nodes have about 25,000 patterns on each of these hosts."""
    competition = _competition([[64] * 50], [[1], [2], [3], [5]], [200, 200, 200, 200])
    taken = fit_exactly(competition)
    assert taken is not None
    assert (competition.amounts.T @ taken <= competition.free).all()
    assert taken.sum(axis=1).tolist() == [200] * 4


@pytest.mark.parametrize("kind", [LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE])
def test_a_search_over_many_instants_tries_few_exact_mappings(
    make_planner: MakePlanner, make_lease: MakeLease, monkeypatch: pytest.MonkeyPatch, kind: LeaseKind
) -> None:
    """Hosts of 7 become free one by one; a 5 leaves 2 of them and two 3 leave 1, so all 60 are needed, not 48."""
    planner = make_planner(site=Site.of(Host(f"h{each}", Resources({VCPU: 7})) for each in range(60)))
    for host in range(60):
        node_set = NodeSet(1, Resources({VCPU: 7}), hosts=frozenset({f"h{host}"}))
        lease = make_lease(LeaseKind.RESERVATION, node_sets=(node_set,), start=0, duration=100 * (host + 1))
        planner.place(planner.plan.put(lease), 0)
    tried: list[bool] = []

    def counted(competition: Competition) -> object:
        found = fit_exactly(competition)
        tried.append(found is not None)
        return found

    monkeypatch.setattr(mapper, "fit_exactly", counted)
    # The greedy orders fill the hosts with 5 first; only with the 3 on the hosts that are left does the rest fit.
    sets = NodeSet(30, Resources({VCPU: 5})), NodeSet(60, Resources({VCPU: 3}))
    terms = {"deadline": 9_999} if kind is LeaseKind.DEADLINE else {}
    request = make_lease(kind, node_sets=sets, start=0 if kind.has_start else None, duration=50, **terms).request

    found = quote(planner, request, 100, 0)

    assert found.lease is not None and found.lease.holdings[0].start == 6_000
    assert tried == [False] * Attempts().left


def test_the_last_instants_are_tried_again_if_exact_mappings_were_left_out(make_planner: MakePlanner) -> None:
    """A search that could still try exact mappings when it ended tries nothing twice."""
    context = make_planner().context
    request = LeaseRequest("a", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, 10)

    def instants(tries: int, latest: int | None = None) -> list[int]:
        attempts = Attempts()
        fitting = Anywhere(context, request, attempts=attempts)
        seen = []
        for start, _ in last_again(((start, fitting) for start in range(20)), attempts, latest):
            if start < tries and not attempts.are_used_up:
                attempts.left -= 1
            seen.append(start)
        return seen

    assert instants(4) == list(range(20))
    assert instants(5) == [*range(20), 16, 17, 18, 19]
    assert instants(5, latest=9) == [*range(10), 6, 7, 8, 9]
