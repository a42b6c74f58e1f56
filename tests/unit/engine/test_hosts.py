"""Hosts that come, change or leave while leases are planned on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState

from .conftest import SUSPENDED_WORK, VM, MakeWorld, World, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE


#: Capacity of a host with room for a number of VMs.
VM_TIMES = {number: Resources({VCPU: number, MEMORY_MB: 1024 * number}) for number in (1, 2, 3)}


def _site(world: World, *, without: frozenset[int] = frozenset(), sizes: dict[int, int] | None = None) -> None:
    """Replace the site by one without some hosts, and with room for other numbers of VMs on some."""
    room = sizes or {}
    hosts = [
        replace(host, capacity=VM_TIMES[room[number]]) if number in room else host
        for number, host in enumerate(world.run.engine.site.hosts)
        if number not in without
    ]
    world.run.engine.hosts.change_site(Site.of(hosts))


def test_a_new_host_is_used_at_once(make_world: MakeWorld) -> None:
    """By what waits in the queue, and by what was planned for later; known hosts keep their numbers."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=0),
        request("2", BEST_EFFORT, 1, 500, submitted=10),
        request("3", BEST_EFFORT, 1, 500, submitted=20),
        hosts=1,
    ).until(100)
    hosts = world.run.engine.site.hosts
    site = world.run.engine.hosts.change_site(Site.of([Host("new-1", VM), *hosts, Host("new-2", VM)]))
    assert [host.name for host in site.hosts] == [hosts[0].name, "new-1", "new-2"]
    assert world.run.engine.site is site
    assert [world[lease_id].holdings[0].start for lease_id in "23"] == [100, 100]
    assert world["1"].holdings[0].assignment == (0,)
    assert world.counters["replans"] == 1
    assert [world.end()[lease_id].ended for lease_id in "23"] == [600, 600]


def test_a_host_that_leaves_takes_what_ran_there(make_world: MakeWorld) -> None:
    """A reservation goes on elsewhere, work starts over, and what is on other hosts goes on."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=0),
        request("2", BEST_EFFORT, 1, 1000),
        request("3", RESERVATION, 1, 1000, start=0),
        hosts=5,
    ).until(100)
    of = {lease_id: world[lease_id].holdings[0].assignment[0] for lease_id in "123"}
    kept = world["3"]
    _site(world, without=frozenset({of["1"], of["2"]}))
    assert world["3"] == kept
    moved, again = world["1"], world["2"]
    assert moved.holdings[0].assignment[0] not in of.values()
    assert (moved.holdings[0].run_start, moved.holdings[0].run_end, again.accumulated) == (100, 1000, 0)
    world.end()
    assert [world[lease_id].ended for lease_id in "123"] == [1000, 1100, 1000]


@pytest.mark.parametrize("kind", [RESERVATION, DEADLINE])
def test_what_waits_for_a_host_that_leaves_is_moved(make_world: MakeWorld, kind: LeaseKind) -> None:
    """It keeps its interval, and VMs on other hosts stay there."""
    terms = {"deadline": 9000} if kind is DEADLINE else {}
    world = make_world(request("1", kind, 2, 1000, start=500, **terms), hosts=3).until(100)
    gone, kept = world["1"].holdings[0].assignment
    _site(world, without=frozenset({gone}))
    (holding,) = world["1"].holdings
    assert (holding.start, holding.run_end) == (500, 1500)
    assert holding.hosts == {kept, 3 - gone - kept}
    assert world.end()["1"].state is LeaseState.DONE


def test_the_youngest_work_leaves_a_host_that_has_become_too_small(make_world: MakeWorld) -> None:
    """The host had room for three, and has room for one: the reservation. Of two like leases the first stays longer."""
    world = make_world(hosts=1)
    world.until(0)
    _site(world, sizes={0: 3})
    for lease_id, kind in (("1", BEST_EFFORT), ("2", BEST_EFFORT), ("3", LeaseKind.IMMEDIATE)):
        world.run.engine.submit(request(lease_id, kind, 1, 1000))
    world.run.engine.step()
    world.until(100)
    assert {world[lease_id].state for lease_id in "123"} == {LeaseState.ACTIVE}
    _site(world, sizes={0: 2})
    assert [world[lease_id].state is LeaseState.ACTIVE for lease_id in "123"] == [True, False, True]
    _site(world, sizes={0: 1})
    assert [world[lease_id].state is LeaseState.ACTIVE for lease_id in "123"] == [False, False, True]
    assert world.end()["3"].ended == 1000
    assert [world[lease_id].state for lease_id in "12"] == [LeaseState.DONE, LeaseState.DONE]


@pytest.mark.parametrize(("mode", "is_lost"), [(PreemptionMode.SUSPEND, True), (PreemptionMode.SHELVE, False)])
def test_memory_on_a_host_that_leaves_is_lost(make_world: MakeWorld, mode: PreemptionMode, is_lost: bool) -> None:
    """Unless it was saved somewhere else."""
    work, other = SUSPENDED_WORK
    world = make_world(replace(work, preemption_mode=mode), other, hosts=1).until(600)
    assert (world["work"].saved_on, world["work"].accumulated) == ((0,), 468)
    world.run.engine.hosts.change_site(Site.of([Host("new-1", VM)]))
    assert world["work"].accumulated == (0 if is_lost else 468)
    lease = world.end()["work"]
    assert (lease.state, lease.accumulated) == (LeaseState.DONE, 1000)


def test_a_host_out_of_service_is_left_until_it_is_back(make_world: MakeWorld) -> None:
    """What is planned there after its return stays; nothing else begins there before."""
    world = make_world(
        request("1", RESERVATION, 1, 500, start=0),
        request("2", RESERVATION, 1, 500, start=800),
        request("3", RESERVATION, 1, 500, start=3000),
        hosts=2,
    ).until(100)
    engine = world.run.engine
    assert {world[lease_id].holdings[0].assignment for lease_id in "123"} == {(0,)}
    engine.hosts.out("host-1", 2000)
    assert engine.hosts.outages == {"host-1": (100, 2000)}
    assert [world[lease_id].holdings[0].assignment for lease_id in "123"] == [(1,), (1,), (0,)]
    assert world.counters["host_failures"] == 1
    engine.hosts.out("host-1")
    assert engine.hosts.outages == {"host-1": (100, None)}
    assert world["3"].holdings[0].assignment == (1,)
    assert world.counters["host_failures"] == 1
    engine.hosts.back("host-1")
    assert engine.hosts.outages == {}
    engine.submit(request("4", RESERVATION, 2, 100, submitted=100, start=600))
    engine.step()
    assert world["4"].state is LeaseState.READY
    world.end()
    assert [world[lease_id].ended for lease_id in "1234"] == [500, 1300, 3500, 700]


def test_a_host_out_of_service_stays_so_when_the_site_changes(make_world: MakeWorld) -> None:
    """Until it is back."""
    world = make_world(hosts=2).until(0)
    engine = world.run.engine
    engine.hosts.out("host-1")
    engine.hosts.change_site(Site.of([*engine.site.hosts, Host("new-1", VM)]))
    engine.submit(request("1", RESERVATION, 2, 1000, start=100))
    engine.submit(request("2", RESERVATION, 1, 1000, start=100))
    engine.step()
    assert world["1"].holdings[0].hosts == {1, 2}
    assert world["2"].state is LeaseState.REJECTED
    engine.hosts.back("host-1")
    engine.submit(request("3", RESERVATION, 1, 1000, start=100))
    engine.step()
    assert world["3"].holdings[0].hosts == {0}


def test_hosts_that_do_not_exist_and_instants_that_have_passed_are_invalid(make_world: MakeWorld) -> None:
    """The error names the argument."""
    world = make_world(request("1", RESERVATION, 1, 500, start=0)).until(100)
    engine = world.run.engine
    for ask in (engine.hosts.out, engine.hosts.back):
        with pytest.raises(InvalidValueError, match="there is no host x$") as error:
            ask("x")
        assert error.value.field == "host"
    with pytest.raises(InvalidValueError, match="must be in the future$") as error:
        engine.hosts.out("host-1", 100)
    assert error.value.field == "until"
    engine.hosts.out("host-2", 101)
    assert engine.hosts.outages == {"host-2": (100, 101)}


@pytest.mark.parametrize("needs_more", [True, False], ids=["with others", "alone"])
def test_a_resource_class_leaves_with_the_only_host_that_had_it(make_world: MakeWorld, needs_more: bool) -> None:
    """Two servers on that host lose their place; a lease without need of the class goes on."""
    gpu = "CUSTOM_GPU"
    world = make_world(hosts=1).until(0)
    engine = world.run.engine
    engine.hosts.change_site(Site.of([*engine.site.hosts, Host("gpus", Resources({**VM_TIMES[2], gpu: 2}))]))
    need = Resources({**VM, gpu: 1}) if needs_more else Resources({gpu: 1})
    engine.submit(replace(request("1", LeaseKind.IMMEDIATE, 2, 1000), nodes=(NodeSet(2, need),)))
    engine.submit(request("2", RESERVATION, 1, 1000, start=0))
    engine.step()
    assert world["1"].holdings[0].assignment == (1, 1)
    _site(world, without=frozenset({1}))
    assert world["1"].state is not LeaseState.ACTIVE
    assert not world["1"].holdings
    assert world["2"].state in (LeaseState.ACTIVE, LeaseState.READY)
    assert world.end()["2"].state is LeaseState.DONE


def test_work_waits_while_no_host_has_the_only_resource_class_that_it_needs(make_world: MakeWorld) -> None:
    """Its servers have a share of the memory of their host, which has left."""
    gpus = Host("gpus", Resources({**VM, "CUSTOM_GPU": 1}))
    world = make_world(hosts=1).until(0)
    engine = world.run.engine
    engine.hosts.change_site(Site.of([*engine.site.hosts, gpus]))
    engine.submit(replace(request("1", BEST_EFFORT), nodes=(NodeSet(1, Resources({"CUSTOM_GPU": 1})),)))
    engine.step()
    _site(world, without=frozenset({1}))
    assert world["1"].state is LeaseState.QUEUED
    assert world.run.planner.plan.share_of_host(world["1"].request.nodes[0], MEMORY_MB) == 0
    world.until(100)
    engine.hosts.change_site(Site.of([engine.site.hosts[0], gpus]))
    assert world.end()["1"].state is LeaseState.DONE
