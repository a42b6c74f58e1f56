"""Operations about the engine itself: whether it works, and whether leases and cloud agree."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.reconcile import as_document


class Inspection:
    """Operations that operators request to inspect the engine.

    :param engine: the engine that is inspected
    """

    def __init__(self, engine: SiteEngine) -> None:
        self._engine = engine

    @answers(EngineRequests.ping)
    def ping(self, context: Document) -> Document:
        """Return what keeps the engine from working, or None for ``problem``."""
        return {"problem": self._engine.plan.problem()}

    @answers(EngineRequests.reconcile)
    def reconcile(self, context: Document, *, dry_run: bool = False) -> Document:
        """Compare leases and cloud, and repair the differences.

        :param dry_run: only report the differences
        """
        return as_document(self._engine.reconciler.reconcile(dry_run=dry_run))
