"""An engine on a simulated cloud, run step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

VM = Resources({VCPU: 1, MEMORY_MB: 1024})


class World:
    """A run that can be inspected between its events."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def until(self, instant: int) -> World:
        """Continue up to and including an instant."""
        run = self.run
        while (event := run.next_instant()) is not None and event <= instant:
            run.clock.set(max(run.clock.now(), event))
            run.step()
            check_plan(run.planner.plan, run.clock.now())
        run.clock.set(instant)
        return self

    def unattended_until(self, instant: int) -> World:
        """Let time pass without processing anything that is due, as if the engine was away."""
        self.run.clock.set(instant)
        self.run.engine.step()
        check_plan(self.run.planner.plan, instant)
        return self

    def end(self) -> World:
        """Continue until nothing is left to happen."""
        while (event := self.run.next_instant()) is not None:
            self.until(event)
        return self

    def __getitem__(self, lease_id: str) -> Lease:
        """Return the latest value of a lease."""
        return {lease.lease_id: lease for lease in self.run.store.load()}[lease_id]

    @property
    def counters(self) -> Mapping[str, int]:
        return self.run.recorder.counters


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world() -> MakeWorld:
    """``make_world(lease, ..., hosts=2, cloud=CloudBehaviour(...), planning={...}, engine={...}, pricing="free",
    admission="accept-all", transfers=TransferOptions(...))``.
    """

    def make(
        *leases: WorkloadLease | LeaseRequest,
        hosts: int = 2,
        cloud: CloudBehaviour | None = None,
        planning: Mapping[str, Any] | None = None,
        engine: Mapping[str, Any] | None = None,
        pricing: str = "free",
        admission: str = "accept-all",
        penalty: str = "none",
        power: str = "none",
        relocation: str = "none",
        assurance: str = "none",
        policies: Mapping[str, str] | None = None,
        transfers: TransferOptions | None = None,
    ) -> World:
        items = tuple(lease if isinstance(lease, WorkloadLease) else WorkloadLease(lease) for lease in leases)
        settings = RunSettings(
            policies={
                "pricing": pricing,
                "admission": admission,
                "penalty": penalty,
                "power": power,
                "relocation": relocation,
                "assurance": assurance,
            },
            planning=replace(PlanningOptions(suspend_rate=32, resume_rate=32), **(planning or {})),
            engine=EngineOptions(**(engine or {})),
            cloud=cloud or CloudBehaviour(),
            policy_options=policies or {},
            transfers=transfers,
        )
        return World(Run(Workload("test", items, Site.homogeneous(hosts, VM)), settings))

    return make


def request(lease_id: str, kind: LeaseKind, nodes: int = 1, duration: int = 1000, **terms: Any) -> LeaseRequest:
    """Return a request for VMs that fill a host each; best-effort and deadline leases are preemptible."""
    terms.setdefault("preemptible", kind in (LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE))
    return LeaseRequest(lease_id, kind, (NodeSet(nodes, VM),), terms.pop("submitted", 0), duration=duration, **terms)


#: A reservation takes the only host from the work at 500 s, and gives it back at 800 s.
SUSPENDED_WORK = (
    request("work", LeaseKind.BEST_EFFORT, 1, 1000),
    request("other", LeaseKind.RESERVATION, 1, 300, submitted=10, start=500),
)


def terms_of(world: World, lease_id: str, nodes: int | None = None, **terms: Any) -> LeaseRequest:
    """Return the terms of a lease with other values of some."""
    if nodes is not None:
        terms["nodes"] = (NodeSet(nodes, VM),)
    return replace(world[lease_id].request, **terms)


def change(world: World, lease_id: str, nodes: int | None = None, **terms: Any) -> Change:
    """Change some terms of a lease; ``least`` and ``give_up`` are as in ``Engine.change``."""
    options = {name: terms.pop(name) for name in ("least", "give_up") if name in terms}
    return world.run.engine.change(lease_id, terms_of(world, lease_id, nodes, **terms), **options)


def refused_change(world: World, lease_id: str, nodes: int | None = None, **terms: Any) -> Refusal:
    """Return why a change is refused; its quote is refused for the same reason, and neither changes anything."""
    before = world.run.engine.live_leases()
    least = terms.pop("least", None)
    asked = terms_of(world, lease_id, nodes, **terms)
    with pytest.raises(NoPlaceError) as quoted:
        world.run.engine.quote_change(lease_id, asked, least=least)
    with pytest.raises(NoPlaceError) as refused:
        world.run.engine.change(lease_id, asked, least=least)
    assert refused.value.refusal == quoted.value.refusal
    assert world.run.engine.live_leases() == before
    return refused.value.refusal
