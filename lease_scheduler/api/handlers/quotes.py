"""Quotes: what a lease would come to."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.leases import trusted
from lease_scheduler.api.interfaces import Document, RefusedError
from lease_scheduler.api.microversions import V1_12
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.views.alternatives import show_alternatives
from lease_scheduler.api.views.lease_request import new_lease
from lease_scheduler.model.lease import LeaseKind

#: Kinds whose place is known at once and may lie ahead.
_MAY_BE_HELD = (LeaseKind.RESERVATION.value, LeaseKind.DEADLINE.value)


def create_quote(request: ApiRequest) -> Answer:
    """Plan a lease, tell about it, and forget it or hold it for the caller."""
    lease = new_lease(request.raw_body, request.problems, request.caller, request.now, request.extended)
    try:
        found = _held(request, lease) if request.raw_body.get("hold") else _asked(request, lease)
    except RefusedError as error:
        if error.code != 409:
            raise
        found = {"granted": False, "reason": error.message, "alternatives": list(error.alternatives)}
    return Answer({"quote": _shown(request, found)})


def _asked(request: ApiRequest, lease: Document) -> Document:
    return request.engine.quote_lease(request.context(), lease)


def _held(request: ApiRequest, lease: Document) -> Document:
    request.require("leases:post")
    if lease["kind"] not in _MAY_BE_HELD:
        kinds = " and ".join(_MAY_BE_HELD)
        raise ApiError(400, f"hold: only leases of kind {kinds} can be held, not {lease['kind']}", "hold")
    with trusted(request, lease):
        return request.engine.offer_lease(request.context(), lease)


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
    if request.version >= V1_12:
        shown |= {
            "price": found.get("price"),
            "lease_id": found.get("lease_id"),
            "expires_at": iso_date(found.get("expires_at")),
        }
    if request.may("leases:get_hosts"):
        shown["hosts"] = [str(host) for host in found.get("hosts", [])]
    return shown


def _is_visible(request: ApiRequest, lease_id: str) -> bool:
    view = request.reader.lease(lease_id)
    return view is not None and request.may("leases:get", view["project_id"])
