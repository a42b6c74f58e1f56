"""Report of the yields that the fluid leases of a site would get with fewer hosts."""

from __future__ import annotations

from dataclasses import asdict

from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions


class FewerHostsReport:
    """Operation that shows the least yields of fluid leases with fewer hosts.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.list_least_yields)
    def list(self, context: Document, fewer: list[int]) -> Document:
        """Return the least yields, by pool and number of hosts."""
        with self._site.inquiry(context):
            asked = {pool: self._site.engine.with_fewer_hosts(pool, fewer) for pool in self._site.parts}
        # Outside of the transaction: to pack a large site takes long, and the engine works on meanwhile.
        return {
            "least_yields": [
                {"pool": pool, **asdict(found), "without": list(found.without)}
                for pool, answer in asked.items()
                for found in answer()
            ]
        }
