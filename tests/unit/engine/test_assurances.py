"""Assured lifetimes in the engine (Pucher 2016, section 4.3; prediction F34, F40, F50)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.pools.engines import PoolEngines
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.preempting.preemption import victims
from lease_scheduler.plan.queue import turn_places
from tests.unit.engine.conftest import MakeWorld, change, request


def _assured(lease_id: str, seconds: int = 600, **terms: Any) -> LeaseRequest:
    terms = {"kind": LeaseKind.BEST_EFFORT, "assurance": 0.95, **terms}
    return request(lease_id, terms.pop("kind"), min_lifetime=seconds, **terms)


def _reservation(lease_id: str, submitted: int, start: int, duration: int = 300) -> LeaseRequest:
    return request(lease_id, LeaseKind.RESERVATION, duration=duration, submitted=submitted, start=start)


def test_without_a_policy_a_lifetime_is_refused(make_world: MakeWorld) -> None:
    world = make_world(_assured("work"), request("plain", LeaseKind.BEST_EFFORT)).end()
    assert world["work"].state is LeaseState.REJECTED
    assert "promises no lifetimes; leave min_lifetime and assurance out" in world["work"].reason
    assert world["plain"].state is LeaseState.DONE


def test_a_planned_promise_keeps_reservations_out_until_the_lifetime_is_over(make_world: MakeWorld) -> None:
    world = make_world(
        _assured("work"), _reservation("early", 10, 500), _reservation("late", 20, 700), hosts=1, assurance="planned"
    )
    world.until(30)
    lease = world["work"]
    assert (lease.grant.assured, lease.grant.assured_from, lease.grant.planned_lifetime) == (
        Assured.PLANNED,
        0,
        None,
    )
    assert lease.assured_until == 600
    assert world["early"].state is LeaseState.REJECTED
    assert world["late"].state is not LeaseState.REJECTED
    world.end()
    assert world["late"].state is LeaseState.DONE
    assert world["work"].state is LeaseState.DONE
    assert world.run.recorder.breaches == []


def test_it_is_refused_where_the_plan_gives_the_hosts_to_others_earlier(make_world: MakeWorld) -> None:
    world = make_world(
        _reservation("other", 0, 500), _assured("work", submitted=10), hosts=1, assurance="planned"
    ).until(20)
    assert world["work"].state is LeaseState.REJECTED
    assert "could run for" in world["work"].reason
    assert "then its hosts are promised to others" in world["work"].reason


def test_time_in_which_nothing_happens_counts(make_world: MakeWorld) -> None:
    """59 lifetimes of an hour and ten minutes fit into three days."""
    day = 86_400
    world = make_world(_assured("work", 3_600, submitted=3 * day), hosts=1, assurance="statistical").until(3 * day + 1)
    assert world["work"].state is LeaseState.REJECTED, "nothing was asked for before"
    world = make_world(
        request("first", LeaseKind.BEST_EFFORT),
        _assured("work", 3_600, submitted=3 * day),
        hosts=1,
        assurance="statistical",
    ).until(3 * day + 1)
    assert world["work"].grant.assured is Assured.STATISTICAL


def test_a_place_is_looked_for_once(make_world: MakeWorld) -> None:
    """Whether the lease may wait depends on its earliest place, which its turn in the queue then uses."""
    with mock.patch.object(turn_places, "place_soonest", wraps=place_soonest) as looked:
        world = make_world(_assured("work"), assurance="planned").until(10)
        assert world["work"].started == 0
        assert looked.call_count == 1
        # Where it is looked for in other circumstances, it is looked for again.
        world = make_world(
            request("other", LeaseKind.BEST_EFFORT, 2),
            _assured("work"),
            assurance="planned",
        ).until(10)
        assert world["work"].holdings[0].run_start == 1_000
        assert looked.call_count == 1 + 3


def test_it_waits_until_it_can_be_assured_if_asked_to(make_world: MakeWorld) -> None:
    world = make_world(
        _reservation("other", 0, 500),
        _assured("work", submitted=10, await_assurance=True),
        hosts=1,
        assurance="planned",
    ).until(600)
    assert world["work"].state is LeaseState.QUEUED or world["work"].holdings[0].run_start >= 800
    lease = world.until(900)["work"]
    assert (lease.started, lease.grant.assured) == (800, Assured.PLANNED)


def test_a_quote_without_a_place_promises_nothing(make_world: MakeWorld) -> None:
    """The host is down, so the lease would wait in the queue; nobody knows when it would start."""
    world = make_world(hosts=1, assurance="planned").until(20)
    engine = world.run.engine
    engine.hosts.out(world.run.site.hosts[0].name)
    refused = engine.quote(_assured("work", submitted=20)).refusal
    assert refused is not None
    assert refused.reason == "assurance"
    assert refused.message.startswith("min_lifetime: there is no place for the lease at present")
    assert engine.quote(_assured("work", submitted=20, await_assurance=True)).granted


def test_a_quote_says_what_would_be_promised(make_world: MakeWorld) -> None:
    world = make_world(_reservation("other", 0, 500), hosts=1, assurance="planned").until(20)
    engine = world.run.engine
    refused = engine.quote(_assured("work", submitted=20))
    assert refused.refusal is not None
    assert refused.refusal.reason == "assurance"
    waiting = engine.quote(_assured("work", submitted=20, await_assurance=True))
    assert waiting.granted
    granted = engine.quote(_assured("work", 300, submitted=20)).lease
    assert granted is not None
    assert granted.grant.assured is Assured.PLANNED
    assert granted.grant.planned_lifetime is not None
    assert granted.grant.planned_lifetime >= 300


def test_a_lifetime_longer_than_any_is_refused(make_world: MakeWorld) -> None:
    world = make_world(_assured("work", 900), assurance="planned", policies={"assurance_longest": "600"}).end()
    assert "at most 10 min, not 15 min" in world["work"].reason


def test_a_lease_that_loses_its_hosts_early_is_told_counted_and_paid(make_world: MakeWorld) -> None:
    """A host fails under a promised lease: recorded once, with the missing time, and the lease goes on."""
    world = make_world(
        _assured("work"),
        hosts=2,
        assurance="planned",
        pricing="constant",
        penalty="proportional",
        cloud=CloudBehaviour(host_failures=(HostFailure(0, 200, 900),)),
        planning={"suspension": "none"},
    ).end()
    breaches = [each for each in world.run.recorder.breaches if each.kind is BreachKind.PREEMPTED_EARLY]
    assert [(each.lease_id, each.seconds) for each in breaches] == [("work", 400)]
    assert breaches[0].penalty > 0
    assert world["work"].grant.assured is Assured.BROKEN
    assert world["work"].state is LeaseState.DONE


def test_the_youngest_promise_is_broken_first_and_those_without_before(make_world: MakeWorld) -> None:
    """Statistical promises do not keep reservations out, but rank behind leases without a promise."""
    world = make_world(
        _assured("old"),
        _assured("young", submitted=5),
        request("plain", LeaseKind.BEST_EFFORT, submitted=2),
        hosts=3,
        assurance="planned",
    ).until(10)
    planner = world.run.planner
    for lease_id in ("old", "young"):
        lease = world[lease_id]
        planner.plan.put(replace(lease, grant=replace(lease.grant, assured=Assured.STATISTICAL)))
    found = victims(planner.context, _reservation("other", 10, 100), 100, 400, 10, lambda _, leases: True)
    assert [lease.lease_id for lease in found] == ["plain", "young", "old"]


def test_a_promised_lease_may_shrink_but_not_grow(make_world: MakeWorld) -> None:
    world = make_world(_assured("work", nodes=2), hosts=3, assurance="planned").until(10)
    with pytest.raises(InvalidValueError, match="nodes: cannot grow"):
        change(world, "work", nodes=3)
    change(world, "work", nodes=1)
    assert world["work"].grant.assured is Assured.PLANNED


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"assurance": 1.0}, "assurance: must be more than 0 and less than 1, not 1.0"),
        ({"assurance": 1.5}, "assurance: must be more than 0"),
        ({"assurance": 0.0}, "assurance: must be more than 0"),
        ({"assurance": None}, "assurance: is missing"),
        ({"seconds": 0}, "min_lifetime: must be at least 1 s"),
        ({"preemptible": False}, "min_lifetime: is only for preemptible leases"),
        ({"kind": LeaseKind.IMMEDIATE, "preemptible": True, "await_assurance": True}, "await_assurance: only best-eff"),
        ({"seconds": None}, "assurance: goes with min_lifetime"),
        ({"seconds": None, "assurance": None, "await_assurance": True}, "await_assurance: goes with min_lifetime"),
    ],
)
def test_invalid_wishes_name_the_field(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _assured("work", **terms)


def test_servers_without_a_lease_are_promised_what_the_policy_says(make_world: MakeWorld) -> None:
    """A lease had one of the hosts, and the other was free for a day, which half an hour fits into 48 times."""
    day = 86_400
    begin, end = _reservation("begin", 0, 0, 60), _reservation("end", day, day, 60)
    world = make_world(begin, end, hosts=2, assurance="statistical")
    engine = world.run.engine
    assert engine.guest_lifetimes([0.9])() == {0.9: {}}
    world.until(day - 60)
    found = PoolEngines({None: engine}, engine.site, {}).guest_lifetimes([0.9])()[0.9]
    assert list(found.values()) == [1_800]
