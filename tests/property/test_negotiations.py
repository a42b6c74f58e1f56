"""Random negotiations: several offers of which a project may accept one, counters, and engines that die meanwhile.

Every offer holds hosts of its own, so any of them can be accepted; accepting one withdraws the others (haizea F8).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.advice import Flexibility
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .test_restore import take_over

_VM = Resources({VCPU: 100, MEMORY_MB: 1024})
_HOSTS = 3


@st.composite
def _busy(draw: st.DrawFn) -> Workload:
    leases = []
    for number in range(draw(st.integers(0, 4))):
        start, duration = draw(st.integers(0, 20)) * 100, draw(st.integers(1, 15)) * 100
        nodes = (NodeSet(draw(st.integers(1, _HOSTS)), _VM),)
        if draw(st.booleans()):
            request = LeaseRequest(f"b{number}", LeaseKind.BEST_EFFORT, nodes, 0, duration, preemptible=True)
        else:
            request = LeaseRequest(f"b{number}", LeaseKind.RESERVATION, nodes, 0, duration, start)
        leases.append(WorkloadLease(request))
    return Workload("busy", tuple(leases), Site.homogeneous(_HOSTS, _VM))


def _offers(run: Run, negotiation: str) -> list[Lease]:
    return [lease for lease in run.engine.live_leases() if lease.negotiation == negotiation and lease.is_offered]


def _step(run: Run, until: int) -> None:
    while (event := run.next_instant()) is not None and event <= until:
        run.clock.set(max(run.clock.now(), event))
        run.step()
        check_plan(run.planner.plan, run.clock.now())
    run.clock.set(max(run.clock.now(), until))


def _negotiate(run: Run, asked: LeaseRequest, limits: Flexibility, wanted: int) -> None:
    """Negotiate as the service does: try other terms one after the other, while they are near enough."""
    for number in range(wanted):
        found = run.engine.quote(asked)
        if found.refusal is None:
            return
        for near in run.engine.alternatives(asked, found.refusal, limits):
            assert limits.allows(near)
            other = replace(
                asked,
                lease_id=f"{asked.lease_id}-{number}",
                nodes=(replace(asked.nodes[0], count=near.nodes),),
                start=near.start,
                duration=near.duration,
            )
            with suppress(InvalidValueError):
                run.engine.submit(other, offered_for=300, negotiation=asked.lease_id)
                run.engine.step()
                check_plan(run.planner.plan, run.clock.now())
                break


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_busy(), st.data())
def test_whichever_offer_is_accepted_keeps_its_place_and_ends_the_others(
    workload: Workload, data: st.DataObject
) -> None:
    run = Run(workload, RunSettings())
    said: dict[str, str] = {}
    held: dict[str, set[str]] = {}
    for number in range(data.draw(st.integers(1, 5))):
        _step(run, run.clock.now() + data.draw(st.integers(0, 3)) * 100)
        now = run.clock.now()
        nodes = (NodeSet(data.draw(st.integers(1, _HOSTS)), _VM),)
        start, duration = now + data.draw(st.integers(1, 8)) * 100, data.draw(st.integers(1, 12)) * 100
        asked = LeaseRequest(f"n{number}", LeaseKind.RESERVATION, nodes, now, duration, start)
        limits = Flexibility(
            latest_start=data.draw(st.sampled_from([None, start + 500])),
            fewest_nodes=data.draw(st.sampled_from([None, 1, 2])),
            shortest_duration=data.draw(st.sampled_from([None, 200])),
        )
        _negotiate(run, asked, limits, data.draw(st.integers(1, 4)))
        held[asked.lease_id] = {lease.lease_id for lease in _offers(run, asked.lease_id)}
        if data.draw(st.booleans()):
            take_over(run)
        for negotiation in held:
            offers = _offers(run, negotiation)
            if not offers:
                continue
            chosen = data.draw(st.sampled_from(offers))
            what = data.draw(st.sampled_from(["accept", "reject", "counter", "wait"]))
            if what == "accept":
                run.engine.held.accept(chosen.lease_id)
                assert _offers(run, negotiation) == []
                said[negotiation] = chosen.lease_id
            elif what == "reject":
                run.engine.held.reject(chosen.lease_id)
                assert len(_offers(run, negotiation)) == len(offers) - 1
            elif what == "counter":
                longer = replace(chosen.request, duration=chosen.request.duration + 300)
                try:
                    run.engine.held.counter(chosen.lease_id, longer)
                except NoPlaceError:
                    assert _offers(run, negotiation) == offers
                else:
                    after = run.engine.lease(chosen.lease_id)
                    assert after is not None and after.offered_until is not None and chosen.offered_until is not None
                    assert after.offered_until <= chosen.offered_until
            check_plan(run.planner.plan, run.clock.now())
    _step(run, 1_000_000)
    leases = {lease.lease_id: lease for lease in run.store.load()}
    for negotiation, offers_made in held.items():
        done = {lease_id for lease_id in offers_made if leases[lease_id].state is LeaseState.DONE}
        assert done == ({said[negotiation]} if negotiation in said else set())
        rest = offers_made - done
        assert all(leases[lease_id].state is LeaseState.REJECTED_BY_USER for lease_id in rest)
