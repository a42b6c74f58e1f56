"""Leases whose servers use nothing, on the simulated cloud and with a meter that the tests control."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cloud.facts import LeaseOnHosts
from lease_scheduler.cloud.meters.base import Activity, MeterOptions
from lease_scheduler.cloud.meters.cpu import CpuMeter
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.subscriptions import SubscriptionRecord
from lease_scheduler.service.telling.subscriptions.options import SubscriptionOptions
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions
from lease_scheduler.service.upkeep.idle.watch import IDLE, IdleWatch
from tests.functional.lease_document import lease_document
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_INTERVAL = 600
_RULES = IdleOptions(interval=_INTERVAL, notify_after=4 * HOUR, end_after=2 * HOUR, settling_time=0)
_DAY = 24 * HOUR


class _Meter:
    """Says what a test has set; by default that leases are idle."""

    def __init__(self) -> None:
        self.says: dict[str, Activity] = {}
        self.error: Exception | None = None
        self.asked: list[LeaseOnHosts] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        self.asked = list(leases)
        self.meanwhile()
        if self.error is not None:
            raise self.error
        return {each.lease_id: self.says.get(each.lease_id, Activity.IDLE) for each in leases}


class _Site:
    """A service whose leases are measured when a test says so; all clocks are those of the test."""

    def __init__(self, folder: Path, rules: IdleOptions, **options: Any) -> None:
        self.meter = _Meter()
        self.service = Service(folder, "free", {}, meter=self.meter, idle=rules, **options)
        self.steady = 0.0
        self.watch_anew()

    def watch_anew(self) -> None:
        self.watch = IdleWatch(self.service.site, self.meter, lambda: self.steady)

    def restart(self) -> None:
        self.service.restart()
        self.watch_anew()

    def pass_by(self, seconds: int, jump: int = 0) -> None:
        """Measure every interval for some seconds; the clock is set at the beginning."""
        self.service.clock.jump(jump)
        for _ in range(seconds // _INTERVAL):
            self.steady += _INTERVAL
            self.service.clock.jump(_INTERVAL)
            self.watch.measure()

    def lease(self, kind: str = "immediate", count: int = 1, **terms: Any) -> str:
        """Return a lease that runs."""
        document = lease_document("lease", kind, count, **{"duration": 30 * _DAY, **terms})
        lease_id = str(self.service.leases.create({}, document)["lease_id"])
        assert wait_until(lambda: self.state(lease_id) == "active", 30)
        return lease_id

    def view(self, lease_id: str) -> dict[str, Any]:
        found = self.service.reader.lease(lease_id, deleted=True)
        assert found is not None
        return dict(found)

    def state(self, lease_id: str) -> str:
        return str(self.view(lease_id)["state"])

    def history(self, lease_id: str) -> list[str]:
        return [each["reason"] for each in self.service.reader.history(lease_id)]

    def told(self) -> list[Mapping[str, Any]]:
        """Return the payloads of what projects were told about idle leases."""
        return [each.payload for _, each in self.service.site.store.waiting_messages() if each.event_type == IDLE]

    def seconds(self, lease_id: str) -> int:
        return self.service.site.idleness[lease_id].seconds

    def metric(self, name: str, **labels: str) -> float | None:
        return self.service.metrics.registry.get_sample_value(f"lease_scheduler_{name}", labels)


Make = Callable[..., _Site]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(rules, **options)``: a site of two hosts."""
    made: list[_Site] = []

    def one(rules: IdleOptions = _RULES, **options: Any) -> _Site:
        made.append(_Site(tmp_path, rules, **options))
        return made[-1]

    yield one
    for site in made:
        site.service.close()


def test_the_project_is_told_and_later_the_lease_is_ended_and_its_hosts_are_free(make: Make) -> None:
    site = make()
    lease_id = site.lease(count=2)
    version = site.view(lease_id)["version"]
    begun = site.service.clock.now()
    site.pass_by(4 * HOUR)
    assert site.told() == []
    assert abs(site.view(lease_id)["idle_since"] - begun - _INTERVAL) < 60
    assert site.metric("idle_leases", told="false") == 1
    site.pass_by(_INTERVAL)
    (told,) = site.told()
    assert (told["lease_id"], told["idle_seconds"], told["ends_after"]) == (lease_id, 4 * HOUR, 2 * HOUR)
    assert told["idle_since"] == site.view(lease_id)["idle_since"]
    assert site.history(lease_id)[-1] == "idle: its servers have used nothing for 4 h; it will be ended after 2 h more"
    assert site.view(lease_id)["version"] == version, "what a client wants to change is still the same"
    site.pass_by(2 * HOUR - _INTERVAL)
    assert site.state(lease_id) == "active"
    assert site.metric("idle_leases", told="true") == 1
    site.pass_by(_INTERVAL)
    assert wait_until(lambda: site.state(lease_id) == "done", 30)
    assert site.history(lease_id)[-2:] == ["ended as idle: its servers used nothing for 6 h"] * 2
    assert len(site.told()) == 1
    for action in ("notified", "ended"):
        assert site.metric("idle_actions_total", action=action) == 1
    site.lease(count=2)
    site.pass_by(_INTERVAL)
    assert lease_id not in site.service.site.idleness
    assert site.view(lease_id)["idle_since"] is None


def test_an_operator_may_leave_idle_leases_alone(make: Make) -> None:
    site = make(replace(_RULES, end_after=0))
    lease_id = site.lease()
    site.pass_by(3 * _DAY)
    (told,) = site.told()
    assert told["ends_after"] is None
    assert site.state(lease_id) == "active"


def test_activity_resets_the_clock(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(4 * HOUR)
    site.meter.says[lease_id] = Activity.USED
    site.pass_by(_INTERVAL)
    assert site.view(lease_id)["idle_since"] is None
    del site.meter.says[lease_id]
    site.pass_by(4 * HOUR + _INTERVAL)
    assert len(site.told()) == 1
    site.meter.says[lease_id] = Activity.USED
    site.pass_by(_INTERVAL)
    assert site.history(lease_id)[-1] == "its servers are used again"
    del site.meter.says[lease_id]
    site.pass_by(4 * HOUR)
    assert site.state(lease_id) == "active"
    site.pass_by(_INTERVAL)
    assert len(site.told()) == 2


def test_no_change_of_a_lease_by_its_project_resets_the_clock(make: Make) -> None:
    site = make()
    lease_id = site.lease(count=2)
    leases, counted = site.service.leases, 0
    reservation = site.service.site.work.documents[lease_id].reservations[0].reservation_id
    for number in range(24):
        changes: list[dict[str, Any]] = [
            {"name": f"lease {number}"},
            {"duration": 30 * _DAY + number * HOUR},
            {"duration": 30 * _DAY - number * HOUR},
            {"reservations": [{"id": reservation, "amount": 1 + number % 2}]},
        ]
        leases.update({}, lease_id, changes[number % 4])
        site.pass_by(_INTERVAL)
        assert site.seconds(lease_id) >= counted
        counted = site.seconds(lease_id)
    assert counted == 23 * _INTERVAL


def test_what_is_not_known_never_counts(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(HOUR)
    counted = site.seconds(lease_id)
    site.meter.error = OSError("no answer")
    site.pass_by(1_800)
    assert site.seconds(lease_id) == counted
    assert site.metric("idle_metering_failures_total") == 3
    site.meter.error = None
    site.meter.says[lease_id] = Activity.UNKNOWN
    site.pass_by(1_800)
    del site.meter.says[lease_id]
    site.pass_by(_INTERVAL)
    assert site.seconds(lease_id) == counted
    site.pass_by(_INTERVAL)
    assert site.seconds(lease_id) == counted + _INTERVAL
    # After hours in which nothing was known, it begins anew.
    site.meter.error = OSError("no answer")
    site.pass_by(3 * HOUR)
    site.meter.error = None
    site.pass_by(_INTERVAL)
    assert site.seconds(lease_id) == 0


def test_a_lease_that_does_not_run_is_not_idle(make: Make) -> None:
    site = make()
    now = site.service.clock.now()
    document = lease_document("r", "reservation", 1, start=now + _DAY, end=now + 2 * _DAY)
    planned = site.service.leases.create({}, document)
    site.pass_by(6 * HOUR)
    assert site.meter.asked == []
    assert not site.service.site.idleness
    assert site.state(planned["lease_id"]) == "ready"


def test_a_lease_that_made_room_is_not_idle_while_it_is_suspended(make: Make) -> None:
    site = make()
    lease_id = site.lease("best-effort", 2)
    site.pass_by(HOUR)
    counted = site.seconds(lease_id)
    now = site.service.clock.now()
    document = lease_document("r", "reservation", 2, start=now + 60, end=now + 2 * HOUR, project_id="other")
    reservation = site.service.leases.create({}, document)["lease_id"]
    site.service.clock.jump(60)
    assert wait_until(lambda: site.state(reservation) == "active", 30)
    site.meter.says[reservation] = Activity.USED
    site.pass_by(HOUR)
    assert [each.lease_id for each in site.meter.asked] == [reservation]
    assert site.seconds(lease_id) == counted
    assert site.view(lease_id)["idle_since"] is None
    site.service.leases.end({}, reservation)
    assert wait_until(lambda: site.state(lease_id) == "active", 30)
    site.pass_by(_INTERVAL)
    assert site.seconds(lease_id) == counted
    site.pass_by(_INTERVAL)
    assert site.seconds(lease_id) == counted + _INTERVAL


def test_a_lease_that_ends_or_is_suspended_during_a_measurement_is_left_alone(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(6 * HOUR)
    site.meter.meanwhile = lambda: site.service.leases.end({}, lease_id)
    site.pass_by(_INTERVAL)
    assert wait_until(lambda: site.state(lease_id) == "done", 30)
    assert "ended as idle" not in str(site.history(lease_id))


def test_a_lease_that_makes_room_when_its_project_would_be_told_counts_as_untold(make: Make) -> None:
    site = make()
    lease_id = site.lease("best-effort", 2)
    site.pass_by(4 * HOUR)
    now = site.service.clock.now()
    document = lease_document("r", "reservation", 2, start=now + HOUR, end=now + 2 * HOUR, project_id="other")
    site.service.leases.create({}, document)
    site.meter.meanwhile = lambda: site.service.clock.jump(HOUR)
    site.steady += _INTERVAL
    site.watch.measure()
    assert site.told() == []
    assert site.service.site.idleness[lease_id].told_at is None


def test_a_lease_that_just_started_is_not_idle(make: Make) -> None:
    site = make(replace(_RULES, settling_time=HOUR))
    lease_id = site.lease()
    site.pass_by(HOUR)
    assert lease_id not in site.service.site.idleness
    site.pass_by(2 * _INTERVAL)
    assert site.seconds(lease_id) == _INTERVAL


def test_maintenance_and_exempt_projects_are_not_measured(make: Make) -> None:
    site = make(replace(_RULES, exempt=frozenset({"free"})))
    site.lease(project_id="free")
    maintenance = site.lease()
    site.pass_by(_INTERVAL)
    assert [each.lease_id for each in site.meter.asked] == [maintenance]
    with site.service.site.transaction():
        work = site.service.site.work
        work.put_document(replace(work.documents[maintenance], maintenance=True))
    site.pass_by(6 * HOUR)
    assert site.meter.asked == []
    assert site.told() == []


def test_a_project_that_becomes_exempt_is_forgotten(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(HOUR)
    assert lease_id in site.service.site.idleness
    site.service.site.options = replace(site.service.site.options, idle=replace(_RULES, exempt=frozenset({"project"})))
    site.pass_by(_INTERVAL)
    assert not site.service.site.idleness
    assert site.view(lease_id)["idle_since"] is None


@pytest.mark.parametrize("jump", [365 * _DAY, -365 * _DAY, HOUR, -HOUR])
def test_a_clock_that_jumps_ends_nothing(make: Make, jump: int) -> None:
    site = make()
    lease_id = site.lease(duration=10_000 * _DAY)
    site.pass_by(5 * HOUR)
    assert len(site.told()) == 1
    site.pass_by(_INTERVAL, jump)
    site.pass_by(_INTERVAL)
    assert site.state(lease_id) == "active"
    assert site.seconds(lease_id) <= 5 * HOUR + _INTERVAL


def test_an_engine_that_takes_over_between_telling_and_ending_tells_nobody_again(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(4 * HOUR + _INTERVAL)
    known = site.service.site.idleness[lease_id]
    site.restart()
    assert site.service.site.idleness[lease_id] == known
    site.pass_by(2 * HOUR)
    assert site.state(lease_id) == "active", "the time between the engines is not known"
    site.pass_by(_INTERVAL)
    assert wait_until(lambda: site.state(lease_id) == "done", 30)
    assert len(site.told()) == 1


def test_an_engine_that_was_deposed_tells_and_ends_nothing(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(4 * HOUR)
    deposed, engine = site.watch, site.service.engine
    site.service.lead()
    site.steady += _INTERVAL
    site.service.clock.jump(_INTERVAL)
    with pytest.raises(EngineUnavailableError):
        deposed.measure()
    assert site.told() == []
    site.watch_anew()
    site.pass_by(2 * _INTERVAL)
    assert len(site.told()) == 1
    assert site.state(lease_id) == "active"
    engine.close()


def test_telling_is_written_with_what_is_told_or_not_at_all(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(4 * HOUR)
    monkeypatch.setattr(site.service.site.store, "commit", _fail)
    with pytest.raises(EngineUnavailableError):
        site.pass_by(_INTERVAL)
    monkeypatch.undo()
    site.restart()
    assert site.told() == []
    assert site.service.site.idleness[lease_id].told_at is None
    site.pass_by(2 * _INTERVAL)
    assert len(site.told()) == 1


def _fail(changes: object) -> int:
    raise OSError("the database is away")


def test_subscriptions_are_told(make: Make) -> None:
    site = make(subscriptions=SubscriptionOptions(drivers=("webhook",)))
    with site.service.site.transaction():
        record = SubscriptionRecord("one", "project", "user", "webhook", "https://a/", 1, (IDLE,), secret="x")
        site.service.site.subscriptions.put(record, site.service.site.work.changes)
    site.lease()
    site.pass_by(4 * HOUR + _INTERVAL)
    (shown,) = site.service.reader.subscriptions("project")
    assert shown["waiting"] == 1


def test_without_a_meter_what_was_known_is_forgotten(make: Make) -> None:
    site = make()
    lease_id = site.lease()
    site.pass_by(HOUR)
    assert site.view(lease_id)["idle_since"] is not None
    site.service._meter = None
    site.restart()
    assert site.view(lease_id)["idle_since"] is None


def test_the_thread_measures_the_cpu_time_of_the_cloud(tmp_path: Path) -> None:
    rules = IdleOptions(interval=1, notify_after=2, end_after=1, settling_time=0)
    service = Service(tmp_path, "free", {}, idle=rules)
    service._meter = CpuMeter(MeterOptions({"cpu_threshold": 2.0, "request_interval": 0.0}, service.cloud.usage))
    service.restart()
    used, idle = (
        str(service.leases.create({}, lease_document(name, "immediate", 1, duration=_DAY))["lease_id"])
        for name in ("used", "idle")
    )
    service.cloud.usage.idle.add(idle)

    def state(lease_id: str) -> str:
        return str((service.reader.lease(lease_id) or {})["state"])

    assert wait_until(lambda: state(idle) == "done", 30)
    assert state(used) == "active"
    assert [each["reason"] for each in service.reader.history(idle)][-2].startswith("ended as idle")
    service.close()
