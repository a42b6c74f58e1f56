"""What exists of a lease in the cloud before its start: its trust ends with the lease, and not earlier."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.service.requests.series import SeriesKeeper
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service

TRUST = "0123456789abcdef0123456789abcdef"


def _far_ahead(service: Service) -> dict[str, int]:
    """Return an interval that does not begin during a test: a minute of this clock takes one second."""
    start = service.site.clock.now() + 100 * HOUR
    return {"start": start, "end": start + HOUR}


class Removals(list[Removal]):
    """Records removals."""

    def __call__(self, order: AnyOrder, step: str) -> bool:
        """Record a removal; nothing has to wait."""
        if isinstance(order, Removal) and order not in self:
            self.append(order)
        return False


def test_a_lease_that_never_began(make_service: Callable[..., Service]) -> None:
    removals = Removals()
    service = make_service(before_step=removals)
    lease_id = service.ask("reservation", 1, HOUR, trust_id=TRUST, **_far_ahead(service))
    other = service.ask("reservation", 1, HOUR, **_far_ahead(service))
    for each in (lease_id, other):
        service.leases.delete({}, each, "")
    assert wait_until(lambda: bool(removals), LIMIT)
    assert len(removals) == 1, removals
    order = removals[0]
    assert (order.lease_id, order.is_over) == (lease_id, True)
    assert order.document is not None
    assert order.document.trust_id == TRUST


def test_an_engine_that_was_killed_meanwhile(make_service: Callable[..., Service]) -> None:
    """An engine that takes over knows what the lease had, although it is over."""
    first = make_service(before_step=lambda order, step: True)
    lease_id = first.ask("reservation", 1, HOUR, trust_id=TRUST, **_far_ahead(first))
    first.leases.delete({}, lease_id, "")
    first.engine.close()
    removals = Removals()
    second = make_service(before_step=removals)
    assert wait_until(lambda: bool(removals), LIMIT)
    assert len(removals) == 1, removals
    order = removals[0]
    assert (order.lease_id, order.is_over) == (lease_id, True)
    assert order.document is not None
    assert order.document.trust_id == TRUST
    # It is not a live lease.
    assert lease_id not in second.site.work.documents
    assert wait_until(lambda: second.site.work.document_of(lease_id) is None, LIMIT)


def test_a_boot_that_failed(make_service: Callable[..., Service]) -> None:
    """It is tried once more, in the user's name."""
    removals = Removals()
    failed: list[str] = []

    def fail_once(order: AnyOrder, step: str) -> bool:
        if isinstance(order, Order) and order.operation.kind is OperationKind.START and not failed:
            failed.append(step)
            raise StepFailedError("no valid host")
        return removals(order, step)

    service = make_service(before_step=fail_once)
    lease_id = service.ask("best-effort", 1, HOUR, trust_id=TRUST)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    assert [order.is_over for order in removals] == [False]
    service.leases.end({}, lease_id)
    assert wait_until(service.is_in(lease_id, "done"), LIMIT)
    assert [order.is_over for order in removals] == [False], "its end is an operation of its own"


def test_a_series(make_service: Callable[..., Service]) -> None:
    """The end of one lease takes nothing from the others."""
    removals = Removals()
    service = make_service(before_step=removals)
    now = service.site.clock.now()
    starts = [now + 10 * HOUR, now + 20 * HOUR]
    first = lease_document("weekly", "reservation", 1, start=starts[0], end=starts[0] + HOUR)
    said = {"id": str(uuid4()), "name": "weekly", "project_id": first["project_id"], "user_id": first["user_id"]}
    series = {**said, "rule": "FREQ=DAILY;COUNT=2", "starts": starts, "lease": first, "trusts": ["one", "two"]}
    made = SeriesKeeper(service.site, service.leases).create({}, series)["leases"]
    assert [service.site.work.documents[lease_id].trust_id for lease_id in made] == ["one", "two"]
    service.leases.delete({}, made[0], "")
    assert wait_until(lambda: bool(removals), LIMIT)
    assert [order.document.trust_id for order in removals if order.document is not None] == ["one"]
