"""A host that falls asleep and wakes for a lease, by an engine that may be killed at any point.

Besides the transactions, boundaries are before and after everything that is done to the host: its compute service is
disabled and enabled, and its power is switched.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lease_scheduler.cloud.power.keeper import PowerTimes
from lease_scheduler.cloud.simulated_services import SimulatedServices
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.model.power import PowerState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.fractional.base import FractionalPolicy
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.policies import PoolPlanning
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.workers import Instruments
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from tests.functional.crash.scenario import LIMIT, START, Boundaries, FragileCloud, FragileStore, HeldClock, lease
from tests.site_engine import hypervisors, site_policies

_FINAL = {"done", "failed"}

#: Host that sleeps -> the request for which it wakes, without its times: name, number of nodes, pool.
_SLEEPERS: dict[str, tuple[str, int, str | None]] = {"compute-2": ("for two", 2, None)}
_FLUID: dict[str, tuple[str, int, str | None]] = {"compute-2": ("waits", 1, None)}
_IN_POOLS: dict[str, tuple[str, int, str | None]] = {"compute-2": ("for two", 2, "main"), "side-1": ("side", 1, "side")}

#: The lease that fills the memory of the other host until all others are over, if leases are fluid.
_FIRST = "runs"


@cache
def algorithm() -> FractionalPolicy:
    """Return what places fluid leases. Called before processes are forked, as it loads a compiler."""
    options = PolicyOptions({"fractional_algorithm": "Greedy*/OPT=MIN"})
    policy: FractionalPolicy = load_policy("fractional", "dfrs", options)
    return policy


class Switch:
    """The power of the hosts, in a file that outlives the process."""

    def __init__(self, folder: Path, cloud: FragileCloud, boundaries: Boundaries) -> None:
        self._folder = folder
        self._cloud = cloud
        self._boundaries = boundaries

    def is_on(self, host: str) -> bool:
        return not (self._folder / f"off-{host}").exists()

    def turn_on(self, host: str) -> None:
        self._boundaries.cross()
        (self._folder / f"off-{host}").unlink(missing_ok=True)
        self._boundaries.cross()

    def turn_off(self, host: str) -> None:
        self._boundaries.cross()
        if not self._cloud.services.is_vacant(host) or host not in self._cloud.services.closed():
            (self._folder / "wronged").write_text(host)
        (self._folder / f"off-{host}").touch()
        self._boundaries.cross()


class FragileServices(SimulatedServices):
    """The compute services, which run only while their hosts are on."""

    boundaries: Boundaries
    switch: Switch

    def close(self, host: str) -> bool:
        self.boundaries.cross()
        closed = super().close(host)
        self.boundaries.cross()
        return closed

    def open(self, host: str) -> None:
        self.boundaries.cross()
        super().open(host)
        self.boundaries.cross()

    def heartbeat(self, host: str) -> int | None:
        return super().heartbeat(host) if self.switch.is_on(host) else None


def run(
    folder: Path, url: str, kill_at: int, speed: float, *, pools: bool = False, fluid: bool = False
) -> dict[str, Any]:
    """Run to the end or to the boundary; at the end, return what was seen.

    :param pools: whether there is a second pool, in which a host sleeps and wakes for a lease, too
    :param fluid: whether the host wakes for a fluid lease that an algorithm leaves waiting
    """
    sleepers = _IN_POOLS if pools else _FLUID if fluid else _SLEEPERS
    names = ["compute-1", *sleepers]
    boundaries = Boundaries(kill_at)
    database = open_database(url)
    if migrate.current(database) is None:
        migrate.upgrade(database)
    store = FragileStore(database)
    store.boundaries = boundaries
    kept = store.read_clock()
    clock = HeldClock(START if kept is None else kept, speed)
    store.take_over(f"engine-{os.getpid()}", clock.now())
    cloud = FragileCloud(str(folder / "cloud.sqlite"), clock)
    cloud.boundaries = boundaries
    cloud.add_hypervisors(hypervisors(names))
    services = FragileServices(cloud._database, cloud._lock)
    cloud.services = services
    services.boundaries = boundaries
    services.switch = switch = Switch(folder, cloud, boundaries)
    power = PowerOptions(wake_time=10, shutdown_time=0, margin=20)
    options = ServiceOptions(EngineOptions(boot_attempts=10, explain_refusals=False, power=power), workers=2)
    plannings = {
        "main": PoolPlanning(site_policies(), options.engine),
        "side": PoolPlanning(site_policies(), options.engine, ("side-*",)),
    }
    policies = site_policies(make=lambda: PolicySet(fractional=algorithm()) if fluid else PolicySet())
    times = PowerTimes(interval=0.05, sleeping_interval=0.1, again=0.3, shutdown=0.5, patience=LIMIT)
    # Leases begin soon, so that none is missed only because the engine was slow to start.
    with clock.held():
        sites = plannings if pools else None
        site = SiteTransactions(store, cloud, clock, policies, options, lambda: None, pools=sites)
        engine = SiteEngine(site, Instruments(power=switch, power_times=times))
        engine.start()
    reader = SqlReader(database)
    _add_hosts(engine, reader, names)
    if fluid and reader.lease(_id_of(_FIRST)) is None:
        Leases(engine.plan, Enforcement()).create({}, _fluid(_FIRST, 100_000))
    _submit(engine, reader, clock, sleepers, fluid=fluid)

    def are_over() -> bool:
        views = [reader.lease(_id_of(name)) for name, _, _ in sleepers.values()]
        return all(view is None or view["state"] in _FINAL for view in views)

    def is_over() -> bool:
        return are_over() and all(_power(reader, host) in (None, PowerState.AWAKE) for host in sleepers)

    limit = time.monotonic() + LIMIT
    while not (is_over() and not cloud.footprints() and not services.closed()):
        if site.is_broken or time.monotonic() > limit:
            break
        if fluid and is_over():
            _end(engine, reader)
        if are_over():
            # A host sleeps on if no engine ran until its lease was over.
            _wake(engine, reader, sleepers)
        time.sleep(0.05)
    seen = {
        "boundaries": boundaries.count,
        "broken": site.is_broken,
        "closed": sorted(services.closed()),
        "wronged": (folder / "wronged").exists(),
        "hosts": {
            host["name"]: {
                "is_on": switch.is_on(host["name"]),
                "power": host["power"] and host["power"].state.value,
                "slept": host["slept"],
                "pool": host["pool"],
            }
            for host in reader.hosts()
            if host["name"] in sleepers
        },
        "leases": [
            view and {name: view[name] for name in ("state", "reason", "started", "breaches", "pool")}
            for view in (reader.lease(_id_of(name)) for name, _, _ in sleepers.values())
        ],
    }
    engine.close()
    return seen


def _id_of(name: str) -> str:
    return str(lease(name, "reservation", 1)["id"])


def _power(reader: SqlReader, name: str) -> PowerState | None:
    found = next((host["power"] for host in reader.hosts() if host["name"] == name), None)
    return None if found is None else PowerState(found.state)


def _add_hosts(engine: SiteEngine, reader: SqlReader, names: Iterable[str]) -> None:
    """Add the hosts that were not added yet."""
    for name in names:
        if not any(host["name"] == name for host in reader.hosts()):
            PoolKeeper(engine).create_host({}, {"name": name})


def _wake(engine: SiteEngine, reader: SqlReader, names: Iterable[str]) -> None:
    """Wake the hosts that are asleep."""
    for host in reader.hosts():
        if host["name"] in names and _power(reader, host["name"]) is PowerState.ASLEEP:
            PoolKeeper(engine).wake_host({}, host["id"])


def _end(engine: SiteEngine, reader: SqlReader) -> None:
    """End the first lease if it has not ended."""
    view = reader.lease(_id_of(_FIRST))
    if view is not None and view["state"] not in (*_FINAL, "cancelled"):
        Leases(engine.plan, Enforcement()).delete({}, _id_of(_FIRST), "enough")


def _fluid(name: str, duration: int = 30) -> dict[str, Any]:
    """Return a fluid lease that needs more than half of the memory of a host."""
    document = lease(name, "best-effort", 1, duration=duration, min_yield=0.125, preemption_mode="migrate")
    document["reservations"][0]["memory_mb"] = 600
    return document


def _submit(
    engine: SiteEngine,
    reader: SqlReader,
    clock: HeldClock,
    sleepers: Mapping[str, tuple[str, int, str | None]],
    *,
    fluid: bool,
) -> None:
    """Do everything else that was not done yet, as a client does that got no answer."""
    pool, leases = PoolKeeper(engine), Leases(engine.plan, Enforcement())
    asked = {host: terms for host, terms in sleepers.items() if reader.lease(_id_of(terms[0])) is None}
    numbers = {host["name"]: host["id"] for host in reader.hosts()}
    limit = time.monotonic() + LIMIT
    while any(_power(reader, host) is not PowerState.ASLEEP for host in asked):
        assert time.monotonic() < limit, "a host does not fall asleep"
        for host in asked:
            if _power(reader, host) in (None, PowerState.AWAKE):
                pool.sleep_host({}, numbers[host])
        time.sleep(0.02)
    asleep = clock.now()
    while fluid and clock.now() < asleep + 3:
        # It is to have slept when it wakes, which it does at once.
        time.sleep(0.02)
    with clock.held():
        start = clock.now() + 45
        for name, count, of in asked.values():
            document = _fluid(name) if fluid else lease(name, "reservation", count, start=start, end=start + 20)
            leases.create({}, document if of is None else document | {"pool": of})


def main(folder: str, url: str, kill_at: int, speed: float, *, pools: bool = False, fluid: bool = False) -> None:
    """Run and write the result to ``seen.json``."""
    seen = run(Path(folder), url, kill_at, speed, pools=pools, fluid=fluid)
    (Path(folder) / "seen.json").write_text(json.dumps(seen))
