"""Reconciliation of leases and cloud when they differ."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import EventKind, Operation, OperationKind
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service, counted


def test_servers_that_are_gone_end_their_lease(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lost, kept = service.ask("best-effort", 1, 30 * HOUR), service.ask("best-effort", 1, 30 * HOUR)
    for lease_id in (lost, kept):
        assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    service.cloud.lose_servers(lost)
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 0, "gone": 1, "moved": 0}
    assert wait_until(service.is_in(lost, "done"), LIMIT)
    assert service.reader.history(lost)[-1]["to"] == "done"
    assert service.is_in(kept, "active")()
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 0, "gone": 0, "moved": 0}


def test_saved_memory_that_is_gone_has_its_lease_start_over(make_service: Callable[..., Service]) -> None:
    service = make_service()
    suspended = service.ask("best-effort", 2, 30 * HOUR)
    assert wait_until(service.is_in(suspended, "active"), LIMIT)
    reservation = service.ask("reservation", 2, 20 * HOUR)
    assert wait_until(service.is_in(reservation, "active"), LIMIT)
    assert wait_until(service.is_in(suspended, "suspended-queued", "suspended-scheduled"), LIMIT)
    service.cloud.lose_servers(suspended)
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 0, "gone": 1, "moved": 0}
    assert wait_until(service.is_in(suspended, "queued", "scheduled", "ready"), LIMIT)
    (entry,) = [entry for entry in service.reader.history(suspended) if "its saved state is gone" in entry["reason"]]
    assert entry["to"] == "queued"
    view = service.reader.lease(suspended)
    assert view is not None
    assert view["accumulated"] == 0


def test_what_belongs_to_no_lease_is_destroyed(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    stray = str(uuid4())
    boot = Operation(OperationKind.START, stray, (1,), 0, 0)
    request, document = service.site.work.leases[lease_id].request, service.site.work.documents[lease_id]
    order = Order(999_999, stray, boot, ("compute-2",), request, document)
    for step in service.cloud.steps(order):
        service.cloud.perform(order, step)
    assert {footprint.lease_id for footprint in service.cloud.footprints()} == {lease_id, stray}
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 1, "gone": 0, "moved": 0}
    assert wait_until(lambda: {footprint.lease_id for footprint in service.cloud.footprints()} == {lease_id}, LIMIT)


def test_a_lease_that_starts_while_the_cloud_is_looked_at_is_left_alone(make_service: Callable[..., Service]) -> None:
    """The cloud was read before the start, when there was nothing of the lease."""
    service = make_service()
    started: list[str] = []

    def start() -> None:
        service.cloud.while_looking = None
        started.append(service.ask("best-effort", 1, 30 * HOUR))
        assert wait_until(service.is_in(started[0], "active"), LIMIT)
        assert wait_until(lambda: not service.site.work.intents.open_intents(), LIMIT)

    service.cloud.while_looking = start
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 0, "gone": 0, "moved": 0}
    assert service.is_in(started[0], "active")()


def test_it_is_done_now_and_then_and_a_cloud_that_does_not_answer_stops_nobody(
    make_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = make_service(0.05)
    lease_id = service.ask("best-effort", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    asked: list[int] = []

    def fail() -> None:
        asked.append(1)
        raise OSError("nobody there")

    service.cloud.while_looking = fail
    assert wait_until(lambda: len(asked) >= 3, LIMIT)
    assert "could not be compared" in caplog.text
    service.cloud.while_looking = None
    service.cloud.lose_servers(lease_id)
    assert wait_until(service.is_in(lease_id, "done"), LIMIT)


def test_servers_that_vanish_are_told_by_the_driver(make_service: Callable[..., Service]) -> None:
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    service.cloud.tell(DriverEvent(EventKind.ENDED, lease_id, reason="deleted by its owner"))
    assert wait_until(service.is_in(lease_id, "done"), LIMIT)
