"""Quotes: what would become of a request, and of others because of it. The plan stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.quote import Quote, more_nodes_beside, quote
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner, running

RESERVATION, BEST_EFFORT, DEADLINE = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE


def _quote(
    planner: Planner, request: LeaseRequest, *, least: tuple[int, ...] | None = None, earliest: int | None = None
) -> Quote:
    before = dict(planner.plan.leases)
    found = quote(planner, request, 99, 10, least=least, earliest=earliest)
    assert planner.plan.leases == before
    return found


def test_a_request_larger_than_the_site_is_refused_for_its_size(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """If not even the smallest number fits; every kind of lease is."""
    planner = make_planner(2)
    for kind, terms in ((RESERVATION, {"start": 100}), (BEST_EFFORT, {}), (LeaseKind.IMMEDIATE, {})):
        asked = make_lease(kind, nodes=4, duration=100, **terms).request
        for least in (None, (3,)):
            found = _quote(planner, asked, least=least)
            assert not found.granted
            assert found.lease is None
            assert found.refusal is not None
            assert found.refusal.reason == "size"
        granted = _quote(planner, asked, least=(1,))
        assert granted.granted
        assert granted.lease is not None
        assert (granted.lease.request.node_count, granted.lease.sequence) == (2, 99)


def test_a_best_effort_quote_has_a_place_or_a_position_in_the_queue(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It goes round those before it only if it delays none of them, and does not start before the given instant."""
    planner = make_planner(2)
    planner.place(make_lease(RESERVATION, start=0, duration=500), 0)
    for _ in range(3):
        planner.enqueue(planner.plan.put(make_lease(BEST_EFFORT, nodes=2, duration=50)))
    two = make_lease(BEST_EFFORT, nodes=2, duration=50).request
    found = _quote(planner, two)
    assert found.lease is not None
    assert (found.queue_position, found.lease.holdings, found.lease.state) == (3, (), LeaseState.QUEUED)
    assert found.moved == ()
    one = replace(two, nodes=(NodeSet(1, VM),))
    for earliest, start in ((None, 10), (200, 200)):
        found = _quote(planner, one, earliest=earliest)
        assert found.lease is not None
        assert (found.lease.holdings[0].start, found.queue_position) == (start, None)
    fixed = _quote(planner, make_lease(RESERVATION, start=600, duration=10).request)
    assert fixed.queue_position is None


def test_a_quote_names_the_leases_that_lose_something_and_those_only_moved(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """In the order of submission, with the node-hours that suspensions take."""
    planner = make_planner(3)
    work = [running(planner, make_lease(BEST_EFFORT, duration=1000)) for _ in range(2)]
    waits = planner.place(make_lease(DEADLINE, start=500, duration=100, deadline=9000), 0)
    found = _quote(planner, make_lease(RESERVATION, nodes=3, start=500, duration=300).request)
    assert found.preempted == tuple(each.lease_id for each in work)
    assert found.moved == (waits.lease_id,)
    assert found.preempted_kinds == (("best-effort", 2),)
    assert found.suspension_hours == pytest.approx(2 * (32 + 32) / 3600)
    free = _quote(planner, make_lease(RESERVATION, nodes=3, start=5000, duration=300).request)
    assert (free.preempted, free.moved, free.preempted_kinds, free.suspension_hours) == ((), (), (), 0.0)


def test_more_nodes_for_a_running_reservation_are_offered_as_a_second_lease(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """As a second lease for the rest of its time, if that fits."""
    planner = make_planner(3)
    lease = running(planner, make_lease(RESERVATION, start=0, duration=100))
    terms = replace(lease.request, nodes=(NodeSet(3, VM),))
    hint = more_nodes_beside(planner, lease, terms, 10)
    assert "2 additional nodes would be granted, starting 0 s from now" in hint
    assert more_nodes_beside(planner, lease, replace(terms, nodes=(NodeSet(4, VM),)), 10) == ""
    assert more_nodes_beside(planner, lease, lease.request, 10) == ""
    assert more_nodes_beside(planner, lease, terms, 100) == ""
    assert more_nodes_beside(planner, replace(lease, holdings=()), terms, 10) == ""
    planner.place(make_lease(RESERVATION, nodes=2, start=99, duration=1), 10)
    assert more_nodes_beside(planner, lease, terms, 10) == ""
