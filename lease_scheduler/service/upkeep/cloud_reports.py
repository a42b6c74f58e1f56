"""Reports from the cloud: ends of orders, and events that nobody here caused."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.facts import DriverEvent
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.engine.interfaces import UNAWAITED, CloudEvent, EventKind, OperationKind
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.records.intents import Intent
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.upkeep.aggregates import aggregates_made
from lease_scheduler.service.upkeep.occupied_alarm import OccupiedAlarm
from lease_scheduler.service.upkeep.reconcile import compute_hosts

LOG = logging.getLogger(__name__)


class CloudReports:
    """Channel that passes reports from the cloud to the engine of a site.

    :param wake: makes the engine take the reports
    :param is_busy: returns whether a lease has an order under way
    """

    def __init__(self, site: SiteTransactions, wake: Callable[[], None], is_busy: Callable[[str], bool]) -> None:
        self._site = site
        self._wake = wake
        self._is_busy = is_busy
        self._occupied_alarm = OccupiedAlarm(site.transaction, site.work.notify, site.work.leases.__contains__)

    def over(self, order: AnyOrder, error: StepFailedError | None) -> None:
        """Report that an order has ended. Called by the executor from one of its workers.

        :param error: why the order failed, or None if it succeeded
        """
        operation, is_partial = (None, False) if isinstance(order, Removal) else (order.operation, bool(order.without))
        intent = Intent(order.intent_id, order.lease_id, operation)
        now = self._site.clock.now()
        event: CloudEvent | None = None
        if operation is None or operation.kind in UNAWAITED:
            # The engine does not wait for these orders.
            if isinstance(error, HostsOccupiedError):
                event = self._refused(order, error, now)
            elif error is not None:
                LOG.error("lease %s: an order that the engine does not wait for has failed: %s", order.lease_id, error)
            elif operation is not None and operation.kind is OperationKind.ADJUST and not is_partial:
                event = CloudEvent(EventKind.ADJUSTED, now, order.lease_id)
        elif error is None:
            event = CloudEvent(EventKind.COMPLETED, now, order.lease_id)
        elif isinstance(error, HostsOccupiedError):
            event = self._refused(order, error, now)
        else:
            LOG.warning("lease %s: %s has failed: %s", order.lease_id, operation.kind.value, error)
            host = None if error.host is None else self._site.engine.site.index.get(error.host)
            event = CloudEvent(EventKind.FAILED, now, order.lease_id, host, str(error), gives_up=error.gives_up)
        aggregates = {} if error is not None else aggregates_made(self._site.driver, order)
        if aggregates:
            self._site.work.intents.learn_aggregates(order.lease_id, aggregates)
        self._site.work.intents.report(intent, event)
        self._wake()
        if isinstance(error, HostsOccupiedError):
            self._occupied_alarm.raise_for(order.lease_id, error, now)
        elif error is None and operation is not None and not is_partial:
            self._occupied_alarm.forget(order.lease_id)

    def _refused(self, order: AnyOrder, error: HostsOccupiedError, now: int) -> CloudEvent:
        """Return the event that a lease does not get some of its hosts, because other servers are on them."""
        index = self._site.engine.site.index
        occupied = frozenset(index[host] for host in error.servers if host in index)
        return CloudEvent(EventKind.FAILED, now, order.lease_id, reason=str(error), occupied=occupied)

    def happened(self, event: DriverEvent) -> None:
        """Report an event that the driver noticed in the cloud."""
        host = None if event.host is None else self._site.engine.site.index.get(event.host)
        if event.host is None or host is not None:
            self.noticed(CloudEvent(event.kind, self._site.clock.now(), event.lease_id, host, event.reason))

    def noticed(self, event: CloudEvent) -> None:
        """Report an event that is not the end of an order."""
        self._site.work.intents.report(None, event)
        self._wake()

    def reached(self, host: str, kind: EventKind, reason: str) -> None:
        """Report that a host has fallen asleep or is awake."""
        number = self._site.engine.site.index.get(host)
        if number is not None:
            self.noticed(CloudEvent(kind, self._site.clock.now(), host=number, reason=reason))

    def restore_hosts(self, lease_id: str, hosts: frozenset[str] | None) -> None:
        """Have the cloud restore the hosts of a running lease, if its aggregate differs from the plan.

        :param hosts: names of the hosts in the aggregate, or None if it is gone. If the lease has several aggregates,
            each has only a part of the hosts, so a missing host is left to the next reconciliation
        """
        with self._site.transaction():
            lease = self._site.engine.lease(lease_id)
            if lease is None or lease.active_since is None or self._is_busy(lease_id):
                return
            planned = compute_hosts(lease, self._site.engine.site)
            is_part = len({node_set.resources.get(HOST_SHARE) for node_set in lease.request.nodes}) > 1
            if hosts is None or hosts - planned or (planned - hosts and not is_part):
                found = "none" if hosts is None else ", ".join(sorted(hosts))
                LOG.warning("lease %s is brought back to its hosts; it had %s", lease_id, found)
                self._site.adjust(lease)
