"""What is left of the budgets of projects."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.proposals import account_of


class BudgetReport:
    """Operation that shows what is left of budgets.

    :param site: the plan of the site
    :param enforcement: has the filter that knows the budgets
    """

    def __init__(self, site: SiteTransactions, enforcement: Enforcement) -> None:
        self._site = site
        self._enforcement = enforcement

    @answers(EngineRequests.show_budget)
    def show(self, context: Document, project_id: str) -> Document:
        """Return what is left of the budgets of a project.

        :raises EngineUnavailableError: the limits cannot be read at present
        """
        with self._site.inquiry(context):
            account = account_of(self._site, project_id)
        # Outside of a transaction: to add up usage takes long, and Keystone may be asked for limits.
        return {"budget": self._enforcement.statement(account, None)}
