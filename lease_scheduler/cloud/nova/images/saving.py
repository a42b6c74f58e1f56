"""Choice of the servers of a lease to make images of, according to its actions before the end and at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.images.snapshots import AT_END, Snapshots, Wish
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.records.documents import LeaseDocument

_DELETE = "delete"


class Saving:
    """The images that leases want.

    :param clock: tells the time
    :param by_default: whether ``before_end = default`` asks for images
    """

    def __init__(self, clock: WaitingClock, snapshots: Snapshots, by_default: bool) -> None:
        self._clock = clock
        self._snapshots = snapshots
        self._by_default = by_default

    def is_wanted(self, order: AnyOrder) -> bool:
        """Return whether the lease is over and wants an image of any server."""
        document = order.document
        return (
            order.is_over
            and document is not None
            and (document.on_end != _DELETE or bool(document.saved_nodes(by_default=self._by_default)))
        )

    def begin(self, order: Order, servers: Iterable[Any]) -> bool:
        """Begin images before the end of a lease. Return whether all are begun."""
        document = order.document
        chosen = self._chosen(document, order.hosts, servers)
        return self._snapshots.begin(self._wish(document, each, str(document.before_end)) for each in chosen)

    def set_apart(self, order: AnyOrder, servers: Iterable[Any]) -> bool:
        """Stop the servers of which the lease wants images at its end, so that their hosts are free for other leases.

        :return: whether all servers that can be stopped are stopped
        """
        return self._snapshots.set_apart(order.lease_id, self._wishes(order, servers))

    def apart(self, lease_id: str) -> frozenset[str]:
        """Return the servers of a lease that are set apart."""
        return frozenset(self._snapshots.apart(lease_id))

    def finish(self, order: AnyOrder, servers: Iterable[Any]) -> bool:
        """Make the images of servers that are not set apart. Return whether these servers may be deleted."""
        apart = self.apart(order.lease_id)
        wishes = [each for each in self._wishes(order, servers) if each.server.id not in apart]
        return self._snapshots.finish(order.lease_id, wishes, self._late(order))

    def finish_apart(self, order: AnyOrder, servers: Iterable[Any]) -> bool:
        """Make the images of servers that are set apart. Return whether these servers may be deleted."""
        document, since = order.document, self._snapshots.apart(order.lease_id)
        if document is None or not since:
            return True
        wishes = [self._wish(document, each, AT_END, _earlier(document)) for each in servers]
        return self._snapshots.finish(order.lease_id, wishes, float(self._clock.now() - min(since.values())))

    def release(self, order: AnyOrder) -> None:
        """Remove the protection that kept images from being deleted with their servers."""
        if order.document is not None and self.is_wanted(order):
            self._snapshots.release(order.lease_id, order.document.project_id)

    def _late(self, order: AnyOrder) -> float | None:
        return None if isinstance(order, Removal) else float(self._clock.now() - order.operation.begun)

    def _wishes(self, order: AnyOrder, servers: Iterable[Any]) -> list[Wish]:
        """Return the images that a lease wants at its end."""
        document = order.document
        if document is None:
            return []
        hosts = () if isinstance(order, Removal) else order.hosts
        chosen = self._chosen(document, hosts, servers) if document.on_end == _DELETE else servers
        return [self._wish(document, each, AT_END, _earlier(document)) for each in chosen]

    def _chosen(self, document: LeaseDocument, hosts: tuple[str, ...], servers: Iterable[Any]) -> list[Any]:
        """Return the servers of which the lease wants an image before its end.

        These are the servers on hosts of reservations with this action. A shelved server counts, too: it is on no host
        now, and may have been on any of them.

        :param hosts: name of the host of each node; empty if they are not known
        """
        wanted = document.saved_nodes(by_default=self._by_default)
        if not hosts:
            return list(servers) if wanted else []
        places = {None, *(hosts[number] for number in wanted if number < len(hosts))}
        return [each for each in servers if of.host(each) in places] if wanted else []

    def _wish(self, document: LeaseDocument, server: Any, moment: str, others: tuple[str, ...] = ()) -> Wish:
        is_own = server.tenant_id == document.project_id
        return Wish(
            lease_id=document.lease_id,
            server=server,
            name=self._snapshots.name(server, before_end=document.on_end == _DELETE or moment != AT_END),
            moment=moment,
            other_moments=others,
            trust_id=document.trust_id if is_own else None,
        )


def _earlier(document: LeaseDocument) -> tuple[str, ...]:
    """Return the moments of images from before the end that suffice at the end."""
    is_made = document.on_end == _DELETE and document.before_end_done
    return (str(document.before_end),) if is_made else ()
