"""Reactions to what a driver observes in its cloud."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.cloud.observations import AggregateChange, ServerChange, Stranger
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine

LOG = logging.getLogger(__name__)

#: Event type: a server is on a host that a lease has for itself, and does not belong to the lease.
STRANGER = "lease.event.stranger"

#: Event type: a server is deleted without the image that should have been made of it.
IMAGE_MISSING = "lease.event.image_missing"


class SiteObserver:
    """Reacts to observations for a site (see ``cloud.observations.Observer``).

    :param engine: notified of what was seen
    :param pool: updates the hosts of the pool
    """

    def __init__(self, engine: SiteEngine, pool: PoolKeeper) -> None:
        self._engine = engine
        self._site = engine.plan
        self._pool = pool

    def on_server(self, change: ServerChange) -> None:
        """Check at once the orders that may have waited for this."""
        self._engine.executor.ask_again(change.lease_id, None if change.arrives else change.host)

    def on_hosts(self, names: frozenset[str]) -> None:
        """Update the plan with the sizes and traits of these hosts."""
        self._unless_stopping(lambda: self._pool.refresh(names))

    def on_aggregate(self, change: AggregateChange) -> None:
        """Restore the aggregate of a lease. If the aggregate of the pool has changed, look for new hosts instead."""
        if change.lease_id is None:
            reconciler = self._engine.reconciler
            if reconciler.discover is not None:
                self._unless_stopping(reconciler.discover)
            reconciler.follow_pool()
            return
        lease_id = change.lease_id
        self._unless_stopping(
            lambda: self._engine.reports.restore_hosts(lease_id, change.hosts if change.exists else None)
        )

    def on_image_missing(self, lease_id: str, server_id: str, reason: str) -> None:
        """Notify the project of the lease and the operator."""
        self._unless_stopping(lambda: self._tell_of_missing_image(lease_id, server_id, reason))

    def _tell_of_missing_image(self, lease_id: str, server_id: str, reason: str) -> None:
        site = self._site
        with site.transaction():
            document, lease = site.work.document_of(lease_id), site.work.leases.get(lease_id)
            payload = {"lease_id": lease_id, "server_id": server_id, "reason": reason, "instant": site.work.now}
            if document is not None:
                payload |= {"project_id": document.project_id, "user_id": document.user_id, "name": document.name}
            site.work.notify(Message(IMAGE_MISSING, payload))
            if lease is not None:
                site.work.note(lease, f"server {server_id} is deleted without an image: {reason}")

    def on_stranger(self, stranger: Stranger) -> None:
        """Notify the project of the lease and the operator. The server stays, as it belongs to somebody else.

        A comparison of leases and cloud follows at once. It finds out why the server is there, and marks the leases
        that lack the resources that it uses.
        """
        self._unless_stopping(lambda: self._tell(stranger))
        self._engine.reconciler.wake()

    def _tell(self, stranger: Stranger) -> None:
        with self._site.transaction():
            self._site.work.notify(
                Message(
                    STRANGER,
                    {
                        "lease_id": stranger.lease_id,
                        "server_id": stranger.server_id,
                        "host": stranger.host,
                        "project_id": stranger.project_id,
                        "instant": self._site.work.now,
                    },
                )
            )

    @staticmethod
    def _unless_stopping(call: Callable[[], object]) -> None:
        try:
            call()
        except EngineUnavailableError:
            LOG.info("the engine is stopping; the next one to lead will notice this itself")
