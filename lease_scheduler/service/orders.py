"""Orders to the cloud, made from intents."""

from __future__ import annotations

from lease_scheduler.cloud.driver import Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.host import Site
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.unit_of_work import UnitOfWork


def order_of(intent: Intent, work: UnitOfWork, site: Site, changes: StoreChanges | None = None) -> Order:
    """Return an intent together with everything that a driver needs to carry it out.

    :param changes: the changes that are written with the intent. A lease that has just ended is found only there
    """
    lease_id, operation = intent.lease_id, intent.operation
    lease = work.leases.get(lease_id)
    is_over = lease is None
    document = work.document_of(lease_id)
    if lease is None and changes is not None:
        lease, document = changes.leases.get(lease_id), changes.documents.get(lease_id, document)
    if operation is None:
        return Order(intent.intent_id, lease_id, None, document=document, step=intent.step, is_over=is_over)
    assert lease is not None
    return Order(
        intent_id=intent.intent_id,
        lease_id=lease_id,
        operation=operation,
        hosts=tuple(site.hosts[number].name for number in operation.assignment),
        request=lease.request,
        document=document,
        start=lease.holdings[0].run_start if lease.holdings else operation.due,
        step=intent.step,
        is_over=operation.kind is OperationKind.STOP,
        without=frozenset(site.hosts[number].name for number in operation.without),
    )
