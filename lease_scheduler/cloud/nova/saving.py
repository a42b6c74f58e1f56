"""Choice of the servers of a lease of which images are made, by its actions before the end and at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lease_scheduler.cloud.driver import Order, WaitingClock
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.snapshots import AT_END, Snapshots, Wish

_DELETE = "delete"


class Saving:
    """See the module.

    :param clock: tells the time
    :param by_default: whether ``before_end = default`` asks for images
    """

    def __init__(self, clock: WaitingClock, snapshots: Snapshots, by_default: bool) -> None:
        self._clock = clock
        self._snapshots = snapshots
        self._by_default = by_default

    def is_wanted(self, order: Order) -> bool:
        """Return whether a lease that is over wants an image of any server."""
        document = order.document
        return (
            order.is_over
            and document is not None
            and (document.on_end != _DELETE or bool(document.saved_nodes(by_default=self._by_default)))
        )

    def begin(self, order: Order, servers: Iterable[Any]) -> bool:
        """Begin images before the end of a lease. Return whether all are begun."""
        assert order.document is not None
        moment = str(order.document.before_end)
        return self._snapshots.begin(self._wish(order, each, moment) for each in self._chosen(order, servers))

    def finish(self, order: Order, servers: Iterable[Any]) -> bool:
        """Make the images that a lease wants at its end. Return whether its servers may be deleted."""
        assert order.document is not None
        earlier = (str(order.document.before_end),) if order.document.before_end_done else ()
        late = None if order.operation is None else float(self._clock.now() - order.operation.begun)
        if order.document.on_end == _DELETE:
            wishes = [self._wish(order, each, AT_END, earlier) for each in self._chosen(order, servers)]
        else:
            wishes = [self._wish(order, each, AT_END) for each in servers]
        return self._snapshots.finish(order.lease_id, wishes, late)

    def release(self, order: Order) -> None:
        """Remove the protection that kept images from being deleted with their servers."""
        if self.is_wanted(order):
            assert order.document is not None
            self._snapshots.release(order.lease_id, order.document.project_id)

    def _chosen(self, order: Order, servers: Iterable[Any]) -> list[Any]:
        """Return the servers of which the lease wants an image before its end.

        These are the servers on hosts of reservations with this action. A shelved server counts too: it is on no host,
        and may have been on any of them.
        """
        assert order.document is not None
        wanted = order.document.saved_nodes(by_default=self._by_default)
        if not order.hosts:
            return list(servers) if wanted else []
        hosts = {None, *(order.hosts[number] for number in wanted if number < len(order.hosts))}
        return [each for each in servers if of.host(each) in hosts] if wanted else []

    def _wish(self, order: Order, server: Any, moment: str, others: tuple[str, ...] = ()) -> Wish:
        document = order.document
        assert document is not None
        is_own = server.tenant_id == document.project_id
        return Wish(
            lease_id=order.lease_id,
            server=server,
            name=self._snapshots.name(server, before_end=document.on_end == _DELETE or moment != AT_END),
            moment=moment,
            other_moments=others,
            trust_id=document.trust_id if is_own else None,
        )
