"""A small day of a site, run by an engine that may be killed at any point and is then started again.

Everything that outlives a process is in files: the database and the cloud. Boundaries are counted: before and after
every transaction, every step of the cloud and every record of a step.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import func, select

from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.policies import PoolPlanning
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.store.sql import migrate, snapshot
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import OPERATIONS
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.crash.cloud_record import overfull, watch_holds
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies

START = 1_000_000
#: Real seconds that what an engine does may take before a scenario counts as hanging.
LIMIT = 300
HOSTS = 4

_CONTEXT: dict[str, Any] = {}
_IDS = UUID("5f2c8f3c-6f0e-4a33-8a37-cf3a1d1a0f11")


class Boundaries:
    """Counts boundaries, and kills the process at one of them.

    :param kill_at: number of the boundary, 0 for none
    """

    def __init__(self, kill_at: int) -> None:
        self.count = 0
        self._kill_at = kill_at
        self._lock = threading.Lock()

    def cross(self) -> None:
        with self._lock:
            self.count += 1
            if self.count == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


class HeldClock(AcceleratedClock):
    """A clock that can be held, so that work takes none of its time, however busy the machine is."""

    _held_at: float | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the clock within the block."""
        begun = time.monotonic()
        self._held_at = super()._now()
        try:
            yield
        finally:
            self._begun += time.monotonic() - begun
            self._held_at = None

    def _now(self) -> float:
        return super()._now() if self._held_at is None else self._held_at


class FragileStore(SqlStore):
    """The store, with boundaries around what it writes."""

    boundaries: Boundaries
    #: Called after every transaction.
    on_commit: Callable[[], None] | None = None

    def commit(self, changes: StoreChanges) -> int:
        self.boundaries.cross()
        revision = super().commit(changes)
        self.boundaries.cross()
        if self.on_commit is not None:
            self.on_commit()
        return revision

    def kept(self) -> tuple[Lease, ...]:
        """Return the live leases as the database has them, without regard to who leads."""
        with self._database.connect() as connection:
            return snapshot.load(connection, "default").snapshot.leases

    def record_steps(self, reached: Iterable[tuple[int, int]]) -> None:
        self.boundaries.cross()
        super().record_steps(reached)
        self.boundaries.cross()


class FragileCloud(SimulatedCloud):
    """The cloud, with boundaries around what it does."""

    boundaries: Boundaries

    def perform(self, order: AnyOrder, step: str) -> int | None:
        self.boundaries.cross()
        again = super().perform(order, step)
        self.boundaries.cross()
        return again


def lease(name: str, kind: str, count: int, **terms: Any) -> dict[str, Any]:
    """Return a lease document whose ids follow from its name, so that the same lease can be requested twice."""
    reservation_id = str(uuid5(_IDS, f"{name} reservation"))
    return lease_document(name, kind, count, reservation_id, id=str(uuid5(_IDS, name)), **terms)


#: (seconds after the start, document that is requested)
REQUESTS: list[tuple[int, dict[str, Any]]] = [
    (0, lease("at once", "immediate", 1, duration=10)),
    (0, lease("long", "best-effort", 4, duration=60)),
    (0, lease("behind", "best-effort", 2, duration=15)),
    (1, lease("fixed", "reservation", 3, start=START + 40, end=START + 60)),
    (2, lease("in time", "deadline", 1, start=START + 2, duration=20, deadline=START + 150)),
    (3, lease("never", "best-effort", 1, duration=500)),
]


#: Requests of a second pool with one host, if there is one.
_IN_SIDE: list[tuple[int, dict[str, Any]]] = [
    (0, lease("side", "best-effort", 1, duration=25) | {"pool": "side"}),
    (1, lease("side later", "reservation", 1, start=START + 40, end=START + 55) | {"pool": "side"}),
]


def run(folder: Path, url: str, kill_at: int, speed: float, *, pools: bool = False) -> dict[str, Any]:
    """Run the day to its end or to the boundary; if it reaches the end, return what was seen.

    :param speed: seconds of the day per real second
    :param pools: whether the hosts of the day are one of two pools, and the other one has a host and leases, too
    """
    names = [f"compute-{number}" for number in range(1, HOSTS + 1)] + (["side-1"] if pools else [])
    boundaries = Boundaries(kill_at)
    database = open_database(url)
    if migrate.current(database) is None:
        migrate.upgrade(database)
    store = FragileStore(database)
    store.boundaries = boundaries
    kept = store.read_clock()
    clock = AcceleratedClock(START if kept is None else kept, speed)
    store.take_over(f"engine-{os.getpid()}", clock.now())
    cloud = FragileCloud(str(folder / "cloud.sqlite"), clock, CloudBehaviour(boot_time=2))
    cloud.boundaries = boundaries
    watch_holds(folder / "cloud.sqlite", {"VCPU": 8, HOST_SHARE: WHOLE_HOST})
    cloud.add_hypervisors(hypervisors(names))
    options = ServiceOptions(EngineOptions(boot_attempts=10, explain_refusals=False), workers=4)
    policies = site_policies(PlanningOptions(suspend_rate=50.0, resume_rate=50.0))
    plannings = {
        "main": PoolPlanning(policies, options.engine),
        "side": PoolPlanning(site_policies(), options.engine, ("side-*",)),
    }
    site = SiteTransactions(store, cloud, clock, policies, options, lambda: None, pools=plannings if pools else None)
    engine = SiteEngine(site)
    differences: list[str] = []

    def compare() -> None:
        differences.extend(plan_differences(site, store.kept()))

    compare()
    store.on_commit = compare
    engine.start()
    reader = SqlReader(database)
    _submit(engine, reader, clock.now, names, [*REQUESTS, *(_IN_SIDE if pools else [])])

    def intents() -> int:
        with database.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(OPERATIONS)).scalar_one())

    limit = time.monotonic() + LIMIT
    while site.engine.live_leases() or cloud.footprints() or intents():
        if site.is_broken or time.monotonic() > limit:
            break
        time.sleep(0.1)
    leases = reader.leases({"deleted": True})
    seen = {
        "boundaries": boundaries.count,
        "broken": site.is_broken,
        "differences": differences,
        "oversold": overfull(folder / "cloud.sqlite"),
        "pools": {view["name"]: view["pool"] for view in leases},
        "left": [footprint.lease_id for footprint in cloud.footprints()],
        "intents": intents(),
        "leases": {
            view["name"]: {
                "state": view["state"],
                "accumulated": view["accumulated"],
                "started": view["started"],
                "ended": view["ended"],
                "reason": view["reason"],
            }
            for view in leases
        },
        "count": len(leases),
        "history": {view["name"]: [entry["to"] for entry in reader.history(view["id"])] for view in leases},
    }
    engine.close()
    return seen


def plan_differences(site: SiteTransactions, kept: tuple[Lease, ...]) -> list[str]:
    """Return the differences between the engine's plan and the plan rebuilt from the database."""
    live = {lease.lease_id: lease for lease in site.engine.live_leases()}
    found = [f"{lease} is not as it is kept" for lease in kept if live.get(lease.lease_id) != lease]
    found += [f"{lease_id} is not kept" for lease_id in live.keys() - {lease.lease_id for lease in kept}]
    now = site.work.now
    for pool, parts in site.parts.items():
        plan = parts.planner.plan
        if not plan.availability.forgotten(now).equals(plan.rebuilt(now)):
            found.append(f"at {now} what is free in pool {pool} is not what the leases leave free")
        found += [f"{each} is in pool {pool}" for each, lease in plan.leases.items() if lease.request.pool != pool]
    return found


def _submit(
    engine: SiteEngine,
    reader: SqlReader,
    now: Callable[[], int],
    names: Iterable[str],
    asked: Iterable[tuple[int, dict[str, Any]]],
) -> None:
    """Request everything that was not requested yet, as a client does that got no answer."""
    pool, leases = PoolKeeper(engine), Leases(engine.plan, Enforcement())
    for name in names:
        if not any(host["name"] == name for host in reader.hosts()):
            pool.create_host(_CONTEXT, {"name": name})
    for instant, document in asked:
        while now() < START + instant:
            time.sleep(0.02)
        if reader.lease(document["id"], deleted=True) is None:
            try:
                leases.create(_CONTEXT, document)
            except RefusedError as error:
                # Time passes while the engine is down, so its start or deadline may have passed.
                assert document["kind"] != "best-effort", error
    never = REQUESTS[-1][1]["id"]
    if reader.lease(never) is not None:
        leases.delete(_CONTEXT, never, "not wanted any more")


def main(folder: str, url: str, kill_at: int, speed: float, *, pools: bool = False) -> None:
    """Run the day and write the result to ``seen.json``."""
    seen = run(Path(folder), url, kill_at, speed, pools=pools)
    (Path(folder) / "seen.json").write_text(json.dumps(seen))
