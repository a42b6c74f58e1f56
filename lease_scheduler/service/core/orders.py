"""Orders to the cloud, made from intents."""

from __future__ import annotations

from collections import ChainMap

from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.model.host import Site
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.unit_of_work import UnitOfWork


def order_of(intent: Intent, work: UnitOfWork, site: Site, changes: StoreChanges) -> AnyOrder:
    """Return the order for an intent, which has everything that a driver needs to carry it out.

    :param changes: the changes that are written with the intent. A lease that has just ended is found only there
    """
    lease_id, operation = intent.lease_id, intent.operation
    if operation is None:
        document = changes.documents.get(lease_id) or work.document_of(lease_id)
        return Removal(intent.intent_id, lease_id, document, intent.step, is_over=lease_id not in work.leases)
    lease = ChainMap(work.leases, changes.leases)[lease_id]
    return Order(
        intent_id=intent.intent_id,
        lease_id=lease_id,
        operation=operation,
        hosts=tuple(site.hosts[number].name for number in operation.assignment),
        request=lease.request,
        document=ChainMap(work.documents, changes.documents)[lease_id],
        start=lease.holdings[0].run_start if lease.holdings else operation.due,
        step=intent.step,
        without=frozenset(site.hosts[number].name for number in operation.without),
    )
