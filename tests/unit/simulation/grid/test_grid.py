"""Gateways in simulated worlds: re-routing, delays, speeds, gateways behind gateways (contention F26, F71, F74)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.federation.negotiation.record import Mode, Rules, Stage
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.grid.gateway import Gateway, GatewaySettings
from lease_scheduler.simulation.grid.grid import Grid, GridResult, Outcome
from lease_scheduler.simulation.grid.learning import LearntLoad
from lease_scheduler.simulation.grid.peers import Link, Peer, SitePeer
from lease_scheduler.simulation.grid.post import Post
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_VM = Resources({VCPU: 1})


def _best_effort(lease_id: str, submitted: int = 0, duration: int = 100, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(nodes, _VM),), submitted, duration)


def _reservation(lease_id: str, start: int, submitted: int = 0, duration: int = 100, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, (NodeSet(nodes, _VM),), submitted, duration, start)


def _deadline(lease_id: str, deadline: int, duration: int = 100, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.DEADLINE, (NodeSet(nodes, _VM),), 0, duration, 0, deadline)


def _workload(*requests: LeaseRequest) -> Workload:
    return Workload("test", tuple(WorkloadLease(each) for each in requests))


class _World:
    """The parts of a Grid, made one after the other."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        self.post = Post(self.clock)
        self.truth: dict[str, int] = {}
        self.sites: dict[str, SiteRun] = {}
        self.gateways: list[Gateway] = []

    def site(
        self, name: str, hosts: int, *own: LeaseRequest, speed: float = 1.0, can_hold: bool = True, learns: bool = False
    ) -> SitePeer:
        settings = RunSettings(check_invariants=True)
        site = self.sites[name] = SiteRun(_workload(*own), settings, self.clock, Site.homogeneous(hosts, _VM))
        member = SimulatedMember(name, site, speed=speed, real_durations=self.truth)
        return SitePeer(member, LearntLoad(site, speed) if learns else None, can_hold=can_hold)

    def gateway(
        self, name: str, *peers: Peer, delay: int = 0, allocation: str = "round-robin", **settings: Any
    ) -> Gateway:
        found = Gateway(
            load_routing_policies({"allocation": allocation}, PolicyOptions()),
            GatewaySettings(Rules(name), **settings),
            random_stream(1, name),
            self.post,
            self.truth,
        )
        self.gateways.append(found)
        if peers:
            found.connect([Link(peer, delay) for peer in peers])
        return found

    def run(self, arrivals: dict[str, Workload]) -> GridResult:
        return Grid(self.sites, self.gateways, self.post, arrivals).execute()


def _one(result: GridResult) -> Outcome:
    (outcome,) = result.outcomes
    return outcome


def _times(outcome: Outcome) -> tuple[int | None, int | None]:
    assert outcome.lease is not None
    return outcome.lease.started, outcome.lease.ended


@pytest.mark.parametrize("can_hold", [False, True])
def test_what_one_site_refuses_is_asked_of_the_next_one(can_hold: bool) -> None:
    """The first site has one host, so it refuses two nodes, whether it is asked to hold them or not."""
    world = _World()
    peers = [world.site("small", 1, can_hold=can_hold), world.site("large", 2, can_hold=can_hold)]
    world.gateway("g", *peers)
    result = world.run({"g": _workload(_reservation("1", 500, nodes=2))})

    outcome = _one(result)
    assert (outcome.stage, outcome.asked, outcome.site, outcome.decided) == (
        Stage.ENDED,
        ("small", "large"),
        "large",
        0,
    )
    assert _times(outcome) == (500, 600)
    assert [len(site.leases) for site in result.sites.values()] == [0, 1]


def test_a_gateway_that_does_not_reroute_refuses_what_the_chosen_site_refuses() -> None:
    world = _World()
    world.gateway("g", world.site("small", 1), world.site("large", 2), reroutes=False)
    outcome = _one(world.run({"g": _workload(_reservation("1", 500, nodes=2))}))

    assert (outcome.stage, outcome.asked, outcome.site, outcome.lease) == (Stage.REFUSED, ("small",), None, None)
    assert outcome.reason.startswith("small: ")


def test_what_all_sites_refuse_is_refused_once_with_all_reasons() -> None:
    world = _World()
    world.gateway("g", world.site("a", 1), world.site("b", 1))
    outcome = _one(world.run({"g": _workload(_reservation("1", 500, nodes=2))}))

    assert (outcome.stage, outcome.asked) == (Stage.REFUSED, ("a", "b"))
    assert "a: " in outcome.reason
    assert "; b: " in outcome.reason


@pytest.mark.parametrize(("can_hold", "messages"), [(False, 2), (True, 4)])
def test_messages_take_time(can_hold: bool, messages: int) -> None:
    """A request takes two messages, or four with a hold; the lease starts when the site is asked for the first time."""
    world = _World()
    world.gateway("g", world.site("a", 1, can_hold=can_hold), delay=7)
    outcome = _one(world.run({"g": _workload(_best_effort("1", 100))}))

    assert outcome.decided == 100 + 7 * messages
    assert _times(outcome) == (107 + (14 if can_hold else 0), 207 + (14 if can_hold else 0))


def test_a_reservation_that_begins_while_its_request_is_under_way_is_refused() -> None:
    world = _World()
    world.gateway("g", world.site("a", 1, can_hold=False), delay=7)
    outcomes = world.run({"g": _workload(_reservation("1", 6), _reservation("2", 500))}).outcomes

    assert [each.stage for each in outcomes] == [Stage.REFUSED, Stage.ENDED]


def test_a_request_that_takes_longer_than_its_answer_time_is_not_passed_on() -> None:
    world = _World()
    world.gateway("g", world.site("small", 1), world.site("large", 2), delay=20)
    outcome = _one(world.run({"g": _workload(_reservation("1", 500, nodes=2))}))

    assert (outcome.stage, outcome.asked) == (Stage.REFUSED, ("small",))
    assert outcome.reason.endswith("large: was not asked, as there was no time left")


def test_a_fast_site_does_work_sooner_and_reserves_hosts_for_as_long() -> None:
    world = _World()
    world.gateway("g", world.site("fast", 3, speed=2.5, can_hold=False))
    requests = (_best_effort("1", duration=101), _deadline("2", 200), _reservation("3", 0))
    outcomes = world.run({"g": _workload(*requests)}).outcomes

    assert [_times(each) for each in outcomes] == [(0, 41), (0, 40), (0, 100)]


def test_a_slow_site_refuses_what_it_could_not_do_by_the_deadline() -> None:
    world = _World()
    world.gateway("g", world.site("slow", 1, speed=0.5), world.site("usual", 1))
    outcome = _one(world.run({"g": _workload(_deadline("1", 150))}))

    assert (outcome.asked, outcome.site) == (("slow", "usual"), "usual")


def test_work_that_is_done_early_ends_its_lease_at_the_speed_of_the_site() -> None:
    world = _World()
    first = world.gateway("first", world.site("fast", 1, speed=2.0))
    world.gateway("second", first)
    workload = Workload("test", (WorkloadLease(_best_effort("1", duration=100), real_duration=51),))
    outcome = _one(world.run({"second": workload}))

    assert (outcome.site, _times(outcome)) == ("fast", (0, 26))


def test_a_request_passes_through_gateways_and_is_external_where_it_arrives() -> None:
    """Two gateways pass requests on to a third one, which owns the site (contention F71, figure 7.6)."""
    world = _World()
    owner = world.gateway("igg1", world.site("rp", 2))
    for name in ("igg2", "igg3"):
        world.gateway(name, owner, delay=1)
    result = world.run(
        {"igg2": _workload(_best_effort("1", 10)), "igg3": _workload(_best_effort("2", 20, nodes=3, duration=5))}
    )

    first, second = result.outcomes
    assert (first.gateway, first.site, first.asked, first.decided) == ("igg2", "rp", ("igg1",), 12)
    assert first.lease is not None
    assert first.lease.request.origin == "igg1"
    assert first.stage is Stage.ENDED
    assert second.stage is Stage.REFUSED or second.lease is not None
    assert world.gateways[0].requests().keys() != {"1", "2"}


def test_gateways_that_ask_each_other_do_not_do_so_for_ever() -> None:
    world = _World()
    left, right = world.gateway("left"), world.gateway("right")
    left.connect([Link(right), Link(world.site("small", 1))])
    right.connect([Link(left)])
    large, small = world.run({"right": _workload(_reservation("1", 500, nodes=2), _reservation("2", 500))}).outcomes

    assert large.stage is Stage.REFUSED
    assert "right has passed this ask on already" in large.reason
    assert (small.stage, small.site) == (Stage.ENDED, "small")
    assert left.describe().capacity == Resources({VCPU: 1})


def test_the_earliest_of_all_quotes_is_taken() -> None:
    world = _World()
    busy = world.site("busy", 1, _best_effort("own", duration=1_000))
    world.gateway("g", busy, world.site("free", 1), allocation="earliest", delay=2)
    outcome = _one(world.run({"g": _workload(_best_effort("1", 10))}))

    assert (outcome.site, outcome.asked) == ("free", ("free",))
    # Quotes, the hold and its acceptance, each there and back.
    assert outcome.decided == 10 + 6 * 2


@pytest.mark.parametrize("mode", [Mode.BEST, Mode.FIRST])
def test_all_sites_may_be_asked_at_once(mode: Mode) -> None:
    world = _World()
    busy = world.site("busy", 1, _reservation("own", 0, duration=1_000))
    world.gateway("g", busy, world.site("free", 1), allocation="earliest", mode=mode)
    result = world.run({"g": _workload(_deadline("1", 5_000))})

    outcome = _one(result)
    assert outcome.asked == ("busy", "free")
    assert outcome.site == ("free" if mode is Mode.BEST else "busy")
    running = [lease.state for site in result.sites.values() for lease in site.leases]
    assert running.count(LeaseState.DONE) == 2


def test_a_site_publishes_what_it_has_learnt_of_both_sides() -> None:
    world = _World()
    own = [_reservation(f"own-{number}", 100 * number, 100 * number, duration=10) for number in range(5)]
    peer = world.site("a", 4, *own, speed=2.0, can_hold=False, learns=True)
    world.gateway("g", peer)
    world.run({"g": _workload(*(_best_effort(str(number), 50 * number, duration=30) for number in range(9)))})

    load = peer.describe().load
    assert load is not None
    assert load.local.work == {VCPU: 20}
    assert load.all_external.work == {VCPU: pytest.approx(30)}
    assert load.all_external.rate == pytest.approx(1 / 50, rel=0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reroutes": False, "mode": Mode.BEST}, "reroutes: must be true with the mode best"),
        ({"answer_time": 30}, "answer_time: must be more than accept_time, 30 s, not 30"),
        ({"home": "x"}, "home: must be one of a, not 'x'"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any], message: str) -> None:
    world = _World()
    with pytest.raises(InvalidValueError, match=message):
        world.gateway("g", world.site("a", 1), **settings)


def test_parts_that_cannot_be_told_apart_are_refused() -> None:
    world = _World()
    peer = world.site("a", 1)
    with pytest.raises(InvalidValueError, match="members: must be at least one, each with a name of its own"):
        world.gateway("g", peer, peer)
    world.gateway("a", peer)
    with pytest.raises(InvalidValueError, match="gateways: 'a' is the name of two parts"):
        world.run({})


def test_arrivals_are_checked() -> None:
    world = _World()
    world.gateway("g", world.site("a", 1))
    with pytest.raises(InvalidValueError, match="arrivals: 'x' is no gateway; they are g"):
        world.run({"x": _workload()})
    with pytest.raises(InvalidValueError, match="arrivals: lease 1 arrives twice"):
        world.run({"g": _workload(_best_effort("1"), _best_effort("1"))})


def test_a_site_of_a_grid_must_be_open_ended() -> None:
    world = _World()
    world.gateway("g", world.site("a", 1))
    until = RunSettings(stop_when=StopWhen.EXACT, stop_time=200)
    world.sites["b"] = SiteRun(_workload(), until, world.clock, Site.homogeneous(1, _VM))
    with pytest.raises(InvalidValueError, match="may stop before all leases are done"):
        world.run({})
