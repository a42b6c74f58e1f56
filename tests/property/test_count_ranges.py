"""Ranges of counts: a lease of the queue takes what it can have between its bounds (shirako F12, F70)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.planner import Planner
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads

_EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _begun(workload: Workload, chosen: RunSettings) -> Planner:
    """Return the planner of a site in the middle of a run: leases run, are planned, suspended and queued."""
    run = Run(workload, chosen)
    submitted = [lease.request.submitted for lease in workload.leases]
    until = sorted(submitted)[len(submitted) // 2]
    while (event := run.next_instant()) is not None and event <= until:
        run.clock.set(max(run.clock.now(), event))
        run.step()
    return run.planner


@_EXAMPLES
@given(
    workloads(),
    RUN_SETTINGS,
    st.integers(1, 3),
    st.integers(1, 5),
    st.sampled_from([25, 50, 100]),
    st.integers(1, 4_000),
)
def test_a_range_starts_when_its_fewest_would_and_takes_all_that_is_free(
    workload: Workload, chosen: RunSettings, fewest: int, more: int, vcpus: int, duration: int
) -> None:
    planner = _begun(workload, chosen)
    now = 3_000
    nodes = NodeSet(fewest, Resources({VCPU: vcpus}))
    wanted = LeaseRequest("new", LeaseKind.BEST_EFFORT, (nodes,), now, duration)
    rigid = _at_its_turn(planner, wanted, now)
    counts = (fewest, fewest + more)
    found = _at_its_turn(planner, replace(wanted, nodes=(replace(nodes, count_range=counts),)), now)
    assert found.state is rigid.state
    if not found.holdings:
        assert found.request.node_count == fewest
        return
    (held,), (rigidly,) = found.holdings, rigid.holdings
    count = found.request.node_count
    assert fewest <= count <= counts[1]
    assert len(held.assignment) == count
    assert held.start <= rigidly.start
    assert held.run_end - held.run_start >= rigidly.run_end - rigidly.run_start
    if held.closing is Closing.SHUTDOWN and count < counts[1]:
        one_more = replace(wanted, lease_id="more", nodes=(replace(nodes, count=count + 1),))
        place = _at_its_turn(planner, one_more, now).holdings
        assert not place or place[0].start > held.start or place[0].run_end - place[0].run_start < duration


def _at_its_turn(planner: Planner, request: LeaseRequest, now: int) -> Lease:
    """Return what becomes of a lease that is alone in the queue. The plan does not change."""
    plan = planner.plan
    found: list[Lease] = []
    with plan.trial():
        for other in list(plan.queue.in_order()):
            plan.put(replace(other, state=LeaseState.PENDING))
        planner.enqueue(plan.put(Lease(request, 1_000).to(LeaseState.PENDING)))
        planner.process_queue(now)
        found.append(plan.leases[request.lease_id])
    return found[0]


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.data())
def test_invariants_hold_in_whole_runs_with_ranges(
    workload: Workload, chosen: RunSettings, data: st.DataObject
) -> None:
    """The invariants of plans hold at every step; no lease ends with fewer or more nodes than it accepts."""
    assert workload.site is not None
    cloud = data.draw(clouds(len(workload.site)))
    for lease in Run(workload, replace(chosen, cloud=cloud)).execute().leases:
        for node_set in lease.request.nodes:
            assert node_set.fewest <= node_set.count <= node_set.most
