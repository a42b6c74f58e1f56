"""Terms that are not kept, and the penalties for them (haizea F95; Sotomayor 2010, section 8.4)."""

from __future__ import annotations

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.metrics import revenue
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import MakeWorld, World, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE
EXACT = {"breach_tolerance": 0}
HOURLY = {"penalty_rate": "3600"}


def _found(world: World) -> list[tuple[str, BreachKind, int, int, int]]:
    return [(b.lease_id, b.kind, b.instant, b.seconds, b.node_seconds) for b in world.run.recorder.breaches]


def _priced(lease_id: str, price: float, nodes: int = 2, **terms: int) -> WorkloadLease:
    return WorkloadLease(request(lease_id, RESERVATION, nodes, **terms), grant=Grant(price=price))


def test_a_late_start(make_world: MakeWorld) -> None:
    """A penalty of 1 per second and node; the boot takes 40 s."""
    lease = _priced("1", 1000.0, start=100, duration=300)
    world = make_world(
        lease, cloud=CloudBehaviour(boot_time=40), engine=EXACT, penalty="proportional", policies=HOURLY
    ).end()
    assert _found(world) == [("1", BreachKind.LATE_START, 140, 40, 80)]
    assert world["1"].state is LeaseState.DONE
    assert world["1"].penalties == pytest.approx(80.0)
    result = world.run.result(0.0)
    assert result.counters["breaches_late_start"] == 1
    assert len(result.breaches) == 1
    money = revenue(result.leases)
    assert money is not None
    assert [money.earned, money.penalties, money.net] == pytest.approx([1000.0, 80.0, 920.0])


def test_without_a_policy_breaches_cost_and_count_nothing(make_world: MakeWorld) -> None:
    lease = _priced("1", 1000.0, start=100, duration=300)
    world = make_world(lease, cloud=CloudBehaviour(boot_time=40), engine=EXACT).end()
    assert _found(world) == [("1", BreachKind.LATE_START, 140, 40, 80)]
    assert world["1"].penalties == 0
    assert not [name for name in world.run.result(0.0).counters if name.startswith("breaches")]


@pytest.mark.parametrize(("boot_time", "breaches"), [(60, 0), (61, 1)])
def test_a_little_late_is_no_breach(make_world: MakeWorld, boot_time: int, breaches: int) -> None:
    world = make_world(request("1", RESERVATION, start=100), cloud=CloudBehaviour(boot_time=boot_time)).end()
    assert len(world.run.recorder.breaches) == breaches


def test_what_keeps_its_terms_breaches_none(make_world: MakeWorld) -> None:
    """Preempted best-effort work and suspended deadline leases break no promise."""
    world = make_world(
        request("1", BEST_EFFORT, 2, 5000),
        request("2", DEADLINE, 1, 500, submitted=5, start=10, deadline=9000),
        request("3", RESERVATION, 2, 600, submitted=10, start=1000),
        engine=EXACT,
    ).end()
    assert world.counters["suspensions"] >= 1
    assert [world[i].state for i in "123"] == [LeaseState.DONE] * 3
    assert _found(world) == []


def test_penalties_are_never_more_than_the_price(make_world: MakeWorld) -> None:
    """A late start and a node that is missing from then on: 80 and 200 at 1 per second, of a price of 100."""
    cloud = CloudBehaviour(boot_time=40, host_failures=(HostFailure(0, 200, 10_000),))
    world = make_world(
        _priced("1", 100.0, start=100, duration=300),
        cloud=cloud,
        engine=EXACT,
        penalty="proportional",
        policies=HOURLY,
    ).end()
    assert [(kind, seconds, missing) for _, kind, _, seconds, missing in _found(world)] == [
        (BreachKind.LATE_START, 40, 80),
        (BreachKind.FEWER_NODES, 200, 200),
    ]
    assert [breach.penalty for breach in world.run.recorder.breaches] == pytest.approx([80.0, 20.0])
    assert world["1"].penalties == pytest.approx(100.0)


def test_nodes_are_missing_until_their_host_is_back(make_world: MakeWorld) -> None:
    """Two of three hosts die one after the other, one comes back before the end."""
    failures = (HostFailure(0, 200, 300), HostFailure(1, 300, 10_000))
    world = make_world(
        request("1", RESERVATION, 3, 1000, start=100),
        hosts=3,
        cloud=CloudBehaviour(host_failures=failures),
        engine=EXACT,
    ).end()
    assert _found(world) == [
        ("1", BreachKind.FEWER_NODES, 300, 100, 100),
        ("1", BreachKind.FEWER_NODES, 500, 200, 400),
        ("1", BreachKind.FEWER_NODES, 1100, 600, 600),
    ]
    assert (world["1"].missing_since, world["1"].missing_nodes) == (None, 0)


def test_a_missing_node_that_is_replaced_is_missing_no_more(make_world: MakeWorld) -> None:
    """The lease on the only other host ends at 700."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=100),
        request("2", RESERVATION, 1, 600, start=100),
        cloud=CloudBehaviour(host_failures=(HostFailure(0, 200, 10_000),)),
        engine={**EXACT, "host_repair_time": 500},
    ).end()
    (found,) = _found(world)
    assert found == ("1", BreachKind.FEWER_NODES, 700, 500, 500)


def test_what_fails_has_ended_early(make_world: MakeWorld) -> None:
    """Its VMs never start, so the whole of it is not delivered."""
    cloud = CloudBehaviour(boot_failure_probability=1.0)
    world = make_world(_priced("1", 50.0, start=100, duration=300), cloud=cloud, engine=EXACT, penalty="tiered").end()
    assert world["1"].state is LeaseState.FAILED
    assert _found(world) == [("1", BreachKind.ENDED_EARLY, 100, 300, 600)]
    assert world["1"].penalties == pytest.approx(0.1 * 50)


@pytest.mark.parametrize("call", ["end", "cancel"])
def test_a_lease_that_the_provider_ends_has_ended_early(make_world: MakeWorld, call: str) -> None:
    """shirako F41: what is left of it is not delivered; if its project ends it, nothing is owed."""
    for by_provider, breaches in ((True, [("1", BreachKind.ENDED_EARLY, 200, 200, 400)]), (False, [])):
        world = make_world(_priced("1", 50.0, start=100, duration=300), engine=EXACT, penalty="tiered").until(200)
        getattr(world.run.engine, call)("1", "the provider needs its hosts", by_provider=by_provider)
        world.end()
        assert _found(world) == breaches
        assert world["1"].penalties == pytest.approx(0.1 * 50 if by_provider else 0)


@pytest.mark.parametrize("call", ["end", "cancel"])
def test_what_the_provider_has_not_promised_may_be_ended(make_world: MakeWorld, call: str) -> None:
    """A best-effort lease in the queue has no promise, one that runs has, and so has a reservation before its start."""
    world = make_world(
        request("runs", BEST_EFFORT, 2, 1000),
        request("waits", BEST_EFFORT, 2, 500),
        request("later", RESERVATION, 1, 300, start=5000),
        engine=EXACT,
    ).until(400)
    for lease_id in ("waits", "later", "runs"):
        getattr(world.run.engine, call)(lease_id, by_provider=True)
    assert _found(world) == [
        ("later", BreachKind.ENDED_EARLY, 400, 300, 300),
        ("runs", BreachKind.ENDED_EARLY, 400, 600, 1200),
    ]


def test_a_missed_deadline(make_world: MakeWorld) -> None:
    """The only host dies, and the remaining work cannot be done in time."""
    world = make_world(
        request("1", DEADLINE, 1, 1000, start=0, deadline=1500),
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(0, 600, 10_000),)),
        engine=EXACT,
    ).end()
    assert world["1"].state is LeaseState.FAILED
    assert [found[:2] for found in _found(world)] == [("1", BreachKind.MISSED_DEADLINE)]


def test_an_offer_that_is_withdrawn(make_world: MakeWorld) -> None:
    """Its hosts die before the project has answered; nothing was due yet."""
    world = make_world(
        hosts=1,
        cloud=CloudBehaviour(host_failures=(HostFailure(0, 100, 100_000),)),
        engine={"host_repair_time": 90_000},
    )
    world.run.engine.submit(request("1", RESERVATION, 1, 300, start=5000), offered_for=1000)
    world.unattended_until(0).end()
    assert world["1"].state is LeaseState.FAILED
    assert _found(world) == [("1", BreachKind.OFFER_WITHDRAWN, 100, 900, 0)]


def test_work_that_may_not_be_interrupted_and_is(make_world: MakeWorld) -> None:
    """It starts late, its place is promised to another lease, and its work is lost."""
    world = make_world(
        request("1", BEST_EFFORT, 1, 1000, preemptible=False),
        request("2", RESERVATION, 1, 500, submitted=10, start=1000),
        hosts=1,
        cloud=CloudBehaviour(boot_time=200),
        engine=EXACT,
    ).end()
    assert _found(world)[0] == ("1", BreachKind.PREEMPTED, 1000, 800, 800)
    assert world["1"].state is LeaseState.DONE


def test_what_is_kept_free_has_no_terms(make_world: MakeWorld) -> None:
    nothing = LeaseRequest("n", RESERVATION, (), 0, 3600, 100)
    world = make_world(nothing, cloud=CloudBehaviour(boot_time=400), engine=EXACT).end()
    assert _found(world) == []
