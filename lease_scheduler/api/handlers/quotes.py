"""Quotes: what a lease would come to."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.interfaces import Document, RefusedError
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.views.alternatives import show_alternatives
from lease_scheduler.api.views.lease_request import new_lease


def create_quote(request: ApiRequest) -> Answer:
    """Plan a lease, tell about it, and forget it."""
    lease = new_lease(request.raw_body, request.problems, request.caller, request.now, request.extended)
    try:
        found = request.engine.quote_lease(request.context(), lease)
    except RefusedError as error:
        if error.code != 409:
            raise
        found = {"granted": False, "reason": error.message, "alternatives": list(error.alternatives)}
    return Answer({"quote": _shown(request, found)})


def _shown(request: ApiRequest, found: Document) -> Document:
    preempted = list(found.get("preempts", []))
    shown: Document = {
        "granted": found["granted"],
        "reason": found.get("reason") or "",
        "start": iso_date(found.get("start")),
        "end": iso_date(found.get("end")),
        "preempts": [lease_id for lease_id in preempted if _is_visible(request, lease_id)],
        "preempted": len(preempted),
        "alternatives": show_alternatives(found.get("alternatives", [])),
        "queue_position": found.get("queue_position"),
    }
    if request.may("leases:get_hosts"):
        shown["hosts"] = [str(host) for host in found.get("hosts", [])]
    return shown


def _is_visible(request: ApiRequest, lease_id: str) -> bool:
    view = request.reader.lease(lease_id)
    return view is not None and request.may("leases:get", view["project_id"])
