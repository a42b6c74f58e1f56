"""New terms or other hosts for leases that have a place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.plan.changing.changing import end_of_work, plan_anew, staying
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner, present_hosts, running


@pytest.mark.parametrize(
    ("old", "new", "give_up", "expected"),
    [
        ([3], [3], [], (0, 1, 2)),
        ([3], [2], [], (0, 1)),
        ([3], [2], [0], (1, 2)),
        ([3], [2], [1, 0], (0, 2)),
        ([2], [3], [], (0, 1, None)),
        ([2, 3], [2, 2], [3], (0, 1, 2, 4)),
        ([2, 3], [1, 3], [4], (0, 2, 3, 4)),
        ([2, 3], [3, 1], [2], (0, 1, None, 3)),
        ([2], [2, 2], [], (0, 1, None, None)),
        ([2, 1], [2], [], (0, 1)),
        ([2, 1, 2], [1, 1, 2], [0], (1, 2, 3, 4)),
    ],
)
def test_nodes_stay_in_their_node_set(
    make_lease: MakeLease, old: list[int], new: list[int], give_up: list[int], expected: tuple[int | None, ...]
) -> None:
    before, after = (
        make_lease(LeaseKind.RESERVATION, start=0, node_sets=tuple(NodeSet(count, VM) for count in counts)).request
        for counts in (old, new)
    )
    assert staying(before, after, give_up) == expected


def test_a_best_effort_lease_that_waits_gets_another_place(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=1, start=0, duration=500), 0)
    lease = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=1, duration=100), 0)
    (before,) = lease.holdings
    assert (before.start, before.assignment) == (0, (1,))
    found = plan_anew(planner, lease, replace(lease.request, nodes=(NodeSet(2, VM),)), None, 10)
    (holding,) = found.holdings
    assert (holding.start, holding.run_end, holding.assignment) == (500, 600, (0, 1))
    assert planner.plan.leases[lease.lease_id] == found
    assert planner.plan.availability.equals(planner.plan.rebuilt(0))


def test_a_best_effort_lease_that_never_fits_stays_as_it_is(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    lease = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=1, duration=100), 0)
    with pytest.raises(NotPlannableError, match=f"no place for lease {lease.lease_id}$"):
        plan_anew(planner, lease, replace(lease.request, nodes=(NodeSet(3, VM),)), None, 10)
    assert planner.plan.leases[lease.lease_id] == lease


@pytest.mark.parametrize(("duration", "fits"), [(50, False), (51, True)])
def test_a_late_reservation_still_ends_on_time(
    make_planner: MakePlanner, make_lease: MakeLease, duration: int, fits: bool
) -> None:
    """Its start has passed, so the rest of it is shorter; a lease that ends now has no rest."""
    planner = make_planner(1)
    lease = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    terms = replace(lease.request, duration=duration)
    if not fits:
        with pytest.raises(NotPlannableError, match="it would end before it could start"):
            plan_anew(planner, lease, terms, None, 150)
        return
    found = plan_anew(planner, lease, terms, None, 150)
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (150, 151)
    assert (found.request.start, found.request.duration) == (100, 51)


@pytest.mark.parametrize(("now", "start"), [(50, 100), (150, 150)])
def test_an_immediate_lease_begins_where_it_was_planned_or_now(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, start: int
) -> None:
    planner = make_planner(1)
    lease = planner.place(make_lease(LeaseKind.IMMEDIATE, duration=200), 100)
    found = plan_anew(planner, lease, replace(lease.request, duration=300), None, now)
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (start, start + 300)


def test_end_of_work_follows_from_the_new_duration(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3)
    fixed = planner.place(make_lease(LeaseKind.RESERVATION, start=50, duration=100), 0)
    assert end_of_work(fixed, replace(fixed.request, duration=130)) == 180
    assert end_of_work(replace(fixed, holdings=()), fixed.request) is None
    work = planner.place(make_lease(LeaseKind.BEST_EFFORT, duration=100), 20)
    assert end_of_work(work, replace(work.request, duration=130)) == 150
    assert end_of_work(replace(work, active_since=35, accumulated=10), replace(work.request, duration=130)) == 155


def test_a_deadline_lease_that_waits_keeps_its_place_if_it_can(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It was planned behind a reservation that is gone; its hosts are free for the longer run as well."""
    planner = make_planner(2)
    blocker = planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100), 0)
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=1000), 0)
    (before,) = lease.holdings
    assert before.start == 100
    planner.plan.put(replace(blocker, holdings=()))
    found = plan_anew(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)
    (holding,) = found.holdings
    assert (holding.start, holding.run_end, holding.assignment) == (100, 400, before.assignment)
    assert planner.plan.leases[lease.lease_id] == found


def test_a_deadline_lease_gets_fewer_nodes_if_not_all_fit(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=2000), 0)
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=1000), 0)
    terms = replace(lease.request, nodes=(NodeSet(2, VM),))
    with pytest.raises(NotPlannableError):
        plan_anew(planner, lease, terms, None, 0)
    found = plan_anew(planner, lease, terms, None, 0, (1,))
    assert found.request.nodes == (NodeSet(1, VM),)
    assert planner.plan.leases[lease.lease_id].holdings == found.holdings != ()


# -- deadline leases that wait -----------------------------------------------------------------------------------------


def _waiting(make_lease: MakeLease, planner: Planner) -> Lease:
    """Place a deadline lease at 500 s on host 1, though it could begin at 100 s, and on host 0."""
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=100, duration=200, deadline=1000), 0)
    holding = replace(lease.holdings[0], assignment=(1,), start=500, run_start=500, run_end=700, end=700)
    return planner.plan.put(replace(lease, holdings=(holding,)))


@pytest.mark.parametrize(
    ("terms", "start", "host"),
    [
        ({"duration": 300}, 500, 1),
        ({"duration": 500}, 500, 1),
        ({"start": 500}, 500, 1),
        # It would not be done by its deadline.
        ({"duration": 501}, 100, 0),
        # It would begin too early.
        ({"start": 501}, 501, 0),
    ],
)
def test_a_deadline_lease_keeps_its_place_unless_the_terms_forbid_it(
    make_planner: MakePlanner, make_lease: MakeLease, terms: dict[str, Any], start: int, host: int
) -> None:
    """Else it is planned anew, as early as possible and on the host that the policy prefers."""
    planner = make_planner(2)
    lease = _waiting(make_lease, planner)
    found = plan_anew(planner, lease, replace(lease.request, **terms), present_hosts(lease), 10)
    assert (found.holdings[0].start, found.holdings[0].assignment) == (start, (host,))


def test_no_lease_is_preempted_for_one_that_fits_elsewhere(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The longer run does not fit where the deadline lease is, and fits on no other host at that time."""
    planner = make_planner(2)
    lease = _waiting(make_lease, planner)
    others = [planner.place(make_lease(LeaseKind.BEST_EFFORT, duration=200), 700) for _ in range(2)]
    found = plan_anew(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)
    assert found.holdings[0].start == 100
    assert [planner.plan.leases[other.lease_id] for other in others] == others
    assert planner.plan.availability.within_capacity()


@pytest.mark.parametrize("may_preempt", [True, False])
def test_a_tight_deadline_lease_preempts_if_the_site_allows_it(
    make_planner: MakePlanner, make_lease: MakeLease, may_preempt: bool
) -> None:
    """With its new start it has no slack, and a best-effort lease runs there."""
    planner = make_planner(1, deadline_preemption=may_preempt)
    work = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=700))
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, duration=200, deadline=1000), 0)
    assert lease.holdings[0].start == 700
    terms = replace(lease.request, start=500, deadline=700)
    if not may_preempt:
        with pytest.raises(NotPlannableError):
            plan_anew(planner, lease, terms, present_hosts(lease), 10)
        return
    assert plan_anew(planner, lease, terms, present_hosts(lease), 10).holdings[0].start == 500
    assert planner.plan.leases[work.lease_id].holdings[0].closing is Closing.SUSPEND


# -- reservations that wait --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [None, (1,)])
def test_a_reservation_that_waits_keeps_a_host_that_the_policy_would_not_choose(
    make_planner: MakePlanner, make_lease: MakeLease, least: tuple[int, ...] | None
) -> None:
    """With a range of nodes as well as with a number."""
    planner = make_planner(3)
    lease = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    lease = planner.plan.put(replace(lease, holdings=(replace(lease.holdings[0], assignment=(2,)),)))
    terms = replace(lease.request, duration=300)
    found = plan_anew(planner, lease, terms, present_hosts(lease), 10, least)
    assert (found.holdings[0].assignment, found.holdings[0].run_end, found.request) == ((2,), 400, terms)


def test_a_late_reservation_gets_as_many_nodes_as_fit(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """For the rest of its interval; its terms keep their start and duration."""
    planner = make_planner(3)
    planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=400), 0)
    lease = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    found = plan_anew(planner, lease, replace(lease.request, nodes=(NodeSet(4, VM),)), present_hosts(lease), 150, (1,))
    assert found.request == replace(lease.request, nodes=(NodeSet(2, VM),))
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (150, 300)
    with pytest.raises(NotPlannableError):
        plan_anew(planner, found, replace(lease.request, nodes=(NodeSet(4, VM),)), present_hosts(found), 150, (3,))
    assert planner.plan.leases[lease.lease_id] == found


def test_a_new_start_in_the_past_is_refused(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Only a start that has passed since it was agreed on is; a lease without a place then begins now."""
    planner = make_planner(1)
    lease = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    with pytest.raises(NotPlannableError):
        plan_anew(planner, lease, replace(lease.request, start=20), None, 50)
    assert planner.plan.leases[lease.lease_id] == lease
    without = planner.plan.put(replace(lease, holdings=()))
    found = plan_anew(planner, without, lease.request, None, 150)
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (150, 300)
