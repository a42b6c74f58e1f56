"""The ids of the host aggregates of leases. Only Blazar's clients see them; nothing else depends on them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.blazar import INSTANCE_TYPES

LOG = logging.getLogger(__name__)

#: Operations that make aggregates, for the first time or again.
_MAKING = frozenset({OperationKind.START, OperationKind.RESUME, OperationKind.ADJUST})


def aggregates_made(driver: Driver, order: AnyOrder) -> Mapping[str, int]:
    """Return the ids of the aggregates that an order has made, by reservation id."""
    if isinstance(order, Removal) or order.operation.kind not in _MAKING:
        return {}
    wanted = [each.reservation_id for each in order.document.reservations if each.resource_type in INSTANCE_TYPES]
    if not wanted:
        return {}
    try:
        return driver.aggregates.aggregate_ids(order.lease_id, wanted)
    except Exception:
        LOG.exception("lease %s: the ids of its aggregates could not be read", order.lease_id)
        return {}
