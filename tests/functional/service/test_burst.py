"""Very many leases that start at the same instant, and one lease with a slow cloud."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import func, select

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.service.core.terms import build_terms
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.schema import LEASES
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until
from tests.site_engine import site_policies

_BEGIN = 1_000_000
_START = _BEGIN + 86_400
_PER_HOST = 100


class JumpingClock:
    """The real clock, plus a jump over the time in which nothing is due."""

    def __init__(self) -> None:
        self._offset = _BEGIN - time.monotonic()

    def now(self) -> int:
        return int(time.monotonic() + self._offset)

    def seconds_until(self, instant: int) -> float:
        return max(0.0, instant - time.monotonic() - self._offset)

    def jump(self, instant: int) -> None:
        self._offset = instant - time.monotonic()


class SlowCloud(SimulatedCloud):
    """A cloud that is slow for one lease."""

    slow_lease: str
    go_on: Event

    def perform(self, order: AnyOrder, step: str) -> int | None:
        if order.lease_id == self.slow_lease and step == "boot":
            self.go_on.wait(600)
        return super().perform(order, step)


@pytest.mark.parametrize("number", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_slow_lease_holds_up_none_of_the_others(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = open_database(f"sqlite:///{tmp_path}/database.sqlite")
    migrate.upgrade(database)
    clock = JumpingClock()
    store = SqlStore(database)
    store.take_over("engine", clock.now())
    cloud = SlowCloud(str(tmp_path / "cloud.sqlite"), clock)
    cloud.go_on = Event()
    capacity = {"VCPU": _PER_HOST, "MEMORY_MB": _PER_HOST, HOST_SHARE: WHOLE_HOST}
    hosts = [Hypervisor(f"compute-{index}", _PER_HOST, _PER_HOST, 0, capacity) for index in range(number // _PER_HOST)]
    cloud.add_hypervisors(hosts)
    options = ServiceOptions(EngineOptions(explain_refusals=False))
    site = SiteTransactions(store, cloud, clock, site_policies(), options, lambda: None)
    engine = SiteEngine(site)
    engine.start()
    pool = PoolKeeper(engine)
    for host in hosts:
        pool.create_host({}, {"name": host.name})
    wanted = [_document(index) for index in range(number)]
    cloud.slow_lease = wanted[number // 2]["id"]
    begun = time.monotonic()
    with site.transaction():
        for each in wanted:
            terms = build_terms(each, site.pool(None), site.work.now)
            site.work.documents[each["id"]] = terms.document
            site.engine.submit(terms.request, terms.least)
    planned = time.monotonic() - begun

    def active() -> int:
        with database.connect() as connection:
            query = select(func.count()).select_from(LEASES).where(LEASES.c.state == "active")
            return int(connection.execute(query).scalar_one())

    assert len(site.engine.live_leases()) == number
    clock.jump(_START)
    begun = time.monotonic()
    engine.timer.wake()
    try:
        assert wait_until(lambda: active() == number - 1 or site.is_broken, 300)
        burst = time.monotonic() - begun
        assert not site.is_broken
        assert active() == number - 1
        with capsys.disabled():
            print(f"\n{number} leases planned in {planned:.1f} s, started in {burst:.1f} s")
    finally:
        cloud.go_on.set()
    assert wait_until(lambda: active() == number, 60)
    assert cloud.oversold() == []
    engine.close()
    cloud.close()
    database.dispose()


def _document(index: int) -> dict[str, Any]:
    found = lease_document(f"lease {index}", "reservation", start=_START, end=_START + 3600)
    found["reservations"][0].update(vcpus=1, memory_mb=1)
    return found
