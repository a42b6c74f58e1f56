"""Lists of leases: filters, order and pages."""

from __future__ import annotations

from urllib.parse import urlencode

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_1, V1_42
from lease_scheduler.api.request import ApiRequest
from lease_scheduler.api.requests.sites import check_gateway
from lease_scheduler.model.documents import Document
from lease_scheduler.records.listing import LeaseEntry

#: Query parameters that are filters of the reader with the same name.
_FILTERS = ("name", "kind", "series_id", "number", "live", "deleted", "pool", "site")


def wanted_projects(request: ApiRequest, rule: str) -> str | None:
    """Return the project whose objects are wanted, or None for all projects.

    :param rule: access rule for the objects of all projects
    :raises ApiError: 403, the caller may see only those of their own project
    """
    own = request.caller.project_id
    if request.version < V1_1:
        return None if request.may(rule) else own
    project_id: str = request.query.get("project_id", own)
    if request.query.get("all_projects"):
        request.require(rule)
        return request.query.get("project_id")
    if project_id != own:
        request.require(rule)
    return project_id


def find_leases(request: ApiRequest) -> tuple[list[LeaseEntry], str | None]:
    """Return the leases of one page, and the query of the next page or None."""
    query = request.query
    if "site" in query:
        check_gateway(request.services.sites)
    filters: Document = {key: query[key] for key in _FILTERS if key in query}
    project_id = wanted_projects(request, "leases:all_projects")
    if project_id is not None:
        filters["project_id"] = project_id
    sort = [(query["sort_key"], query.get("sort_dir", "asc"))] if "sort_key" in query else []
    if "sort_dir" in query and not sort:
        raise ApiError(400, "sort_dir: give sort_key too", "sort_dir")
    if "state" in query:
        if request.version >= V1_42:
            filters["state_in_words"] = query["state"]
        else:
            filters["states"] = [query["state"]]
    if "status" in query:
        filters["statuses"] = [query["status"]]
    marker = query.get("marker")
    if marker is not None:
        found = request.reader.lease(marker, deleted=True)
        if found is None or not request.may("leases:get", found["project_id"]):
            raise ApiError(400, f"marker: there is no lease {marker}", "marker")
    if request.version < V1_1:
        return request.reader.lease_entries(filters, sort), None
    limit = min(query.get("limit", request.services.settings.maximum_page), request.services.settings.maximum_page)
    entries = request.reader.lease_entries(filters, sort, limit + 1, marker)
    if len(entries) <= limit:
        return entries, None
    again = {key: _text(value) for key, value in query.items()} | {
        "limit": limit,
        "marker": entries[limit - 1].lease_id,
    }
    return entries[:limit], urlencode(again)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
