"""Report of how often the forecasts of a site came true."""

from __future__ import annotations

from dataclasses import asdict

from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions


class ForecastReport:
    """Operation that shows how often forecasts came true.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.list_forecasts)
    def list(self, context: Document) -> Document:
        """Return how often forecasts came true, by pool and name."""
        with self._site.inquiry(context):
            found = self._site.forecasts()
        return {
            "forecasts": [
                {"name": name, "pool": pool, **asdict(covered)}
                for pool, of_pool in found.items()
                for name, covered in sorted(of_pool.items())
            ]
        }
