"""Log lines about transitions and orders of leases, which operators look for first."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.records.writes import StoreChanges

LOG = logging.getLogger(__name__)

#: Maximum number of hosts that a line names.
_MOST_NAMED = 8


def log_written(changes: StoreChanges, orders: Iterable[AnyOrder]) -> None:
    """Log the transitions that were written, and the orders that follow.

    :param orders: what the cloud is told next, because of the changes
    """
    for entry in changes.transitions:
        reason = f": {entry.reason}" if entry.reason else ""
        LOG.info("lease %s was %s and is %s%s", entry.lease_id, entry.before, entry.after, reason)
    for order in orders:
        if isinstance(order, Removal):
            LOG.info("lease %s: everything that it has in the cloud is removed", order.lease_id)
        else:
            LOG.info("lease %s: %s on %s", order.lease_id, order.operation.kind.value, _named(order.hosts))


def _named(hosts: tuple[str, ...]) -> str:
    different = list(dict.fromkeys(hosts))
    more = f" and {len(different) - _MOST_NAMED} more" if len(different) > _MOST_NAMED else ""
    return ", ".join(different[:_MOST_NAMED]) + more
