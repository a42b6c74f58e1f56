"""Construction of the engines of a site from the store, so that they continue where earlier engines stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.interfaces import UNAWAITED, Cloud, ImageCarrier, Ports, Recorder
from lease_scheduler.engine.pools.engines import PoolEngines, PoolName, pool_site
from lease_scheduler.engine.pools.recorder import PoolRecorder
from lease_scheduler.engine.pools.shared_cloud import CloudShares
from lease_scheduler.engine.submissions import SubmissionOrder
from lease_scheduler.model.host import Site
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.records.pool import FOR_GOOD
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.service.core.arrival_book import ArrivalBook
from lease_scheduler.service.core.policies import PoolPlanning
from lease_scheduler.service.core.unit_of_work import StepClock, UnitOfWork


@dataclass(frozen=True)
class PoolParts:
    """Parts of the engine of a pool.

    :ivar planning: how leases are planned
    :ivar policies: have learnt nothing yet
    :ivar planner: made for the hosts of the pool, with these policies
    :ivar forecasts: have learnt nothing yet
    """

    planning: PoolPlanning
    policies: PolicySet
    planner: Planner
    forecasts: Forecasts


def restored_work(snapshot: Snapshot, now: int) -> UnitOfWork:
    """Return the unit of work with the live leases of a snapshot.

    :param now: the instant of its first step
    """
    work = UnitOfWork(snapshot.next_intent)
    work.now = now
    work.arrivals = ArrivalBook(snapshot.policy_state)
    work.restore(snapshot.leases, snapshot.documents, snapshot.intents)
    return work


def pool_parts(
    site: Site, pools: Mapping[str, PoolName], plannings: Mapping[PoolName, PoolPlanning]
) -> dict[PoolName, PoolParts]:
    """Return the parts of the engines, by pool.

    :param site: all hosts
    :param pools: name of a host -> its pool
    :param plannings: by pool
    """
    found = {}
    for pool, planning in plannings.items():
        policies = planning.policies.make()
        planner = planning.policies.make_planner(pool_site(site, pools, pool), policies)
        found[pool] = PoolParts(planning, policies, planner, Forecasts())
    return found


def restored_engines(
    snapshot: Snapshot, work: UnitOfWork, site: Site, pools: Mapping[str, PoolName], parts: Mapping[PoolName, PoolParts]
) -> PoolEngines:
    """Return engines with the leases, operations and outages of a snapshot.

    :param work: collects what the engines do, and gives them the time
    :param site: all hosts
    :param pools: name of a host -> its pool
    :param parts: by pool
    """
    order = SubmissionOrder()
    engines: dict[PoolName, Engine] = {}
    if None in parts:
        engines[None] = _engine(parts[None], work, work, work.intents, work.intents, order)
        found = PoolEngines(engines, site, pools)
    else:
        names = [pool for pool in parts if pool is not None]
        shares = CloudShares(
            work.intents,
            work.intents,
            names,
            lambda lease_id: _pool_of(work, lease_id),
            lambda number: found.pool_of_host(number),
        )
        for name in names:
            share = shares.share(name)
            engines[name] = _engine(parts[name], work, PoolRecorder(work, name), share, share, order)
        found = PoolEngines(engines, site, pools, shares.waiting)
    work.name_of = lambda number: found.site.hosts[number].name
    work.capacity_of = lambda number: found.site.hosts[number].whole_capacity
    for pool, engine in engines.items():
        _restore(engine, snapshot, work, site, pools, pool)
    return found


def _pool_of(work: UnitOfWork, lease_id: str) -> str | None:
    lease = work.leases.get(lease_id)
    return None if lease is None else lease.request.pool


def _engine(
    parts: PoolParts,
    work: UnitOfWork,
    recorder: Recorder,
    cloud: Cloud,
    carrier: ImageCarrier,
    order: SubmissionOrder,
) -> Engine:
    return Engine(
        parts.planner,
        parts.policies,
        Ports(StepClock(work), cloud, work, recorder, carrier),
        parts.planning.engine,
        order=order,
        forecasts=parts.forecasts,
    )


def _restore(
    engine: Engine, snapshot: Snapshot, work: UnitOfWork, site: Site, pools: Mapping[str, PoolName], pool: PoolName
) -> None:
    """Restore an engine from the parts of the snapshot that belong to its pool."""
    awaited = {
        intent.lease_id: intent.operation
        for intent in snapshot.intents
        if intent.operation is None or intent.operation.kind not in UNAWAITED
    }
    outages = {
        host.name: (work.now, None if host.out_until == FOR_GOOD else host.out_until)
        for host in snapshot.hosts
        if host.out_until is not None and host.pool == pool
    }
    engine.restore(
        [lease for lease in snapshot.leases if lease.request.pool == pool],
        # The engine takes only those of its own leases.
        [operation for operation in awaited.values() if operation is not None],
        snapshot.next_sequence,
        outages,
        # The driver reports dead hosts when it starts. Until then running leases must not be moved.
        closed=outages,
        lateness={kind: seconds for (of, kind), seconds in snapshot.lateness.items() if of == (pool or "")},
        cached=[image for image in snapshot.cached_images if pools.get(site.hosts[image.host].name) == pool],
        powers={
            host.name: host.power for host in snapshot.hosts if host.power is not None and pools.get(host.name) == pool
        },
    )
