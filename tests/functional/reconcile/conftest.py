"""The engine of a small site on a simulated cloud that changes without orders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cloud.capabilities import NoRepair
from lease_scheduler.cloud.differences import REPAIRS, Difference
from lease_scheduler.cloud.facts import Footprint
from lease_scheduler.cloud.orders import AnyOrder, Expectation
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cloud.simulated_parts import SimulatedServerGroups
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.service.core.clock import AcceleratedClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.reconcile import Reconciliation
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies

HOUR = 3_600
LIMIT = 20.0


class _Repair(NoRepair):
    """Reports the differences that a test sets."""

    def __init__(self, cloud: ForgetfulCloud) -> None:
        self._cloud = cloud

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        return list(self._cloud.differing)


class _ServerGroups(SimulatedServerGroups):
    """Makes the groups that a test sets."""

    def __init__(self, cloud: ForgetfulCloud) -> None:
        self._cloud = cloud

    def make(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        if self._cloud.groups is None:
            raise RefusedError(403, "Quota exceeded, too many server groups.")
        wanted = {each["id"] for each in lease["reservations"]}
        return {key: group for key, group in self._cloud.groups.items() if key in wanted}


class ForgetfulCloud(SimulatedCloud):
    """A cloud that changes without notifying the engine.

    :ivar while_looking: called after the state of the cloud was read, before it is returned
    :ivar before_step: called before each step of an order; if it returns True, the step is tried again later
    :ivar differing: the differences that it reports
    :ivar groups: reservation -> server group that it creates on request; None if it refuses to create any
    """

    differing: Sequence[Difference] = ()
    groups: Mapping[str, str] | None = None
    while_looking: Callable[[], None] | None = None
    before_step: Callable[[AnyOrder, str], bool] | None = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.repair = _Repair(self)
        self.server_groups = _ServerGroups(self)

    def perform(self, order: AnyOrder, step: str) -> int | None:
        if self.before_step is not None and self.before_step(order, step):
            return self._now() + 1
        return super().perform(order, step)

    def footprints(self) -> list[Footprint]:
        found = super().footprints()
        if self.while_looking is not None:
            self.while_looking()
        return found

    def lose_servers(self, lease_id: str) -> None:
        self._database.execute("UPDATE leases SET servers = 'none' WHERE id = ?", (lease_id,))

    def put_on(self, lease_id: str, hosts: list[str]) -> None:
        """Move a lease to other hosts in the cloud, as an administrator might."""
        for host in hosts:
            self._database.execute("UPDATE held SET host = ? WHERE lease_id = ?", (host, lease_id))


def counted(reconciliation: Reconciliation) -> dict[str, int]:
    """Return the numbers of repairs of leases, by kind."""
    assert reconciliation.repaired.keys() == set(REPAIRS)
    return {name: reconciliation.repaired[name] for name in ("destroyed", "gone", "moved")}


class Service:
    """The engine of a site of two hosts, its cloud and its database."""

    def __init__(
        self,
        folder: Path,
        reconcile_interval: float,
        before_step: Callable[[AnyOrder, str], bool] | None,
        differing: Sequence[Difference],
    ) -> None:
        database = open_database(f"sqlite:///{folder}/service.sqlite")
        migrate.upgrade(database)
        store = self.store = SqlStore(database)
        clock = AcceleratedClock(1_000_000, 60.0)
        store.take_over("engine", clock.now())
        self.reader = SqlReader(database)
        self.cloud = ForgetfulCloud(f"{folder}/cloud.sqlite", clock)
        self.cloud.before_step = before_step
        self.cloud.differing = differing
        self.cloud.add_hypervisors(hypervisors(["compute-1", "compute-2"]))
        self.site = SiteTransactions(
            store,
            self.cloud,
            clock,
            site_policies(PlanningOptions(suspend_rate=1000.0, resume_rate=1000.0)),
            ServiceOptions(EngineOptions(explain_refusals=False), workers=4, reconcile_interval=reconcile_interval),
            lambda: None,
        )
        self.engine = SiteEngine(self.site)
        self.engine.start()
        pool = PoolKeeper(self.engine)
        for number in () if self.site.records.hosts else (1, 2):
            pool.create_host({}, {"name": f"compute-{number}"})
        self.leases = Leases(self.site, Enforcement())

    def ask(self, kind: str, count: int, duration: int, **said: Any) -> str:
        now = self.site.clock.now()
        interval = {"start": now + 60, "end": now + 60 + duration}
        terms: dict[str, Any] = interval if kind == "reservation" else {"duration": duration}
        document = lease_document(kind, kind, count, **terms) | said
        self.leases.create({}, document)
        return str(document["id"])

    def is_in(self, lease_id: str, *states: str) -> Callable[[], bool]:
        def look() -> bool:
            view = self.reader.lease(lease_id, deleted=True)
            return view is not None and view["state"] in states

        return look


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    made: list[Service] = []

    def make(
        reconcile_interval: float = HOUR,
        before_step: Callable[[AnyOrder, str], bool] | None = None,
        differing: Sequence[Difference] = (),
    ) -> Service:
        made.append(Service(tmp_path, reconcile_interval, before_step, differing))
        return made[-1]

    yield make
    for service in made:
        service.engine.close()
