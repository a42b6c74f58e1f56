"""Names of projects and users. They are asked for apart from leases, which do not wait for the identity service."""

from __future__ import annotations

from lease_scheduler.api.handlers.leases import visible_actor
from lease_scheduler.api.request import Answer, ApiRequest


def of_lease(request: ApiRequest) -> Answer:
    """Show the names of a lease's project and of the users in the lease and its history, where they are known."""
    lease, known = request.named, request.services.names
    if known is None:
        return Answer({"names": {"project": None, "users": {}}})
    entries = [visible_actor(request, row) for row in request.reader.history(lease["id"])]
    users = {lease["user_id"], *(entry["user_id"] for entry in entries)} - {None}
    found = {user_id: name for user_id in sorted(users) if (name := known.user(user_id)) is not None}
    return Answer({"names": {"project": known.projects().get(lease["project_id"]), "users": found}})


def list_projects(request: ApiRequest) -> Answer:
    """List the projects that have leases on the site, with their names. Projects without a known name are left out."""
    known = request.services.names
    projects = {} if known is None else known.projects()
    found = [{"id": each, "name": projects[each]} for each in request.reader.lease_projects() if each in projects]
    return Answer({"projects": found})
