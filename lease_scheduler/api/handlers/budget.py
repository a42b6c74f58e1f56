"""Budgets: what a project may still use."""

from __future__ import annotations

from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.views.budget import show_budget


def show(request: ApiRequest) -> Answer:
    """Show what is left of the budgets of a project."""
    project_id: str = request.query.get("project_id", request.caller.project_id)
    if project_id != request.caller.project_id:
        request.require("budget:all_projects")
    found = request.engine.show_budget(request.context(), project_id)
    return Answer({"budget": {"project_id": project_id, "lines": show_budget(found["budget"])}})
