"""New terms of live leases: what a change and its quote come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import SUSPENDED_WORK, VM, MakeWorld, World, change, refused_change, request, terms_of

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE
IMMEDIATE = LeaseKind.IMMEDIATE

# -- leases that run ---------------------------------------------------------------------------------------------------


def test_fewer_vms_go_on_and_the_run_so_far_counts(make_world: MakeWorld) -> None:
    """The project says which VM goes; the others stay on their hosts, and the lease ends when it was to end."""
    world = make_world(request("1", RESERVATION, 3, 1000, start=0), hosts=3).until(400)
    first, second, third = world["1"].holdings[0].assignment
    changed = change(world, "1", 2, give_up=(0,))
    assert (changed.stays, changed.removed, changed.added, changed.moved) == ((1, 2), (0,), (), ())
    assert changed.after == world["1"]
    (holding,) = changed.after.holdings
    assert (holding.assignment, holding.start, holding.run_end) == ((second, third), 400, 1000)
    assert (changed.after.accumulated, changed.after.active_since) == (400, 400)
    lease = world.end()["1"]
    assert (lease.ended, lease.accumulated) == (1000, 1000)
    used = [(each.start, each.end, each.assignment) for each in world.run.recorder.occupations]
    assert used == [(0, 400, (first, second, third)), (400, 1000, (second, third))]


def test_as_many_more_vms_as_there_is_room_for(make_world: MakeWorld) -> None:
    """A range gets the largest number that fits; if the smallest does not, the lease stays as it is."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=0), request("2", RESERVATION, 1, 2000, start=0), hosts=4
    ).until(100)
    quoted, _ = world.run.engine.quote_change("1", terms_of(world, "1", 4), least=(1,))
    assert quoted.request.nodes == (NodeSet(3, VM),)
    changed = change(world, "1", 4, least=(1,))
    assert (changed.after.request.nodes, changed.stays) == (quoted.request.nodes, (0, None, None))
    assert len(set(changed.after.holdings[0].assignment)) == 3
    refusal = refused_change(world, "1", 4, least=(4,))
    assert (refusal.reason, refusal.alternatives) == ("capacity", ())


@pytest.mark.parametrize(("duration", "is_over"), [(400, True), (500, True), (501, False)])
def test_a_lease_that_has_run_for_its_new_duration_ends(make_world: MakeWorld, duration: int, is_over: bool) -> None:
    """At once, whether it has run for longer or just as long."""
    world = make_world(request("1", RESERVATION, 2, 1000, start=0)).until(500)
    asked = terms_of(world, "1", 1, duration=duration)
    before = world["1"]
    quoted, lost = world.run.engine.quote_change("1", asked)
    assert (quoted == before, lost, world["1"]) == (is_over, (), before)
    changed = world.run.engine.change("1", asked, give_up=(0,))
    assert changed.stays == (1,)
    assert changed.after.reason == ("over by its new terms" if is_over else "")
    assert world.end()["1"].ended == max(duration, 500)
    assert world["1"].state is LeaseState.DONE


@pytest.mark.parametrize(("duration", "is_over"), [(468, True), (469, False)])
def test_saved_work_that_is_done_by_its_new_terms_ends(make_world: MakeWorld, duration: int, is_over: bool) -> None:
    """It ran for 468 s before its memory was saved."""
    world = make_world(*SUSPENDED_WORK, hosts=1).until(600)
    before = world["work"]
    assert before.accumulated == 468
    quoted, _ = world.run.engine.quote_change("work", terms_of(world, "work", duration=duration))
    assert (quoted == before) is is_over
    changed = change(world, "work", duration=duration)
    assert changed.stays == (0,)
    assert (world["work"].state is LeaseState.DONE) is is_over
    lease = world.end()["work"]
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, duration)
    assert lease.reason == ("over by its new terms" if is_over else "")


def test_work_that_has_to_go_on_longer_is_planned_by_its_present_place(make_world: MakeWorld) -> None:
    """An immediate lease keeps its host for longer, and a best-effort lease that runs is not sent back to the queue."""
    world = make_world(request("1", IMMEDIATE, 1, 1000), request("2", BEST_EFFORT, 1, 1000)).until(300)
    for lease_id in "12":
        before = world[lease_id]
        after = change(world, lease_id, duration=1500).after
        assert after.holdings == (replace(before.holdings[0], run_end=1500, end=1500),)
        assert (after.state, after.active_since) == (LeaseState.ACTIVE, 0)
    world.end()
    assert [world[lease_id].ended for lease_id in "12"] == [1500, 1500]


def test_a_missing_vm_that_is_given_up_is_missing_no_more(make_world: MakeWorld) -> None:
    """Its project has less from then on, and is owed for the time before. The VM with a host goes on."""
    world = make_world(
        request("1", RESERVATION, 2, 1000, start=0),
        cloud=CloudBehaviour(host_failures=(HostFailure(0, 200, 10_000),)),
        engine={"breach_tolerance": 0, "host_repair_time": 20_000},
    ).until(400)
    assert (world["1"].missing_since, world["1"].missing_nodes) == (200, 1)
    shorter = change(world, "1", duration=900).after
    assert (shorter.missing_since, shorter.missing_nodes) == (200, 1)
    after = change(world.until(500), "1", 1, give_up=(0,)).after
    assert (after.missing_since, after.missing_nodes, after.accumulated) == (None, 0, 500)
    (breach,) = world.run.recorder.breaches
    assert (breach.kind, breach.instant, breach.node_seconds) == (BreachKind.FEWER_NODES, 500, 300)
    assert world.end()["1"].ended == 900
    assert world.run.recorder.breaches == [breach]


# -- leases that wait --------------------------------------------------------------------------------------------------


def test_a_reservation_that_waits_keeps_its_hosts_where_they_fit(make_world: MakeWorld) -> None:
    """The policy would choose the first of its three hosts, which it gives up, when it begins later."""
    world = make_world(request("1", RESERVATION, 3, 1000, start=1000), hosts=5).until(10)
    _, second, third = world["1"].holdings[0].assignment
    changed = change(world, "1", 2, start=3000, give_up=(0,))
    assert changed.stays == (1, 2)
    assert changed.after.holdings[0].assignment == (second, third)
    assert (changed.after.request.start, changed.after.holdings[0].run_start) == (3000, 3000)
    assert world.end()["1"].ended == 4000


def test_a_queued_lease_gets_the_nodes_that_are_free_at_its_turn(make_world: MakeWorld) -> None:
    """More nodes than the site has are not refused, and it does not wait for them."""
    world = make_world(
        request("1", RESERVATION, 2, 1000, start=0), request("2", BEST_EFFORT, 2, 500, submitted=10), hosts=3
    ).until(100)
    quoted, lost = world.run.engine.quote_change("2", terms_of(world, "2", 5), least=(2,))
    assert (quoted.request.nodes, lost) == ((NodeSet(2, VM, count_range=(2, 5)),), ())
    after = change(world, "2", 5, least=(2,)).after
    assert after.request.nodes == (NodeSet(3, VM, count_range=(2, 5)),)
    assert [(each.start, len(each.hosts)) for each in after.holdings] == [(1000, 3)]
    assert world.end()["2"].ended == 1500


def test_the_first_in_the_queue_gets_its_place_by_its_new_terms(make_world: MakeWorld) -> None:
    """Leases behind it keep waiting; a lease without a place is changed in the queue."""
    world = make_world(
        request("1", RESERVATION, 2, 1000, start=0),
        request("2", BEST_EFFORT, 1, 500, submitted=10),
        request("3", BEST_EFFORT, 2, 500, submitted=20),
    ).until(100)
    assert (world["3"].state, world["3"].holdings) == (LeaseState.QUEUED, ())
    after = change(world, "3", duration=700).after
    assert (after.state, after.holdings, after.request.duration) == (LeaseState.QUEUED, (), 700)
    (holding,) = change(world, "2", 2).after.holdings
    assert (holding.start, holding.run_end) == (1000, 1500)
    world.end()
    assert [world[lease_id].ended for lease_id in "23"] == [1500, 2200]


def test_a_lease_that_waits_may_have_to_wait_longer_for_its_new_terms(make_world: MakeWorld) -> None:
    """Its present place is only for what it asked for before."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=0),
        request("2", RESERVATION, 1, 2000, start=0),
        request("3", BEST_EFFORT, 1, 500, submitted=10),
    ).until(100)
    assert world["3"].holdings[0].start == 1000
    (holding,) = change(world, "3", 2).after.holdings
    assert (holding.start, len(holding.hosts)) == (2000, 2)


def test_a_lease_that_boots_can_be_longer_but_not_larger_or_later(make_world: MakeWorld) -> None:
    """Its servers are being made, so their number and their start are settled."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=100),
        cloud=CloudBehaviour(boot_time=40),
        engine={"preparation_time": 60},
    )
    for instant in (50, 90):
        world.until(instant)
        refusal = refused_change(world, "1", 2)
        assert refusal.reason == "busy"
        assert refusal.message.endswith("its nodes cannot be changed before it runs")
        with pytest.raises(InvalidValueError, match="the lease has started") as error:
            change(world, "1", start=200)
        assert error.value.field == "start"
    after = change(world, "1", duration=1500).after
    assert (after.holdings[0].start, after.holdings[0].run_end) == (40, 1600)
    assert world.end()["1"].ended == 1600


def test_a_lease_that_boots_at_its_start_is_not_larger_either(make_world: MakeWorld) -> None:
    """Once its servers run, it can get more."""
    world = make_world(request("1", BEST_EFFORT, 1, 1000), cloud=CloudBehaviour(boot_time=40)).until(20)
    assert world["1"].state is LeaseState.READY
    assert refused_change(world, "1", 2).reason == "busy"
    assert change(world, "1", duration=1200).after.holdings[0].start == 0
    assert world.until(50)["1"].state is LeaseState.ACTIVE
    assert change(world, "1", 2).after.request.node_count == 2
    assert world.end()["1"].state is LeaseState.DONE


def test_saved_work_can_be_longer_but_not_larger(make_world: MakeWorld) -> None:
    """Memory was saved of as many VMs as there were."""
    world = make_world(*SUSPENDED_WORK, hosts=1).until(600)
    assert refused_change(world, "work", 2, least=(1,)).message.endswith("its nodes cannot be changed before it runs")
    after = change(world, "work", duration=2000).after
    assert after.saved_on is not None
    assert (after.holdings[0].start, after.holdings[0].run_end) == (800, 832 + 2000 - 468)
    assert world.end()["work"].accumulated == 2000


# -- quotes ------------------------------------------------------------------------------------------------------------

_CHANGES: dict[str, Callable[[World], LeaseRequest]] = {
    "longer": lambda world: terms_of(world, "1", duration=1500),
    "shorter": lambda world: terms_of(world, "1", duration=600),
    "more": lambda world: terms_of(world, "1", 2),
    "the same place": lambda world: terms_of(world, "1", extras={"note": "x"}),
}


@pytest.mark.parametrize("instant", [50, 500])
@pytest.mark.parametrize("how", _CHANGES)
@pytest.mark.parametrize("kind", [RESERVATION, DEADLINE])
def test_a_quote_is_what_the_change_comes_to(make_world: MakeWorld, kind: LeaseKind, how: str, instant: int) -> None:
    """It has the price and the place of the lease, and leaves the plan as it was."""
    terms = {"deadline": 9000} if kind is DEADLINE else {}
    priced = WorkloadLease(request("1", kind, 1, 1000, start=100, **terms), grant=Grant(price=10.0))
    world = make_world(priced).until(instant)
    asked = _CHANGES[how](world)
    before = world.run.engine.live_leases()
    quoted, lost = world.run.engine.quote_change("1", asked)
    assert world.run.engine.live_leases() == before
    after = world.run.engine.change("1", asked).after
    assert (quoted.request, quoted.grant, quoted.holdings, lost) == (after.request, after.grant, after.holdings, ())
    assert quoted.grant.price == pytest.approx(10.0 * asked.node_hours / before[0].request.node_hours)


def test_a_quote_names_those_that_would_lose_something(make_world: MakeWorld) -> None:
    """In the order of submission; not the lease itself, and not those that keep what they hold."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=2000),
        request("2", BEST_EFFORT, 1, 5000, submitted=1),
        request("3", BEST_EFFORT, 1, 6000, submitted=2),
        request("4", RESERVATION, 1, 5000, submitted=3, start=100),
        hosts=4,
    ).until(500)
    before = world.run.engine.live_leases()
    _, lost = world.run.engine.quote_change("1", terms_of(world, "1", 3))
    assert lost == ("2", "3")
    _, lost = world.run.engine.quote_change("1", terms_of(world, "1", duration=500))
    assert lost == ()
    assert world.run.engine.live_leases() == before
    change(world, "1", 3)
    assert [lease_id for lease_id in "234" if world[lease_id].holdings[0].run_end < 2000] == ["2", "3"]
