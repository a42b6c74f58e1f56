"""The sites behind a gateway. A service that is no gateway has none."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import not_found
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document


def list_sites(request: ApiRequest) -> Answer:
    """List the sites, in the configured order."""
    return Answer({"sites": _sites(request)})


def show(request: ApiRequest) -> Answer:
    """Show a site."""
    name = request.arguments["site"]
    found = next((site for site in _sites(request) if site["name"] == name), None)
    if found is None:
        raise not_found(site=name)
    return Answer({"site": found})


def _sites(request: ApiRequest) -> list[Document]:
    """Return the sites, with the number of live leases that the caller may see.

    What a site publishes to the gateway, as its peer, is for callers who see hosts.
    """
    sites = request.services.sites
    if sites is None:
        return []
    sees_all = request.sees_site
    counts = request.reader.leases_at_sites(None if sees_all else request.caller.project_id)
    hidden: Document = {} if sees_all else {"capacity": None, "load": None}
    return [
        {
            **{key: site[key] for key in ("name", "state", "verbs", "speed", "capacity", "load")},
            "last_answer_at": iso_date(site["last_answer"]),
            "unreachable_since": iso_date(site["unreachable_since"]),
            "leases": counts.get(site["name"], 0),
            **hidden,
        }
        for site in sites.shown()
    ]
