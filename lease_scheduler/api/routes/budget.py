"""Budgets."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import budget
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import budget as budget_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/budget",
        budget.show,
        "budget:get",
        200,
        "Show what a project may still use in the present period and in later ones",
        since=mv.V1_41,
        query=budget_schemas.QUERY,
        answer=budget_schemas.one,
        changes=True,
    ),
)
