"""Leases and cloud that do not agree are brought to agree (architecture, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cloud.driver import DriverEvent, Footprint, Hypervisor, Order
from lease_scheduler.cloud.emulated import EmulatedCloud
from lease_scheduler.engine.interfaces import EventKind, Operation, OperationKind
from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_admission, load_host_selection, load_preemption
from lease_scheduler.service.clock import AcceleratedClock
from lease_scheduler.service.enforcement import Enforcement
from lease_scheduler.service.leases import Leases
from lease_scheduler.service.pool import PoolKeeper
from lease_scheduler.service.site_engine import ServiceOptions, SiteEngine
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

_HOUR = 3_600
_LIMIT = 20.0


class ForgetfulCloud(EmulatedCloud):
    """A cloud in which things happen that nobody is told of.

    :ivar while_looking: done after the cloud was looked at, before the answer is there
    """

    while_looking: Callable[[], None] | None = None

    def footprints(self) -> list[Footprint]:
        found = super().footprints()
        if self.while_looking is not None:
            self.while_looking()
        return found

    def lose_servers(self, lease_id: str) -> None:
        self._database.execute("UPDATE leases SET servers = 'none' WHERE id = ?", (lease_id,))


class Service:
    """The engine of a site of two hosts, its cloud and its database."""

    def __init__(self, folder: Path, reconcile_interval: float) -> None:
        database = open_database(f"sqlite:///{folder}/service.sqlite")
        migrate.upgrade(database)
        store = SqlStore(database)
        clock = AcceleratedClock(1_000_000, 60.0)
        store.take_over("engine", clock.now())
        self.reader = SqlReader(database)
        self.cloud = ForgetfulCloud(":memory:", clock)
        capacity = {"VCPU": 8, "MEMORY_MB": 1024, HOST_SHARE: WHOLE_HOST}
        self.cloud.add_hypervisors(Hypervisor(f"compute-{number}", 8, 1024, 0, capacity) for number in (1, 2))
        none = PolicyOptions({})

        def planner(site: Site) -> Planner:
            options = PlanningOptions(suspend_rate=1000.0, resume_rate=1000.0)
            return Planner(site, options, load_host_selection("greedy", none), load_preemption("by-kind", none))

        self.site = SiteEngine(
            store,
            self.cloud,
            clock,
            planner,
            load_admission("accept-all", none),
            ServiceOptions(EngineOptions(explain_refusals=False), workers=4, reconcile_interval=reconcile_interval),
            lambda: None,
        )
        self.site.start()
        pool = PoolKeeper(self.site)
        for number in (1, 2):
            pool.create_host({}, {"name": f"compute-{number}"})
        self.leases = Leases(self.site, Enforcement())

    def ask(self, kind: str, count: int, duration: int) -> str:
        now = self.site.clock.now()
        interval = {"start": now + 60, "end": now + 60 + duration}
        terms: dict[str, Any] = interval if kind == "reservation" else {"duration": duration}
        document = lease_document(kind, kind, count, **terms)
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

    def make(reconcile_interval: float = _HOUR) -> Service:
        made.append(Service(tmp_path, reconcile_interval))
        return made[-1]

    yield make
    for service in made:
        service.site.close()


def test_servers_that_are_gone_end_their_lease(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lost, kept = service.ask("best-effort", 1, 30 * _HOUR), service.ask("best-effort", 1, 30 * _HOUR)
    for lease_id in (lost, kept):
        assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    service.cloud.lose_servers(lost)
    assert service.site.reconcile() == {"destroyed": 0, "gone": 1}
    assert wait_until(service.is_in(lost, "done"), _LIMIT)
    assert service.reader.history(lost)[-1]["to"] == "done"
    assert service.is_in(kept, "active")()
    assert service.site.reconcile() == {"destroyed": 0, "gone": 0}


def test_saved_memory_that_is_gone_has_its_lease_start_over(make_service: Callable[..., Service]) -> None:
    service = make_service()
    suspended = service.ask("best-effort", 2, 30 * _HOUR)
    assert wait_until(service.is_in(suspended, "active"), _LIMIT)
    reservation = service.ask("reservation", 2, 20 * _HOUR)
    assert wait_until(service.is_in(reservation, "active"), _LIMIT)
    assert wait_until(service.is_in(suspended, "suspended-queued", "suspended-scheduled"), _LIMIT)
    service.cloud.lose_servers(suspended)
    assert service.site.reconcile() == {"destroyed": 0, "gone": 1}
    assert wait_until(service.is_in(suspended, "queued", "scheduled", "ready"), _LIMIT)
    (entry,) = [entry for entry in service.reader.history(suspended) if "its saved state is gone" in entry["reason"]]
    assert entry["to"] == "queued"
    view = service.reader.lease(suspended)
    assert view is not None
    assert view["accumulated"] == 0


def test_what_belongs_to_no_lease_is_destroyed(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * _HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    stray = str(uuid4())
    boot = Operation(OperationKind.START, stray, (1,), 0, 0)
    for step in service.cloud.steps(boot):
        request = service.site.work.leases[lease_id].request
        service.cloud.perform(Order(999_999, stray, boot, ("compute-2",), request), step)
    assert {footprint.lease_id for footprint in service.cloud.footprints()} == {lease_id, stray}
    assert service.site.reconcile() == {"destroyed": 1, "gone": 0}
    assert wait_until(lambda: {footprint.lease_id for footprint in service.cloud.footprints()} == {lease_id}, _LIMIT)


def test_a_lease_that_starts_while_the_cloud_is_looked_at_is_left_alone(make_service: Callable[..., Service]) -> None:
    """What was seen is from before the start: there was nothing of it."""
    service = make_service()
    started: list[str] = []

    def start() -> None:
        service.cloud.while_looking = None
        started.append(service.ask("best-effort", 1, 30 * _HOUR))
        assert wait_until(service.is_in(started[0], "active"), _LIMIT)
        assert wait_until(lambda: not service.site.work.open_intents(), _LIMIT)

    service.cloud.while_looking = start
    assert service.site.reconcile() == {"destroyed": 0, "gone": 0}
    assert service.is_in(started[0], "active")()


def test_it_is_done_now_and_then_and_a_cloud_that_does_not_answer_stops_nobody(
    make_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = make_service(0.05)
    lease_id = service.ask("best-effort", 1, 30 * _HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    asked: list[int] = []

    def fail() -> None:
        asked.append(1)
        raise OSError("nobody there")

    service.cloud.while_looking = fail
    assert wait_until(lambda: len(asked) >= 3, _LIMIT)
    assert "could not be compared" in caplog.text
    service.cloud.while_looking = None
    service.cloud.lose_servers(lease_id)
    assert wait_until(service.is_in(lease_id, "done"), _LIMIT)


def test_servers_that_vanish_are_told_by_the_driver(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * _HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    service.cloud.tell(DriverEvent(EventKind.ENDED, lease_id, reason="deleted by its owner"))
    assert wait_until(service.is_in(lease_id, "done"), _LIMIT)
