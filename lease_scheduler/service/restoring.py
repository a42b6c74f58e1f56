"""Builds the engine of a site from what the store has, so that it goes on where the one before stopped."""

from __future__ import annotations

from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import UNAWAITED
from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.records.pool import FOR_GOOD
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.service.policies import SitePolicies
from lease_scheduler.service.unit_of_work import StepClock, UnitOfWork


def restored_work(snapshot: Snapshot, now: int) -> UnitOfWork:
    """Return the unit of work with the live leases of a snapshot.

    :param now: the instant of its first step
    """
    work = UnitOfWork(snapshot.next_intent)
    work.now = now
    work.restore(snapshot.leases, snapshot.documents, snapshot.intents)
    return work


def restored_engine(
    snapshot: Snapshot,
    work: UnitOfWork,
    planner: Planner,
    pricing: PricingPolicy,
    policies: SitePolicies,
    options: EngineOptions,
) -> Engine:
    """Return an engine with the leases, operations and outages of a snapshot.

    :param work: collects what the engine does, and gives it the time
    :param planner: the pool is its site
    """
    engine = Engine(
        planner,
        policies.admission,
        StepClock(work),
        cloud=work.intents,
        store=work,
        recorder=work,
        options=options,
        pricing=pricing,
        carrier=work.intents,
        penalty=policies.penalty,
    )
    work.name_of = lambda number: engine.site.hosts[number].name
    work.capacity_of = lambda number: engine.site.hosts[number].whole_capacity
    awaited = {
        intent.lease_id: intent.operation
        for intent in snapshot.intents
        if intent.operation is None or intent.operation.kind not in UNAWAITED
    }
    outages = {
        host.name: (work.now, None if host.out_until == FOR_GOOD else host.out_until)
        for host in snapshot.hosts
        if host.out_until is not None
    }
    engine.restore(
        snapshot.leases,
        [operation for operation in awaited.values() if operation is not None],
        snapshot.next_sequence,
        outages,
        # The driver reports dead hosts when it starts. Until then running leases must not be moved.
        closed=outages,
        lateness=snapshot.lateness,
        cached=snapshot.cached_images,
    )
    return engine
