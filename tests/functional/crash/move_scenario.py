"""Two running leases that are moved together, by an engine that may be killed at any point."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from tests.functional.crash.cloud_record import overfull, watch_holds
from tests.functional.crash.scenario import (
    LIMIT,
    START,
    Boundaries,
    FragileCloud,
    FragileStore,
    lease,
    plan_differences,
)
from tests.functional.lease_document import VCPUS
from tests.site_engine import hypervisors, site_policies

_FINAL = {"done", "failed"}

_HOSTS = ("compute-1", "compute-2", "compute-3")

#: Seconds that the leases last. However hosts are chosen, "one" and "two" begin on different hosts, and "short" leaves
#: one of them.
_DURATIONS = {"one": 80, "short": 8, "two": 80}


def _half_a_host(name: str, start: int) -> dict[str, Any]:
    """Return a reservation that may move while it runs."""
    terms = {"start": start, "end": start + _DURATIONS[name], "preemptible": True, "preemption_mode": "migrate"}
    document = lease(name, "reservation", 1, **terms)
    document["reservations"][0]["vcpus"] = VCPUS // 2
    return document


def _id_of(name: str) -> str:
    return str(_half_a_host(name, 0)["id"])


def run(folder: Path, url: str, kill_at: int, speed: float) -> dict[str, Any]:
    """Run to the end or to the boundary; at the end, return what was seen."""
    boundaries = Boundaries(kill_at)
    database = open_database(url)
    if migrate.current(database) is None:
        migrate.upgrade(database)
    store = FragileStore(database)
    store.boundaries = boundaries
    kept = store.read_clock()
    clock = AcceleratedClock(START if kept is None else kept, speed)
    store.take_over(f"engine-{os.getpid()}", clock.now())
    cloud = FragileCloud(str(folder / "cloud.sqlite"), clock, CloudBehaviour())
    cloud.boundaries = boundaries
    watch_holds(folder / "cloud.sqlite", {"VCPU": VCPUS, HOST_SHARE: WHOLE_HOST})
    cloud.add_hypervisors(hypervisors(_HOSTS))
    limits = RelocationOptions(interval=10, budget=4, rest=10)
    options = ServiceOptions(EngineOptions(boot_attempts=10, explain_refusals=False, relocation=limits), workers=2)
    together = load_policy("relocation", "energy-aware", PolicyOptions({}))
    site = SiteTransactions(
        store, cloud, clock, site_policies(make=lambda: PolicySet(relocation=together)), options, lambda: None
    )
    engine = SiteEngine(site)
    differences: list[str] = []

    lasting = [_id_of("one"), _id_of("two")]
    hosts: list[list[int]] = []

    def compare() -> None:
        kept = store.kept()
        differences.extend(plan_differences(site, kept))
        held = [each.holdings[0].assignment[0] for each in kept if each.lease_id in lasting and each.active_since]
        if len(held) == len(lasting) and held not in hosts:
            hosts.append(held)

    compare()
    store.on_commit = compare
    engine.start()
    reader = SqlReader(database)
    _submit(engine, reader, clock)

    def is_over() -> bool:
        views = [reader.lease(_id_of(name), deleted=True) for name in _DURATIONS]
        return all(view is not None and view["state"] in _FINAL for view in views) and not cloud.footprints()

    limit = time.monotonic() + LIMIT
    while not is_over():
        if site.is_broken or time.monotonic() > limit:
            break
        time.sleep(0.05)
    seen = {
        "broken": site.is_broken,
        "differences": differences,
        "oversold": overfull(folder / "cloud.sqlite"),
        "left": [footprint.lease_id for footprint in cloud.footprints()],
        "hosts": hosts,
        "leases": {
            view["name"]: {name: view[name] for name in ("state", "reason")}
            for view in (reader.lease(_id_of(name), deleted=True) for name in _DURATIONS)
            if view is not None
        },
    }
    engine.close()
    return seen


def _submit(engine: SiteEngine, reader: SqlReader, clock: AcceleratedClock) -> None:
    """Request everything that was not requested yet, as a client does that got no answer."""
    pool, leases = PoolKeeper(engine), Leases(engine.plan, Enforcement())
    for name in _HOSTS:
        if not any(host["name"] == name for host in reader.hosts()):
            pool.create_host({}, {"name": name})
    for name in _DURATIONS:
        while reader.lease(_id_of(name), deleted=True) is None:
            try:
                leases.create({}, _half_a_host(name, clock.now() + 20))
            except RefusedError as error:
                # The machine was so slow that its end has passed.
                assert "end_date" in str(error), error


def main(folder: str, url: str, kill_at: int, speed: float) -> None:
    """Run and write the result to ``seen.json``."""
    seen = run(Path(folder), url, kill_at, speed)
    (Path(folder) / "seen.json").write_text(json.dumps(seen))
