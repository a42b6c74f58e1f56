"""Simulated sites as members; ``tests/functional/federation`` has the contract that they keep."""

from __future__ import annotations

import pytest

from lease_scheduler.federation.answers import Bid, Refusal
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import Member, PublishedLoad
from lease_scheduler.federation.negotiation.advance import begin
from lease_scheduler.federation.negotiation.record import Candidate, Mode, Negotiation, Rules, Stage
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease
from lease_scheduler.simulation.world import World
from tests.functional.federation.driving import negotiate

_VM = Resources({VCPU: 100})
_RULES = Rules("gateway", hold_time=100, accept_time=20)


def _request(lease_id: str, start: int = 1_000, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, (NodeSet(nodes, _VM),), 0, 500, start)


def _site(clock: SimulatedClock, *own: LeaseRequest, hosts: int = 1) -> SiteRun:
    workload = Workload("own", tuple(WorkloadLease(each) for each in own))
    return SiteRun(workload, RunSettings(check_invariants=True), clock, Site.homogeneous(hosts, _VM))


@pytest.mark.parametrize("mode", Mode)
def test_one_of_several_sites_gets_the_lease_and_runs_it(mode: Mode) -> None:
    clock = SimulatedClock()
    sites = {"full": _site(clock, _request("own")), "a": _site(clock), "b": _site(clock)}
    sites["full"].step()
    members: dict[str, Member] = {name: SimulatedMember(name, site) for name, site in sites.items()}
    record = begin(Ask(_request("1"), 200), [Candidate(name) for name in members], mode, _RULES, 0)
    assert isinstance(record, Negotiation)

    record = negotiate(record, members, clock.now)

    assert record.stage is Stage.PLACED
    assert record.placed is not None
    assert record.placed.member in ("a", "b")
    results = World(sites).execute().sites
    done = {
        (name, lease.lease_id)
        for name, result in results.items()
        for lease in result.leases
        if lease.state is LeaseState.DONE
    }
    assert done == {("full", "own"), (record.placed.member, lease_id_at(record.placed.member, "1"))}


def test_a_hold_that_nobody_accepts_ends_in_the_world() -> None:
    clock = SimulatedClock()
    site = _site(clock)
    member = SimulatedMember("a", site, hold_time=60)
    found = member.hold(Ask(_request("1"), 200), 100)
    assert isinstance(found, Bid)
    assert found.held_until == 60
    (lease,) = World({"a": site}).execute().sites["a"].leases
    assert (lease.state, lease.ended) == (LeaseState.REJECTED_BY_USER, 60)


def test_only_leases_of_peers_are_in_its_events() -> None:
    clock = SimulatedClock()
    site = _site(clock, _request("own"), hosts=2)
    member = SimulatedMember("a", site)
    member.submit(Ask(_request("1"), 200))
    World({"a": site}).execute()
    told = member.events(0).transitions
    assert {each.lease_id for each in told} == {"1"}
    assert [each.sequence for each in told] == list(range(1, len(told) + 1))
    assert told[-1].state is LeaseState.DONE
    assert member.events(2).transitions == told[2:]


def test_it_describes_its_capacity_and_publishes_its_load() -> None:
    load = PublishedLoad()
    found = SimulatedMember("a", _site(SimulatedClock(), hosts=3), load=load).describe()
    assert (found.capacity, found.load) == (Resources({VCPU: 300}), load)


def test_what_was_refused_may_be_asked_for_again() -> None:
    clock = SimulatedClock()
    site = _site(clock, _request("own"))
    site.step()
    member = SimulatedMember("a", site)
    refused = member.submit(Ask(_request("1"), 200))
    assert isinstance(refused, Refusal)
    assert refused.reason is RefusalReason.CAPACITY
    site.engine.cancel("own")
    assert isinstance(member.submit(Ask(_request("1"), 200)), Bid)


def test_a_site_that_may_stop_earlier_cannot_decide_for_peers() -> None:
    settings = RunSettings(stop_when=StopWhen.EXACT, stop_time=10)
    site = SiteRun(Workload("nothing", ()), settings, SimulatedClock(), Site.homogeneous(1, _VM))
    with pytest.raises(InvalidValueError, match="may stop before lease 1 is done"):
        site.decide(_request("1"))
