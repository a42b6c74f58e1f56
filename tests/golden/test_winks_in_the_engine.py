"""Golden vectors of Winks that the whole engine can express (shirako G6: what an elastic lease is charged)."""

from __future__ import annotations

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.policy.queueing.winks.costs import HOST_UNITS
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT
from lease_scheduler.policy.queueing.winks.policy import Winks
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: The host of the site has eight units: r_max of the vector.
_UNITS = 8


def _lease(name: str, flow: str, units: int, duration: int, least: int | None = None) -> WorkloadLease:
    resources = Resources({VCPU: units})
    nodes = NodeSet(1, resources, least_resources=None if least is None else Resources({VCPU: least}))
    return WorkloadLease(LeaseRequest(name, LeaseKind.BEST_EFFORT, (nodes,), 0, duration, user=flow))


def _run(*leases: WorkloadLease) -> Run:
    settings = RunSettings(
        policies={"queueing": "winks"},
        planning=PlanningOptions(backfilling_limit=0, suspension=Suspension.NONE),
        flow_weights={"f": 0.5, "g": 0.5},
    )
    return Run(Workload("elastic", leases, Site.homogeneous(1, Resources({VCPU: _UNITS}))), settings)


def _until(run: Run, instant: int) -> dict[str, int]:
    """Run up to and including an instant, and return the VCPUs of each lease that runs."""
    while (event := run.next_instant()) is not None and event <= instant:
        run.clock.set(max(run.clock.now(), event))
        run.step()
    running = [lease for lease in run.engine.live_leases() if lease.active_since is not None]
    return {lease.lease_id: lease.request.nodes[0].resources[VCPU] for lease in running}


def _clock(run: Run, flow: str) -> float:
    """Return the clock of a flow in units and seconds, as the engine would store it."""
    assert isinstance(run.planner.queueing, Winks)
    stored = run.planner.queueing.take_changes()[f"flow:{flow}"]
    assert stored is not None
    return int(stored["clock"]) * _UNITS / (UNIT * HOST_UNITS)


def test_an_elastic_lease_pays_for_the_size_that_it_got() -> None:
    """Weight 0.5: it begins at tag 10 and would end at 90; with 5 units of 8 for 5 s it ends at 60, and so does the
    start tag of the lease behind it.
    """
    run = _run(
        _lease("first", "f", 1, 5),
        _lease("other", "g", 3, 100),
        _lease("elastic", "f", 8, 5, least=5),
        _lease("later", "f", 8, 10),
    )
    assert _until(run, 4) == {"first": 1, "other": 3}
    assert _clock(run, "f") == 10

    assert _until(run, 5) == {"elastic": 5, "other": 3}
    assert _clock(run, "f") == 60


def test_the_engine_sizes_one_lease_after_the_other() -> None:
    """It gives the flow whose turn it is all that it asks for, where the division of the vector gives each a part.

    Over time the shares are the same: a flow that has got more waits longer.
    """
    parts = {"f": 4, "g": 4}
    run = _run(*(_lease(f"{flow} {number}", flow, 8, 10, least=1) for number in range(4) for flow in parts))

    for begin, flow in zip((0, 10, 20, 30), "fgfg", strict=True):
        assert _until(run, begin) == {f"{flow} {begin // 20}": 8}
