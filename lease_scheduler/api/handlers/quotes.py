"""Quotes: what a lease would come to."""

from __future__ import annotations

from lease_scheduler.api import dates
from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.leases import (
    pools_of,
    private_queries,
    take_back_spare_trust,
    trusted,
)
from lease_scheduler.api.interfaces import RefusedError
from lease_scheduler.api.microversions import (
    V1_12,
    V1_15,
    V1_17,
    V1_23,
    V1_26,
    V1_30,
    V1_39,
    V1_41,
    V1_42,
    V1_43,
    V1_45,
    V1_49,
)
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.lease import new_lease
from lease_scheduler.api.requests.lease_changes import lease_changes, span_changes
from lease_scheduler.api.requests.passing import check_passed_on, check_project, needs_trust
from lease_scheduler.api.requests.sites import wanted_site
from lease_scheduler.api.views.alternatives import show_alternatives
from lease_scheduler.api.views.budget import show_budget
from lease_scheduler.api.views.promise import promise_in_words
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind

#: Kinds of leases that can be held at earlier microversions.
_WITH_START = tuple(kind.value for kind in LeaseKind if kind.has_start)


def create_quote(request: ApiRequest) -> Answer:
    """Show what a lease would come to. If asked to, hold the lease or counter-offers for the caller."""
    lease = new_lease(request.raw_body, request.problems, request.caller, request.now, request.version)
    check_passed_on(lease, request.caller, request.services.settings)
    check_project(request, lease)
    lease |= private_queries(request) | pools_of(request, lease)
    lease |= wanted_site(request.services.sites, request.raw_body)
    for key in ("counter_offers", "flexibility", "id", "expires_at"):
        if key in request.raw_body and not request.raw_body.get("hold"):
            raise ApiError(400, f"{key}: only for quotes that are held; add hold", key)
    try:
        found = _held(request, lease) if request.raw_body.get("hold") else _asked(request, lease)
    except RefusedError as error:
        if error.code != 409:
            raise
        found = {
            "granted": False,
            "reason": error.message,
            "reason_code": error.reason,
            "alternatives": list(error.alternatives),
        }
    return Answer({"quote": _shown(request, found)})


def _asked(request: ApiRequest, lease: Document) -> Document:
    return request.engine.quote_lease(request.context(), lease)


def _held(request: ApiRequest, lease: Document) -> Document:
    request.require("leases:post")
    if request.version < V1_45 and lease["kind"] not in _WITH_START:
        kinds = " and ".join(_WITH_START)
        raise ApiError(
            400, f"hold: only leases of kind {kinds} can be held before {V1_45}, not {lease['kind']}", "hold"
        )
    body = request.raw_body
    if "id" in body and body.get("counter_offers"):
        raise ApiError(400, "id: would have to be that of several leases; leave out counter_offers", "id")
    if "expires_at" in body:
        lease["expires_at"] = dates.parse_date(body["expires_at"], "expires_at", request.now, request.version)
    lease["counter_offers"] = body.get("counter_offers", 0)
    lease["flexibility"] = _flexibility(request, body.get("flexibility", {}))
    if needs_trust(lease) and lease["counter_offers"]:
        return _offered_with_trusts(request, lease)
    with trusted(request, lease):
        found = request.engine.offer_lease(request.context(), lease)
    take_back_spare_trust(request, lease)
    return found


def _offered_with_trusts(request: ApiRequest, lease: Document) -> Document:
    """Ask for offers with one trust each, since a trust ends with its lease, and delete the unused trusts."""
    trusts, given = request.services.trusts, list[str]()
    if trusts is None:
        return request.engine.offer_lease(request.context(), lease)
    try:
        for _ in range(1 + lease["counter_offers"]):
            given.append(trusts.give(request.token))
        lease["trust_id"], lease["counter_trusts"] = given[0], given[1:]
        found = request.engine.offer_lease(request.context(), lease)
    except (ApiError, RefusedError):
        for trust_id in given:
            trusts.take_back(request.token, trust_id)
        raise
    except Exception:
        # The engine may still make the offers.
        trusts.decide_later(given)
        raise
    others = len(found.get("counter_offers", []))
    spare = given[1:] if found["granted"] else [given[0], *given[1 + others :]]
    for trust_id in spare:
        trusts.take_back(request.token, trust_id)
    return found


def _flexibility(request: ApiRequest, asked: Document) -> Document:
    """Return how far counter-offers may be from the requested terms, in instants and seconds."""
    found: Document = {}
    if "latest_start" in asked:
        field = "flexibility.latest_start"
        found["latest_start"] = dates.parse_date(asked["latest_start"], field, request.now, request.version)
    if "fewest_nodes" in asked:
        found["fewest_nodes"] = asked["fewest_nodes"]
    if "shortest_duration" in asked:
        found["shortest_duration"] = dates.parse_duration(asked["shortest_duration"], "flexibility.shortest_duration")
    return found


def quote_change(request: ApiRequest) -> Answer:
    """Show what a change of a lease would come to, and change nothing."""
    ((action, asked),) = request.body.items()
    if action == "change":
        changes = lease_changes(asked, request.named, request.now, request.version)
    else:
        changes = span_changes(action, asked, request.named, request.now, request.version)
    if changes.end_now:
        raise ApiError(400, f"{action}: this ends the lease now, which needs no quote", action)
    found = request.engine.quote_change(
        request.context(), request.named["id"], changes.terms | private_queries(request)
    )
    quote = {
        "granted": found["granted"],
        "reason": found["reason"],
        "start": iso_date(found["start"]),
        "end": iso_date(found["end"]),
        "preempted": len(found["preempts"]),
        "alternatives": show_alternatives(found["alternatives"], request.version),
        "price": found["price"],
        "present_price": found["present_price"],
    }
    if request.version >= V1_17:
        quote["preempted_kinds"] = found.get("preempted_kinds", {})
    if request.version >= V1_23:
        quote["nodes"] = found.get("nodes", [])
    if request.version >= V1_39:
        quote |= _interruption(found)
    if request.version >= V1_41:
        quote["budget"] = show_budget(found.get("budget"))
    if request.version >= V1_43:
        quote["reason_code"] = found.get("reason_code")
    return Answer({"quote": quote})


def _shown(request: ApiRequest, found: Document) -> Document:
    preempted = list(found.get("preempts", []))
    shown: Document = {
        "granted": found["granted"],
        "reason": found.get("reason") or "",
        "start": iso_date(found.get("start")),
        "end": iso_date(found.get("end")),
        "preempts": [lease_id for lease_id in preempted if _is_visible(request, lease_id)],
        # A gateway knows how many they are, but not which.
        "preempted": found.get("preempted", len(preempted)),
        "alternatives": show_alternatives(found.get("alternatives", []), request.version),
        "queue_position": found.get("queue_position"),
    }
    if request.version >= V1_12:
        shown |= {
            "price": found.get("price"),
            "lease_id": found.get("lease_id"),
            "expires_at": iso_date(found.get("expires_at")),
        }
    if request.version >= V1_15:
        shown |= {
            "negotiation_id": found.get("negotiation_id"),
            "counter_offers": [_counter_offer(each) for each in found.get("counter_offers", [])],
        }
    if request.version >= V1_17:
        shown["preempted_kinds"] = found.get("preempted_kinds", {})
    if request.version >= V1_23:
        shown["nodes"] = found.get("nodes", [])
    if request.version >= V1_26:
        shown["pool"] = found.get("pool")
    if request.version >= V1_30:
        shown["promise"] = promise_in_words(found["promise"]) if found.get("promise") else None
    if request.version >= V1_39:
        shown |= _interruption(found)
    if request.version >= V1_41:
        shown["budget"] = show_budget(found.get("budget"))
    if request.version >= V1_42:
        shown["approval"] = found.get("approval")
    if request.version >= V1_43:
        shown["reason_code"] = found.get("reason_code")
    if request.version >= V1_49:
        shown |= {"site": found.get("site"), "unanswered": found.get("unanswered", [])}
    if request.sees_site and request.may("leases:get_hosts"):
        shown["hosts"] = [str(host) for host in found.get("hosts", [])]
    return shown


def _interruption(found: Document) -> Document:
    """Return when a lease would be preempted, and by when it would end."""
    return {key: iso_date(found.get(key)) for key in ("preempted_at", "latest_end")}


def _counter_offer(offer: Document) -> Document:
    return {
        **{key: offer[key] for key in ("lease_id", "change", "count", "duration", "price")},
        "start": iso_date(offer["start"]),
        "end": iso_date(offer["end"]),
        "expires_at": iso_date(offer["expires_at"]),
    }


def _is_visible(request: ApiRequest, lease_id: str) -> bool:
    view = request.reader.lease(lease_id)
    return view is not None and request.may("leases:get", view["project_id"])
