"""What the planner does for each kind of lease (haizea F46-F50, F53, F55)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block, unblock
from lease_scheduler.plan.options import Migration, PreemptAt, Suspension
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.packing import Packing
from lease_scheduler.policy.preemption.no_preemption import NoPreemption

from .conftest import VM, MakeLease, MakePlanner

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def _queue(planner: Planner, *leases: Lease, now: int = 0) -> list[Lease]:
    """Queue leases, serve the queue and return their new values."""
    for lease in leases:
        planner.enqueue(planner.plan.put(lease))
    planner.process_queue(now)
    return [planner.plan.leases[lease.lease_id] for lease in leases]


@pytest.mark.parametrize(("nodes", "puts"), [(4, 1), (8, 3)])
def test_a_range_of_nodes_costs_trials_only_if_not_all_fit(
    make_planner: MakePlanner, make_lease: MakeLease, nodes: int, puts: int
) -> None:
    """All of them are placed at once. Of five to eight on a site of six, trials with 5 and 6 find a place first."""
    planner = make_planner(6)
    lease = planner.plan.put(make_lease(RESERVATION, nodes=nodes, start=10))
    before = planner.plan.puts
    placed = planner.place_most(lease, (min(nodes, 5),), 0)
    assert placed.request.node_count == min(nodes, 6)
    assert planner.plan.puts - before == puts


def _place(planner: Planner, lease: Lease, now: int = 0) -> Lease:
    return planner.place(planner.plan.put(lease), now)


def _activate(planner: Planner, lease: Lease, now: int = 0) -> Lease:
    return planner.plan.put(replace(lease.to(LeaseState.ACTIVE), active_since=now))


@pytest.mark.parametrize(("limit", "with_place"), [(0, []), (1, [4]), (2, [4, 5]), (None, [4, 5, 6])])
def test_the_backfilling_limit_bounds_the_leases_with_a_future_place(
    make_planner: MakePlanner, make_lease: MakeLease, limit: int | None, with_place: list[int]
) -> None:
    """haizea F47: off, aggressive, intermediate 2, conservative; the fourth lease finds all hosts taken."""
    planner = make_planner(4, backfilling_limit=limit)
    running = [make_lease(BEST_EFFORT, 1, 1000), make_lease(BEST_EFFORT, 1, 1000), make_lease(BEST_EFFORT, 2, 2000)]
    waiting = [make_lease(BEST_EFFORT, 4, 100) for _ in range(3)]
    leases = _queue(planner, *running, *waiting)
    assert [lease.sequence for lease in leases[3:] if lease.holdings] == with_place
    starts = [lease.holdings[0].start for lease in leases[3:] if lease.holdings]
    assert starts == [2000, 2100, 2200][: len(starts)]


def test_without_backfilling_no_lease_overtakes(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F46, F47."""
    for limit, overtakes in ((0, False), (1, True)):
        planner = make_planner(4, backfilling_limit=limit)
        leases = _queue(
            planner,
            make_lease(BEST_EFFORT, 3, 1000),
            make_lease(BEST_EFFORT, 2, 1000),
            make_lease(BEST_EFFORT, 1, 1000),
        )
        assert bool(leases[2].holdings) is overtakes


def test_backfilling_does_not_delay_the_lease_that_has_a_place(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F47: a lease that would run into the fixed place waits, or is suspended before it if that is allowed."""
    for suspension, end in ((Suspension.NONE, None), (Suspension.ALL, 1000)):
        planner = make_planner(4, suspension=suspension)
        _, head, long = _queue(
            planner, make_lease(BEST_EFFORT, 3, 1000), make_lease(BEST_EFFORT, 4, 500), make_lease(BEST_EFFORT, 1, 5000)
        )
        assert head.holdings[0].start == 1000
        assert (long.holdings[0].end if long.holdings else None) == end


def test_a_run_too_short_for_its_suspension_is_not_begun(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F55: 32 s to suspend, so that the run before the reservation must last 64 s."""
    for start, begun in ((63, False), (64, True)):
        planner = make_planner(1)
        _place(planner, make_lease(RESERVATION, 1, 1000, start=start))
        (lease,) = _queue(planner, make_lease(BEST_EFFORT, 1, 5000))
        first = lease.holdings[0]
        assert (first.start == 0) is begun
        if begun:
            assert (first.run_end, first.end, first.closing) == (start - 32, start, Closing.SUSPEND)
        else:
            assert first.start == start + 1000


def test_a_non_preemptible_lease_runs_in_one_piece(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F13."""
    planner = make_planner(1)
    _place(planner, make_lease(RESERVATION, 1, 1000, start=2000))
    (lease,) = _queue(planner, make_lease(BEST_EFFORT, 1, 5000, preemptible=False))
    assert (lease.holdings[0].start, lease.holdings[0].closing) == (3000, Closing.SHUTDOWN)


def test_hosts_are_held_for_the_shutdown_after_the_run(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F72: the run must not be cut into the time of the shutdown."""
    planner = make_planner(1, shutdown_time=50)
    placed = _place(planner, make_lease(RESERVATION, 1, 1000, start=100))
    assert (placed.holdings[0].run_end, placed.holdings[0].end) == (1100, 1150)
    with pytest.raises(NotPlannableError):
        _place(planner, make_lease(RESERVATION, 1, 10, start=1149))
    assert _place(planner, make_lease(RESERVATION, 1, 10, start=1150)).holdings[0].start == 1150


def test_nodes_of_a_lease_share_hosts_and_node_sets_differ(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F5, F33: hosts of different size, the largest nodes first, each host filled before the next."""
    small, large = Resources({VCPU: 4, MEMORY_MB: 8192}), Resources({VCPU: 16, MEMORY_MB: 65_536})
    site = Site((Host("a", small), Host("b", large), Host("c", small, frozenset({"GPU"}))))
    planner = make_planner(site=site)
    sets = (
        NodeSet(3, Resources({VCPU: 2, MEMORY_MB: 2048})),
        NodeSet(1, Resources({VCPU: 12, MEMORY_MB: 1024})),
        NodeSet(1, Resources({VCPU: 1, MEMORY_MB: 1024}), frozenset({"GPU"})),
    )
    placed = _place(planner, make_lease(RESERVATION, node_sets=sets, start=0, duration=60))
    assignment = placed.holdings[0].assignment
    assert assignment[3:] == (1, 2)
    used = [sum(2 for host in assignment[:3] if host == number) for number in range(3)]
    assert used[0] <= 4
    assert used[1] <= 4
    assert used[2] <= 3


def test_a_preempted_lease_is_suspended_in_time(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F53: free at the very second, or earlier by the buffer."""
    for buffer in (0, 10):
        planner = make_planner(1, suspend_buffer=buffer)
        (running,) = _queue(planner, make_lease(BEST_EFFORT, 1, 5000))
        running = _activate(planner, running)
        placed = _place(planner, make_lease(RESERVATION, 1, 100, start=1000), now=500)
        cut = planner.plan.leases[running.lease_id].holdings[0]
        assert placed.holdings[0].start == 1000
        assert (cut.run_end, cut.end, cut.closing) == (968 - buffer, 1000 - buffer, Closing.SUSPEND)


@pytest.mark.parametrize(
    ("terms", "options"),
    [
        ({"preemption_mode": PreemptionMode.DELETE}, {}),
        ({}, {"suspension": Suspension.NONE}),
        ({}, {"suspend_rate": 1}),
    ],
)
def test_a_lease_that_cannot_be_suspended_is_stopped(
    make_planner: MakePlanner, make_lease: MakeLease, terms: dict[str, PreemptionMode], options: dict[str, object]
) -> None:
    """haizea F52: at the start of the reservation, or when it is granted; its work is lost either way."""
    for when in PreemptAt:
        planner = make_planner(1, preempt_at=when, **options)
        (running,) = _queue(planner, make_lease(BEST_EFFORT, 1, 5000, **terms))
        running = _activate(planner, running)
        _place(planner, make_lease(RESERVATION, 1, 100, start=1000), now=500)
        value = planner.plan.leases[running.lease_id]
        if when is PreemptAt.REQUEST:
            assert (value.state, value.holdings, value.accumulated) == (LeaseState.QUEUED, (), 0)
        else:
            assert (value.state, value.holdings[0].end) == (LeaseState.ACTIVE, 1000)
            assert value.holdings[0].closing is Closing.KILL


def test_as_few_leases_as_possible_are_preempted(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F36: young ones first, and none whose hosts are not needed; the non-preemptible one stays."""
    planner = make_planner(4)
    leases = [
        make_lease(BEST_EFFORT, 1, 9000, submitted=10),
        make_lease(BEST_EFFORT, 1, 9000, submitted=30),
        make_lease(BEST_EFFORT, 1, 9000, submitted=20),
        make_lease(BEST_EFFORT, 1, 9000, submitted=40, preemptible=False),
    ]
    running = [_activate(planner, lease, 50) for lease in _queue(planner, *leases, now=50)]
    _place(planner, make_lease(RESERVATION, 2, 100, start=5000), now=60)
    cut = [planner.plan.leases[lease.lease_id].holdings[0].closing is Closing.SUSPEND for lease in running]
    assert cut == [False, True, True, False]


def test_no_lease_is_preempted_if_the_policy_forbids_it(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F36: and the refused request leaves the plan as it was."""
    planner = make_planner(1, preemption=NoPreemption(PolicyOptions()))
    (running,) = _queue(planner, make_lease(BEST_EFFORT, 1, 5000))
    before = planner.plan.availability
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(RESERVATION, 1, 100, start=1000), 500)
    assert planner.plan.leases[running.lease_id] == running
    assert planner.plan.availability is before


def test_a_reservation_in_the_past_is_refused(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F50."""
    with pytest.raises(NotPlannableError, match="has passed"):
        make_planner(1).place(make_lease(RESERVATION, 1, 100, start=10), 11)


def test_an_immediate_lease_starts_now_in_one_piece_or_not_at_all(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F12: it preempts none and is never suspended."""
    planner = make_planner(2)
    _queue(planner, make_lease(BEST_EFFORT, 1, 5000))
    _place(planner, make_lease(RESERVATION, 1, 100, start=1000))
    placed = _place(planner, make_lease(LeaseKind.IMMEDIATE, 1, 400), now=500)
    assert (placed.holdings[0].start, placed.holdings[0].run_end) == (500, 900)
    with pytest.raises(NotPlannableError):
        _place(planner, make_lease(LeaseKind.IMMEDIATE, 1, 50), now=500)


def test_packing_fills_hosts_in_use_first(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F38."""
    capacity = Resources({VCPU: 4, MEMORY_MB: 4096})
    for selection, same_host in ((Packing(PolicyOptions()), True), (None, False)):
        planner = make_planner(3, capacity, selection=selection)
        first = _place(planner, make_lease(RESERVATION, 1, 100, start=10))
        second = _place(planner, make_lease(RESERVATION, 1, 100, start=10))
        assert (first.holdings[0].hosts == second.holdings[0].hosts) is same_host


def _suspended(planner: Planner, lease: Lease, host: int) -> Lease:
    states = (LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE, LeaseState.SUSPENDING)
    saved = replace(lease.to(*states, LeaseState.SUSPENDED_PENDING), accumulated=1000, saved_on=(host,))
    return planner.plan.put(saved)


@pytest.mark.parametrize(
    ("migration", "start", "host"),
    [(Migration.NO, 5000, 0), (Migration.YES, 82, 1), (Migration.YES_NO_TRANSFER, 0, 1)],
)
def test_migration_options_decide_where_and_when_a_suspended_lease_resumes(
    make_planner: MakePlanner, make_lease: MakeLease, migration: Migration, start: int, host: int
) -> None:
    """haizea F54: its own host is held for long, another one is free; 82 s to move 1,024 MB at 100 Mb/s."""
    planner = make_planner(2, migration=migration, migration_bandwidth=100)
    _place(planner, make_lease(RESERVATION, 1, 5000, start=0))
    planner.enqueue(_suspended(planner, make_lease(BEST_EFFORT, 1, 3000), 0))
    planner.process_queue(0)
    resumed = planner.plan.leases["2"]
    holding = resumed.holdings[0]
    assert resumed.state is LeaseState.SUSPENDED_SCHEDULED
    assert (holding.start, holding.assignment) == (start, (host,))
    assert (holding.run_start, holding.run_end) == (start + 32, start + 32 + 2000)
    assert bool(holding.migrations) is (migration is Migration.YES)


def test_a_suspended_lease_resumes_at_once_where_it_is(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea G3: nothing blocks the host that has its memory."""
    planner = make_planner(2, migration_bandwidth=100)
    planner.enqueue(_suspended(planner, make_lease(BEST_EFFORT, 1, 3000), 1))
    planner.process_queue(700)
    assert planner.plan.leases["1"].holdings[0].start == 700
    assert planner.plan.leases["1"].holdings[0].assignment == (1,)


def test_capacity_that_becomes_free_early_is_used(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F49, F59: the waiting best-effort lease and the deadline lease both move up."""
    planner = make_planner(2)
    running, waiting = _queue(planner, make_lease(BEST_EFFORT, 2, 4000), make_lease(BEST_EFFORT, 1, 500))
    deadline = _place(planner, make_lease(LeaseKind.DEADLINE, 1, 500, start=0, deadline=20_000))
    assert (waiting.holdings[0].start, deadline.holdings[0].start) == (4000, 4000)
    active = _activate(planner, running)
    done = replace(active.to(LeaseState.DONE), holdings=(), ended=1000)
    planner.plan.put(done)
    planner.plan.remove(done.lease_id)
    assert planner.use_freed_capacity(2, 1000, 4000) == 2
    assert planner.plan.leases[waiting.lease_id].holdings[0].start == 1000
    assert planner.plan.leases[deadline.lease_id].holdings[0].start == 1000


def test_a_tight_deadline_takes_hosts_from_best_effort_leases(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """by-kind: the best-effort lease is suspended in time; a non-preemptible one is not."""
    for preemptible in (True, False):
        planner = make_planner(1)
        (running,) = _queue(planner, make_lease(BEST_EFFORT, 1, 50_000, preemptible=preemptible))
        _activate(planner, running)
        lease = planner.plan.put(make_lease(LeaseKind.DEADLINE, 1, 1000, start=2000, deadline=3500))
        if preemptible:
            assert planner.place(lease, 100).holdings[0].start == 2000
            assert planner.plan.leases[running.lease_id].holdings[0].closing is Closing.SUSPEND
        else:
            with pytest.raises(NotPlannableError):
                planner.place(lease, 100)


def test_planning_least_slack_first_can_be_switched_off(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F58: the second lease fits only if the first one moves."""
    for step in (True, False):
        planner = make_planner(1, least_slack_first=step)
        patient = _place(planner, make_lease(LeaseKind.DEADLINE, 1, 2000, start=1000, deadline=50_000))
        hasty = planner.plan.put(make_lease(LeaseKind.DEADLINE, 1, 100, start=1500, deadline=1900))
        if step:
            placed = planner.place(hasty, 0)
            assert placed.holdings[0].start == 1500
            assert planner.plan.leases[patient.lease_id].holdings[0].start == 1600
        else:
            with pytest.raises(NotPlannableError):
                planner.place(hasty, 0)
            assert planner.plan.leases[patient.lease_id] == patient


def test_a_host_out_of_service_is_not_used(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    block(planner.plan, 0, 100, 500)
    assert _place(planner, make_lease(RESERVATION, 1, 50, start=99)).holdings[0].assignment == (1,)
    assert _place(planner, make_lease(RESERVATION, 1, 50, start=50)).holdings[0].assignment == (0,)
    assert planner.plan.outages.keys() == {0}
    unblock(planner.plan, 0)
    assert _place(planner, make_lease(RESERVATION, 2, 50, start=200)).holdings[0].hosts == {0, 1}


def test_a_lease_that_holds_hosts_cannot_be_removed_from_the_plan(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    planner = make_planner(1)
    placed = _place(planner, make_lease(RESERVATION, 1, 50, start=0))
    with pytest.raises(Exception, match="still holds hosts"):
        planner.plan.remove(placed.lease_id)
    planner.plan.remove(planner.release(placed).lease_id)
    assert planner.plan.leases == {}
    assert VM.fits_in({VCPU: int(planner.plan.availability.free(0, 50)[1, 0]), MEMORY_MB: 1024})
