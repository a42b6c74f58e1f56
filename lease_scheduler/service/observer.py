"""What is done about what a cloud driver sees by itself."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.cloud.observations import AggregateChange, ServerChange, Stranger
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.records.messages import Message
from lease_scheduler.service.pool import PoolKeeper
from lease_scheduler.service.site_engine import SiteEngine

LOG = logging.getLogger(__name__)

#: A server is on a host that a lease has for itself, and does not belong to it.
STRANGER = "lease.event.stranger"

#: A server is deleted of which an image was to be made.
IMAGE_MISSING = "lease.event.image_missing"


class SiteObserver:
    """See ``cloud.observations.Observer``.

    :param engine: is told what was seen
    :param pool: knows the hosts
    """

    def __init__(self, engine: SiteEngine, pool: PoolKeeper) -> None:
        self._engine = engine
        self._site = engine.plan
        self._pool = pool

    def on_server(self, change: ServerChange) -> None:
        """What waits for it is looked at again at once."""
        self._engine.executor.ask_again(change.lease_id, None if change.arrives else change.host)

    def on_hosts(self, names: frozenset[str]) -> None:
        """The plan follows their sizes and traits."""
        self._unless_stopping(lambda: self._pool.refresh(names))

    def on_aggregate(self, change: AggregateChange) -> None:
        """It is brought back to what the plan says."""
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
        """The lease's project and the operator are told."""
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
        """The lease's consumer and the operator are told; it is not ours to remove."""
        self._unless_stopping(lambda: self._tell(stranger))

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
            LOG.info("the engine is stopping; whoever leads next sees for himself")
