"""Ranges of counts: how many nodes a lease of the queue gets at its turn (shirako F12, F70, A10, A14)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.changing import plan_anew
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.fitting.count_ranges import at_fewest, at_most, with_ranges
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.preemption import back_to_queue, lost_work
from tests.unit.plan.conftest import MakeLease, new_planner

HOST = Resources({VCPU: 4})


def _range(fewest: int, most: int, **more: object) -> NodeSet:
    return NodeSet(fewest, HOST, count_range=(fewest, most), **more)  # type: ignore[arg-type]


def _used(planner: Planner, make_lease: MakeLease, hosts: int, start: int = 0, duration: int = 100_000) -> Lease:
    lease = make_lease(LeaseKind.RESERVATION, node_sets=(NodeSet(hosts, HOST),), start=start, duration=duration)
    return planner.place(lease, 0)


def _queued(planner: Planner, make_lease: MakeLease, *nodes: NodeSet, now: int = 0, **terms: object) -> Lease:
    lease = make_lease(LeaseKind.BEST_EFFORT, node_sets=nodes, **terms)
    planner.enqueue(lease)
    planner.process_queue(now)
    return planner.plan.leases[lease.lease_id]


@pytest.mark.parametrize(("used", "granted"), [(0, 8), (3, 7), (8, 2)])
def test_a_range_takes_what_is_free_at_its_turn(make_lease: MakeLease, used: int, granted: int) -> None:
    planner = new_planner(10, HOST)
    if used:
        _used(planner, make_lease, used)
    lease = _queued(planner, make_lease, _range(2, 8))
    assert lease.state is LeaseState.READY
    assert (lease.request.node_count, lease.holdings[0].start, len(lease.holdings[0].assignment)) == (
        granted,
        0,
        granted,
    )
    assert lease.request.nodes[0].count_range == (2, 8)


def test_a_range_waits_only_for_its_fewest_nodes(make_lease: MakeLease) -> None:
    """Nine of ten hosts are taken until 100; a lease of two to eight starts then, with all that it wants."""
    planner = new_planner(10, HOST)
    _used(planner, make_lease, 9, duration=100)
    lease = _queued(planner, make_lease, _range(2, 8))
    assert (lease.request.node_count, lease.holdings[0].start) == (8, 100)


def test_more_nodes_neither_delay_nor_shorten_a_lease(make_lease: MakeLease) -> None:
    """From 50 on all but three hosts are promised to others; the lease needs its hosts for longer than that."""
    planner = new_planner(10, HOST)
    _used(planner, make_lease, 7, start=50)
    lease = _queued(planner, make_lease, _range(2, 8), duration=3_600)
    assert lease.request.node_count == 3
    assert lease.holdings[0].closing is Closing.SHUTDOWN


def test_shutting_down_more_nodes_takes_longer(make_lease: MakeLease) -> None:
    """What a lease needs is computed anew for each number of nodes: here two seconds for each on the same host."""
    planner = new_planner(1, Resources({VCPU: 8}), shutdown_time=10, enactment_overhead=2)
    lease = _queued(planner, make_lease, NodeSet(1, HOST, count_range=(1, 2)), duration=1)
    (held,) = lease.holdings
    assert (len(held.assignment), held.run_end - held.run_start, held.closing) == (2, 1, Closing.SHUTDOWN)


def test_leases_behind_a_range_wait_for_their_own_turn(make_lease: MakeLease) -> None:
    planner = new_planner(4, HOST)
    leases = [make_lease(LeaseKind.BEST_EFFORT, node_sets=(_range(1, 4),), duration=60) for _ in range(2)]
    for lease in leases:
        planner.enqueue(lease)
    planner.process_queue(0)
    first, second = (planner.plan.leases[lease.lease_id] for lease in leases)
    assert (first.request.node_count, first.holdings[0].start) == (4, 0)
    assert (second.request.node_count, second.holdings[0].start) == (4, 60)


def test_node_sets_grow_one_after_the_other(make_lease: MakeLease) -> None:
    """Each gets its fewest; then the first set takes all that is left."""
    lease = _queued(new_planner(5, HOST), make_lease, _range(1, 8), _range(2, 8))
    assert [node_set.count for node_set in lease.request.nodes] == [3, 2]


def test_sizes_grow_after_counts(make_lease: MakeLease) -> None:
    """Eight nodes of one VCPU are preferred to two of four, as units come before dimensions."""
    both = NodeSet(1, HOST, least_resources=Resources({VCPU: 1}), count_range=(1, 8))
    (nodes,) = _queued(new_planner(2, HOST), make_lease, both).request.nodes
    assert (nodes.count, nodes.resources[VCPU]) == (8, 1)
    (nodes,) = _queued(new_planner(4, HOST), make_lease, both).request.nodes
    assert (nodes.count, nodes.resources[VCPU]) == (8, 2)


def test_a_lease_that_loses_its_place_has_its_range_again(make_lease: MakeLease) -> None:
    planner = new_planner(10, HOST)
    lease = _queued(planner, make_lease, _range(2, 8))
    waiting = planner.plan.put(back_to_queue(replace(lease, grant=Grant(price=8.0)), "failed"))
    assert (waiting.request.node_count, waiting.grant.price) == (2, None)
    _used(planner, make_lease, 5)
    planner.process_queue(0)
    assert planner.plan.leases[lease.lease_id].request.node_count == 5


def test_a_lease_that_loses_its_work_has_its_range_again(make_lease: MakeLease) -> None:
    planner = new_planner(10, HOST)
    lease = _queued(planner, make_lease, _range(2, 8))
    running = planner.plan.put(replace(lease.to(LeaseState.ACTIVE), active_since=0, started=0))
    planner.plan.put_all([lost_work(running, "its host failed")])
    assert planner.plan.leases[lease.lease_id].request.node_count == 2


def test_a_suspended_lease_keeps_what_it_has(make_lease: MakeLease) -> None:
    """It has its servers: it neither gives some up nor gets more."""
    planner = new_planner(10, HOST)
    _used(planner, make_lease, 5, duration=100)
    lease = _queued(planner, make_lease, _range(2, 8), duration=1_000)
    assert lease.request.node_count == 5
    suspended = replace(lease, state=LeaseState.SUSPENDED_PENDING, saved_on=lease.holdings[0].assignment, holdings=())
    planner.enqueue(planner.plan.put(replace(suspended, accumulated=10)))
    planner.process_queue(200)
    again = planner.plan.leases[lease.lease_id]
    assert (again.state, again.request.node_count) == (LeaseState.SUSPENDED_SCHEDULED, 5)


def test_planning_a_lease_again_does_not_make_it_larger(make_lease: MakeLease) -> None:
    """It was to have four of its two to eight nodes; in another place it gets no more, and fewer if it must."""
    planner = new_planner(10, HOST)
    other = _used(planner, make_lease, 6, duration=3_600)
    lease = _queued(planner, make_lease, _range(2, 8), duration=3_600)
    assert lease.request.node_count == 4
    planner.release(other)
    moved = plan_anew(planner, lease, lease.request, None, 0)
    assert (moved.request.node_count, moved.holdings[0].start) == (4, 0)
    planner.release(moved)
    _used(planner, make_lease, 7, duration=3_600)
    moved = plan_anew(planner, moved, moved.request, None, 0)
    assert (moved.request.node_count, moved.holdings[0].start) == (3, 0)
    with pytest.raises(NotPlannableError):
        plan_anew(planner, moved, replace(moved.request, nodes=(_range(11, 12),)), None, 0)


def test_freed_hosts_let_a_lease_start_sooner_with_fewer_nodes(make_lease: MakeLease) -> None:
    """It was to have all ten hosts later; four that become free before that suffice."""
    planner = new_planner(10, HOST)
    _used(planner, make_lease, 6, duration=1_000)
    ending = _used(planner, make_lease, 4, duration=1_000)
    lease = _queued(planner, make_lease, _range(2, 10))
    assert (lease.request.node_count, lease.holdings[0].start) == (10, 1_000)
    planner.release(ending)
    planner.use_freed_capacity(4, 100, 1_000)
    sooner = planner.plan.leases[lease.lease_id]
    assert (sooner.request.node_count, sooner.holdings[0].start) == (4, 100)


def test_a_quote_has_the_number_of_nodes_that_would_be_granted(make_lease: MakeLease) -> None:
    planner = new_planner(10, HOST)
    _used(planner, make_lease, 3)
    asked = make_lease(LeaseKind.BEST_EFFORT, node_sets=(NodeSet(40, HOST),)).request
    found = quote(planner, asked, 9, 0, least=(2,)).lease
    assert found is not None
    assert (found.request.node_count, found.request.nodes[0].count_range) == (7, (2, 40))


def test_with_ranges_keeps_the_fewest_and_most_nodes(make_lease: MakeLease) -> None:
    request = make_lease(LeaseKind.BEST_EFFORT, node_sets=(NodeSet(5, HOST), NodeSet(3, HOST))).request
    ranged = with_ranges(request, (2, 3))
    assert [(each.count, each.count_range) for each in ranged.nodes] == [(2, (2, 5)), (3, None)]
    assert [each.count for each in at_most(ranged).nodes] == [5, 3]
    assert at_fewest(at_most(ranged)) == ranged


@pytest.mark.parametrize("counts", [(0, 4), (3, 4), (1, 1)])
def test_a_count_must_lie_in_its_range(counts: tuple[int, int]) -> None:
    with pytest.raises(InvalidValueError, match=r"nodes\.count_range: must be numbers of nodes with 2 between them"):
        NodeSet(2, HOST, count_range=counts)
