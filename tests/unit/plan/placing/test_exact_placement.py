"""Places at an exact start and end, and the victims for them (haizea F50, F36, F52, F53)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PreemptAt, Suspension
from lease_scheduler.plan.placing.exact_placement import place_exactly
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.preemption import evict, remaining_before, victims
from tests.unit.plan.conftest import MakeLease, MakePlanner

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
START, END, NOW = 1000, 1100, 500


def _makes_room(request: LeaseRequest | None, leases: Sequence[Lease]) -> bool:
    return True


def _running(planner: Planner, lease: Lease, *hosts: int, start: int = 0, end: int = 9000) -> Lease:
    """Put an active lease into the plan that holds hosts until its end."""
    holding = Holding(hosts, start, start, end, end)
    active = lease.to(LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE)
    return planner.plan.put(replace(active, holdings=(holding,), active_since=start, started=start))


def _ready(planner: Planner, lease: Lease, *holdings: Holding) -> Lease:
    return planner.plan.put(replace(lease.to(LeaseState.SCHEDULED, LeaseState.READY), holdings=holdings))


def _exactly(planner: Planner, lease: Lease, **terms: Any) -> tuple[Holding, list[str]]:
    options = {"may_preempt": True, **terms}
    holding, in_the_way = place_exactly(planner.context, lease.request, START, NOW, **options)
    return holding, [victim.lease_id for victim in in_the_way]


def test_no_lease_is_preempted_if_the_request_fits(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F50: free hosts are taken first."""
    planner = make_planner(2)
    _running(planner, make_lease(BEST_EFFORT), 0)
    assert _exactly(planner, make_lease(RESERVATION, start=START, duration=100)) == (
        Holding((1,), START, START, END, END),
        [],
    )


def test_looking_for_hosts_does_not_change_the_plan(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F50: the necessary victims are returned; making room is another step."""
    planner = make_planner(1)
    running = _running(planner, make_lease(BEST_EFFORT), 0)
    before = planner.plan.availability
    assert _exactly(planner, make_lease(RESERVATION, start=START, duration=100))[1] == ["1"]
    assert planner.plan.availability is before
    make_room(planner.context, (running,), START, END, NOW)
    assert planner.plan.availability.free(START, END)[:, 0].tolist() == [1024, 1]


def test_leases_whose_hosts_do_not_help_are_not_preempted(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 6: as few as the order allows; the youngest comes first, but another lease needs its host."""
    planner = make_planner(3)
    _running(planner, make_lease(BEST_EFFORT, submitted=1), 1)
    _running(planner, make_lease(BEST_EFFORT, submitted=3), 0, end=END - 50)
    _ready(planner, make_lease(RESERVATION, start=END - 50, duration=50), Holding((0,), 1050, 1050, 1100, 1100))
    _running(planner, make_lease(BEST_EFFORT, submitted=2), 2)
    assert _exactly(planner, make_lease(RESERVATION, start=START, duration=100)) == (
        Holding((2,), START, START, END, END),
        ["4"],
    )


def test_a_lease_is_preempted_as_a_whole(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 6: one of its two hosts is needed, both come free."""
    planner = make_planner(2)
    both = _running(planner, make_lease(BEST_EFFORT, 2), 0, 1)
    planner.place(planner.plan.put(make_lease(RESERVATION, start=START, duration=100)), NOW)
    assert planner.plan.leases[both.lease_id].holdings[0].end == START


def test_the_interval_includes_the_shutdown(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F72, F50: a lease that starts during the shutdown is in the way."""
    planner = make_planner(1, shutdown_time=50)
    _ready(planner, make_lease(RESERVATION, start=1149, duration=10), Holding((0,), 1149, 1149, 1159, 1209))
    with pytest.raises(NotPlannableError, match="for 2 min 30 s at its start"):
        _exactly(planner, make_lease(RESERVATION, start=START, duration=100))
    assert _exactly(planner, make_lease(RESERVATION, start=START, duration=99))[0].end == 1149


def test_without_preemption_there_is_no_place(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F12: immediate leases preempt none."""
    planner = make_planner(1)
    _running(planner, make_lease(BEST_EFFORT), 0)
    with pytest.raises(NotPlannableError, match="no place for lease 2"):
        _exactly(planner, make_lease(RESERVATION, start=START, duration=100), may_preempt=False)


def test_all_victims_together_may_not_be_enough(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F50: then no lease is preempted."""
    planner = make_planner(2)
    _running(planner, make_lease(BEST_EFFORT), 0)
    _running(planner, make_lease(BEST_EFFORT, preemptible=False), 1)
    with pytest.raises(NotPlannableError, match="preemption included"):
        _exactly(planner, make_lease(RESERVATION, 2, start=START, duration=100))


@pytest.mark.parametrize(
    ("terms", "allowed"),
    [
        ({}, True),
        ({"preemptible": False}, False),
        ({"preemption_mode": PreemptionMode.NONE}, False),
        ({"preemption_mode": PreemptionMode.DELETE}, True),
    ],
)
def test_the_terms_of_a_lease_decide_whether_it_may_be_a_victim(
    make_planner: MakePlanner, make_lease: MakeLease, terms: dict[str, Any], allowed: bool
) -> None:
    """haizea 8.2, 7: the flag and the mode of the lease are respected whatever the policy says."""
    planner = make_planner(1)
    running = _running(planner, make_lease(BEST_EFFORT, **terms), 0)
    request = make_lease(RESERVATION, start=START, duration=100).request
    assert victims(planner.context, request, START, END, NOW, _makes_room) == ([running] if allowed else [])
    assert victims(planner.context, request, 9000, 9100, NOW, _makes_room) == [], "it holds nothing then"


@pytest.mark.parametrize(("suspend_rate", "is_victim"), [(32, True), (1, False)])
def test_a_lease_that_is_resuming_is_a_victim_only_if_it_can_be_suspended_later(
    make_planner: MakePlanner, make_lease: MakeLease, suspend_rate: float, is_victim: bool
) -> None:
    """haizea F53: nothing can interrupt a resumption."""
    planner = make_planner(1, suspend_rate=suspend_rate)
    lease = _running(planner, make_lease(BEST_EFFORT, duration=8000), 0, start=480)
    saved = lease.to(LeaseState.SUSPENDING, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_SCHEDULED)
    resuming = saved.to(LeaseState.RESUMING)
    holding = replace(lease.holdings[0], run_start=512)
    resuming = planner.plan.put(
        replace(resuming, holdings=(holding,), saved_on=(0,), active_since=None, accumulated=200)
    )
    request = make_lease(RESERVATION, start=START, duration=100).request
    assert bool(victims(planner.context, request, START, END, NOW, _makes_room)) is is_victim
    if is_victim:
        cut = evict(planner.context, resuming, START, NOW).holdings[0]
        assert (cut.start, cut.run_start, cut.run_end, cut.end) == (480, 512, 968, 1000)


def test_equal_victims_go_in_the_order_of_submission(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 12."""
    planner = make_planner(3)
    for host in (2, 0, 1):
        _running(planner, make_lease(BEST_EFFORT, submitted=7), host)
    request = make_lease(RESERVATION, start=START, duration=100).request
    assert [lease.sequence for lease in victims(planner.context, request, START, END, NOW, _makes_room)] == [1, 2, 3]


def test_a_place_that_has_not_begun_is_given_up_at_once(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F52: back into the queue without any loss; saved memory is kept."""
    planner = make_planner(1)
    lease = _ready(planner, make_lease(BEST_EFFORT), Holding((0,), START, START, 4600, 4600))
    evicted = evict(planner.context, lease, START, NOW)
    assert (evicted.state, evicted.holdings) == (LeaseState.QUEUED, ())
    assert "was preempted before it started" in evicted.reason
    states = (LeaseState.SUSPENDING, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_SCHEDULED)
    saved = planner.plan.put(
        replace(
            lease.to(LeaseState.ACTIVE, *states),
            saved_on=(0,),
            accumulated=100,
            holdings=(Holding((0,), START, START + 32, 4600, 4600),),
        )
    )
    evicted = evict(planner.context, saved, START, NOW)
    assert (evicted.state, evicted.saved_on, evicted.accumulated) == (LeaseState.SUSPENDED_QUEUED, (0,), 100)


def test_a_place_that_begins_before_is_cut_by_a_suspension(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F53: if it can run long enough before (F55), otherwise it loses its place."""
    planner = make_planner(1)
    for begin, cut in ((936, True), (937, False)):
        lease = _ready(planner, make_lease(BEST_EFFORT), Holding((0,), begin, begin, 4600, 4600))
        evicted = evict(planner.context, lease, START, NOW)
        if cut:
            assert evicted.holdings == (Holding((0,), 936, 936, 968, START, Closing.SUSPEND),)
            assert evicted.state is LeaseState.READY
        else:
            assert (evicted.holdings, evicted.state) == ((), LeaseState.QUEUED)
        planner.plan.remove(planner.release(evicted).lease_id)


def test_a_later_part_is_given_up_and_the_earlier_one_goes_on(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F53, F57: the part that runs now is not affected by a preemption behind it."""
    planner = make_planner(1)
    first = Holding((0,), 0, 0, 568, 600, Closing.SUSPEND)
    lease = _running(planner, make_lease(LeaseKind.DEADLINE, start=0, deadline=9000), 0)
    lease = planner.plan.put(replace(lease, holdings=(first, Holding((0,), 1000, 1032, 4064, 4064))))
    assert remaining_before(lease, lease.holdings[1]) == 3600 - 568
    evicted = evict(planner.context, lease, START, NOW)
    assert (evicted.state, evicted.holdings) == (LeaseState.ACTIVE, (first,))


@pytest.mark.parametrize(
    ("when", "at", "closing"), [(PreemptAt.START, START, Closing.KILL), (PreemptAt.REQUEST, START, None)]
)
def test_the_options_decide_when_a_run_that_cannot_be_saved_ends(
    make_planner: MakePlanner, make_lease: MakeLease, when: PreemptAt, at: int, closing: Closing | None
) -> None:
    """haizea F52: at the start of the reservation, or at once; if it starts now, there is no difference."""
    planner = make_planner(1, preempt_at=when, suspension=Suspension.SERIAL_ONLY)
    node_sets = (NodeSet(2, Resources({VCPU: 0, MEMORY_MB: 512})),)
    lease = _running(planner, make_lease(BEST_EFFORT, node_sets=node_sets), 0, 0)
    evicted = evict(planner.context, lease, at, NOW)
    if closing is not None:
        assert evicted.holdings == (Holding((0, 0), 0, 0, START, START, Closing.KILL),)
    else:
        assert (evicted.state, evicted.holdings, evicted.active_since) == (LeaseState.QUEUED, (), None)
    again = planner.plan.put(lease)
    assert evict(planner.context, again, NOW, NOW).state is LeaseState.QUEUED


@pytest.mark.parametrize("others", [0, 1, 5])
def test_as_few_leases_as_possible_are_preempted_for_several_node_sets(
    make_planner: MakePlanner, make_lease: MakeLease, others: int
) -> None:
    """Each node set by itself would fit with fewer victims; together they need four hosts."""
    planner = make_planner(4 + others)
    for host in range(4 + others):
        _running(planner, make_lease(BEST_EFFORT), host)
    vm = Resources({VCPU: 1, MEMORY_MB: 1024})
    asked = make_lease(RESERVATION, start=START, duration=100, node_sets=(NodeSet(3, vm), NodeSet(1, vm)))
    holding, in_the_way = _exactly(planner, asked)
    assert len(set(holding.assignment)) == len(in_the_way) == 4
