"""Metrics of an engine on its database: equal to what was done, and continued by the next engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from lease_scheduler.model.errors import RefusedError
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "constant", {"pricing_rate": "2"})
    yield made
    made.close()


def _value(service: Service, name: str, **labels: str) -> float | None:
    return service.metrics.registry.get_sample_value(f"lease_scheduler_{name}", labels)


def _becomes(service: Service, expected: float, name: str, **labels: str) -> Callable[[], bool]:
    return lambda: _value(service, name, **labels) == expected


def test_they_tell_what_was_done(service: Service) -> None:
    """haizea F82-F84 in the service."""
    done = service.leases.create({}, service.document(1, "best-effort", duration=600))["lease_id"]
    planned = service.leases.create({}, service.document(2))["lease_id"]
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(2, max_price=5.0))
    assert _value(service, "lease_refusals_total", kind="reservation", origin="") == 1
    assert _value(service, "revenue_total", outcome="rejected") == 5.0
    assert _value(service, "price_rate") == 2.0
    assert wait_until(service.is_in(done, "active"), 30)
    assert _value(service, "resource_capacity", resource_class="VCPU") == 16
    assert _value(service, "resource_in_use", resource_class="VCPU") == 8
    assert _value(service, "resource_free", resource_class="VCPU") == 8
    assert _value(service, "resource_utilization_ratio", resource_class="VCPU") == 0.5
    assert _value(service, "leases", kind="best-effort", state="active", origin="") == 1
    assert _value(service, "leases", kind="reservation", state="ready", origin="") == 1
    assert _value(service, "lease_wait_seconds_count", kind="best-effort") == 1
    assert _value(service, "lease_waits_total", kind="best-effort", result="acceptable", origin="") == 1
    service.clock.jump(600)
    service.engine.timer.wake()
    assert wait_until(service.is_in(done, "done"), 30)
    assert _value(service, "lease_transitions_total", kind="best-effort", state="done", origin="") == 1
    assert _value(service, "lease_bounded_slowdown_ratio_count", kind="best-effort") == 1
    used = _value(service, "node_seconds_total", kind="best-effort", phase="run")
    assert used is not None
    usage = service.reader.usage(None, 0, service.clock.now() + HOUR, service.clock.now())
    # On a busy machine its shutdown takes a second or more, and is recorded as well.
    (recorded,) = (each for each in usage if (each["kind"], each["phase"]) == ("best-effort", "run"))
    assert used == recorded["node_seconds"]
    assert 600 <= used < 700
    assert _value(service, "revenue_total", outcome="earned") == pytest.approx(2 / 6)
    assert service.view(planned)["state"] == "ready"
    assert (_value(service, "reconciliation_duration_seconds_count") or 0) >= 1
    transactions = _value(service, "transaction_duration_seconds_count") or 0
    assert (_value(service, "planning_duration_seconds_count") or 0) >= transactions > 0
    waiting = _value(service, "notifications_waiting")
    assert waiting == len(service.site.store.waiting_messages())


def test_they_go_on_when_another_one_takes_over(service: Service) -> None:
    service.leases.create({}, service.document(2))
    before = {
        name: _value(service, name)
        for name in ("notifications_waiting", "engine_takeovers_total", "transaction_duration_seconds_count")
    }
    ready = _value(service, "lease_transitions_total", kind="reservation", state="ready", origin="")
    service.restart()
    assert _value(service, "engine_takeovers_total") == (before["engine_takeovers_total"] or 0) + 1
    assert _value(service, "leases", kind="reservation", state="ready", origin="") == 1
    assert _value(service, "lease_transitions_total", kind="reservation", state="ready", origin="") == ready == 1
    assert (_value(service, "notifications_waiting") or 0) >= (before["notifications_waiting"] or 1)
    service.leases.create({}, service.document(1, "best-effort", duration=600))
    assert wait_until(_becomes(service, 1, "lease_wait_seconds_count", kind="best-effort"), 30)
    service.metrics.unbind()
    assert _value(service, "leases", kind="reservation", state="ready", origin="") is None
    assert _value(service, "lease_transitions_total", kind="reservation", state="ready", origin="") == 1


def test_who_asks_does_not_wait_for_an_engine_that_is_busy(service: Service) -> None:
    service.leases.create({}, service.document(2))
    assert _value(service, "leases", kind="reservation", state="ready", origin="") == 1
    text: list[str] = []
    with service.site.transaction():
        thread = Thread(target=lambda: text.append(generate_latest(service.metrics.registry).decode()))
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
    families = {family.name: family for family in text_string_to_metric_families(text[0])}
    assert families["lease_scheduler_leases"].samples[0].value == 1
