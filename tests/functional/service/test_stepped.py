"""A whole site is stepped on a virtual clock: one process, no threads, and the same history each time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.records.messages import Message
from lease_scheduler.service.core.clock import VirtualClock
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.observer import SiteObserver
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.runners import SteppedRunner
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.telling.outbox import Outbox
from lease_scheduler.service.upkeep.stepped_executor import SteppedExecutor
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies

HOUR = 3_600
_BEGIN = 1_000_000


class _SteppedCloud(SimulatedCloud):
    """A cloud that reports what happens when it is asked, and not from a thread."""

    def __init__(self, path: str, clock: VirtualClock) -> None:
        super().__init__(path, clock, CloudBehaviour(boot_time=30))
        self._report: Callable[[DriverEvent], None] | None = None
        self.on_news: Callable[[], None] = lambda: None

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        self._report = on_event
        self.on_news()

    def stop(self) -> None:
        self._report = None

    def _look_again(self) -> None:
        self.on_news()

    def report(self) -> float | None:
        """Report what has happened, and return the seconds until something else may have."""
        return None if self._report is None else self._watch(self._report)


class _CloudReports(UpkeepWorker):
    """Asks the cloud when something may have happened."""

    def __init__(self, cloud: _SteppedCloud) -> None:
        super().__init__("cloud", 1.0)
        self._cloud = cloud
        cloud.on_news = self.wake

    def round(self, now: float) -> float | None:
        return self._cloud.report()


class _Site:
    """The engine of two hosts, with a database and a simulated cloud of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.sent: list[tuple[float, str, Mapping[str, Any]]] = []
        self.clock = VirtualClock(_BEGIN)
        self.runner = SteppedRunner()
        self._database = open_database(f"sqlite:///{folder}/service.sqlite")
        migrate.upgrade(self._database)
        self.reader = SqlReader(self._database)
        self.cloud = _SteppedCloud(":memory:", self.clock)
        self.cloud.add_hypervisors(hypervisors(["compute-1", "compute-2"]))
        self.lead()
        self._pool.create_hosts({}, ["compute-1", "compute-2"])

    def lead(self) -> None:
        """Take over from the database."""
        store = SqlStore(self._database)
        store.take_over("engine", self.clock.now())
        options = ServiceOptions(EngineOptions(explain_refusals=False), preemption_warning=60, minutes_before_start=5)
        site = SiteTransactions(store, self.cloud, self.clock, site_policies(), options, lambda: None)
        self.engine = SiteEngine(site, runner=self.runner, make_executor=SteppedExecutor)
        self._pool, self.leases = PoolKeeper(self.engine), Leases(site, Enforcement())
        self.engine.start(SiteObserver(self.engine, self._pool), [Outbox(store, self._send), _CloudReports(self.cloud)])

    def close(self) -> None:
        self.engine.close()
        self.cloud.close()
        self._database.dispose()

    def _send(self, message: Message) -> None:
        self.sent.append((self.clock.seconds(), message.event_type, message.payload))

    def ask(self, lease_id: str, kind: str, count: int, **terms: Any) -> None:
        """Create a lease of whole hosts."""
        document = lease_document(lease_id, kind, count, f"reservation of {lease_id}", id=lease_id, **terms)
        self.leases.create({}, document)

    def step_until(self, instant: int) -> None:
        """Do what is due until an instant, each at its own instant."""
        self.runner.step(self.clock.seconds())
        while (due := self.runner.next_due()) is not None and due <= instant:
            self.clock.move_to(max(due, self.clock.seconds()))
            self.runner.step(self.clock.seconds())
        self.clock.move_to(instant)
        self.runner.step(instant)

    def view(self, lease_id: str) -> dict[str, Any]:
        found = self.reader.lease(lease_id, deleted=True)
        assert found is not None
        return dict(found)


@contextmanager
def _site(folder: Path) -> Iterator[_Site]:
    """A site that must start no threads."""
    made = _Site(folder)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise AssertionError(f"{thread.name} is started")

    monkeypatch.setattr(threading.Thread, "start", start)


def _history(site: _Site, *lease_ids: str) -> Any:
    """Return all that can be seen of a site: leases, their histories, notifications, and what is in the cloud."""
    leases = [(site.view(lease_id), site.reader.history(lease_id)) for lease_id in lease_ids]
    return leases, site.sent, site.cloud.footprints(), site.cloud.announcements.ends, site.cloud.announcements.announced


def _preemption(folder: Path) -> Any:
    """Let a reservation preempt a best-effort lease that runs, which resumes afterwards."""
    with _site(folder) as site:
        site.ask("best-effort", "best-effort", 2, duration=4 * HOUR)
        start = _BEGIN + 2 * HOUR
        site.ask("reserved", "reservation", 1, start=start, end=start + HOUR)
        states = []
        for instant in (_BEGIN + HOUR, start + 60, start + 2 * HOUR, start + 5 * HOUR):
            site.step_until(instant)
            states.append([site.view(lease_id)["state"] for lease_id in ("best-effort", "reserved")])
        return states, _history(site, "best-effort", "reserved")


def test_a_reservation_starts_and_ends_and_its_project_is_told(tmp_path: Path) -> None:
    with _site(tmp_path / "site") as site:
        start = _BEGIN + HOUR
        site.ask("reserved", "reservation", 2, start=start, end=start + HOUR)
        site.step_until(start - 1)
        assert site.view("reserved")["state"] == "ready"
        site.step_until(start + 60)
        assert site.view("reserved")["state"] == "active"
        assert [each.servers for each in site.cloud.footprints()] == ["active"]
        assert site.cloud.announcements.ends["reserved"] == start + HOUR
        site.step_until(start + 2 * HOUR)
        assert site.view("reserved")["state"] == "done"
        assert not site.cloud.footprints()
        told = [(event_type, instant - start) for instant, event_type, _ in site.sent]
        assert ("lease.event.before_start_lease", -300) in told
        assert [event_type for event_type, _ in told if event_type.endswith(("start_lease", "end_lease"))]


def test_a_preempted_lease_has_the_same_history_each_time(tmp_path: Path) -> None:
    states, history = _preemption(tmp_path / "first")
    assert states == [["active", "ready"], ["suspended-scheduled", "active"], ["active", "done"], ["done", "done"]]
    assert (states, history) == _preemption(tmp_path / "second")


def test_an_engine_that_takes_over_goes_on_from_the_database(tmp_path: Path) -> None:
    with _site(tmp_path / "site") as site:
        site.ask("reserved", "reservation", 1, start=_BEGIN + HOUR, end=_BEGIN + 2 * HOUR)
        # The servers of the lease boot.
        site.step_until(_BEGIN + HOUR + 10)
        site.engine.close()
        site.lead()
        site.step_until(_BEGIN + HOUR + 60)
        assert site.view("reserved")["state"] == "active"


def test_servers_that_vanish_end_their_lease(tmp_path: Path) -> None:
    with _site(tmp_path / "site") as site:
        site.ask("now", "immediate", 1, duration=HOUR)
        site.step_until(_BEGIN + 60)
        site.cloud.tell(DriverEvent(EventKind.ENDED, "now", reason="in the test"))
        site.step_until(_BEGIN + 120)
        assert site.view("now")["state"] == "done"
