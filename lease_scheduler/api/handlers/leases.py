"""Leases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError, not_found
from lease_scheduler.api.handlers.listing import find_leases
from lease_scheduler.api.interfaces import RefusedError
from lease_scheduler.api.microversions import V1_37, V1_47
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.lease import new_lease, request_digest
from lease_scheduler.api.requests.lease_changes import RequestedChanges, lease_changes, move_changes, span_changes
from lease_scheduler.api.requests.passing import check_passed_on, check_project, needs_trust
from lease_scheduler.api.requests.pools import pools_for
from lease_scheduler.api.requests.sites import wanted_site
from lease_scheduler.api.schemas.base import CHOSEN_UUID
from lease_scheduler.api.validation import WANTED
from lease_scheduler.api.views.lease import show_lease
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import ID_IS_TAKEN
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.records.json_text import to_json


def list_leases(request: ApiRequest) -> Answer:
    """List the leases that the caller may see, from microversion 1.1 on page by page."""
    entries, following = find_leases(request)

    def with_hosts(project_id: str) -> bool:
        return request.may("leases:get_hosts", project_id)

    texts = request.services.lease_texts
    leases = texts.listed(request.reader, entries, request.version, with_hosts, lambda view: shown(request, view))
    if following is None:
        return Answer(b'{"leases":' + leases + b"}")
    links = to_json([{"rel": "next", "href": f"{request.base_url}/v1/leases?{following}"}])
    return Answer(b'{"leases":' + leases + b',"leases_links":' + links + b"}")


def create_lease(request: ApiRequest) -> Answer:
    """Create a lease. If the client has chosen its id and sends the request again, return the lease that was made."""
    made = _made_before(request)
    if made is not None:
        return Answer({"lease": shown(request, made)})
    lease = new_lease(request.raw_body, request.problems, request.caller, request.now, request.version)
    check_passed_on(lease, request.caller, request.services.settings)
    check_project(request, lease)
    lease |= private_queries(request) | pools_of(request, lease)
    lease |= wanted_site(request.services.sites, request.raw_body)
    with trusted(request, lease):
        request.engine.create_lease(request.context(), lease)
    take_back_spare_trust(request, lease)
    return Answer({"lease": shown_again(request, lease["id"], deleted=lease["request_digest"] is not None)})


def _made_before(request: ApiRequest) -> Document | None:
    """Return the lease that the same request has made before, or None.

    :raises ApiError: 409, a different request has made a lease with the id that the client has chosen
    """
    body = request.raw_body
    if request.problems or "id" not in body:
        return None
    view = request.reader.lease(body["id"].lower(), deleted=True)
    if view is not None and view["request_digest"] != request_digest(body, request.caller, request.version):
        raise ApiError(409, ID_IS_TAKEN, "id", reason=RefusalReason.ID_TAKEN)
    return view


def take_back_spare_trust(request: ApiRequest, lease: Document) -> None:
    """Delete this request's trust if the same request, sent twice at once, has made the lease with another trust."""
    trusts = request.services.trusts
    if trusts is None or lease["trust_id"] is None or lease["request_digest"] is None:
        return
    view = request.reader.lease(lease["id"], deleted=True)
    if view is not None and view["trust_id"] != lease["trust_id"]:
        trusts.take_back(request.token, lease["trust_id"])


def private_queries(request: ApiRequest) -> Document:
    """Return the keys of a lease document that say whether its queries may ask for private properties of hosts."""
    return {"sees_private": True} if request.sees_site else {}


def pools_of(request: ApiRequest, lease: Document) -> Document:
    """Return the keys of a lease document that say in which pools it may be planned.

    :raises ApiError: the project may not use the pool that the lease names, or none at all
    """
    return pools_for(request.services.settings, request.caller, lease["pool"], lease["project_id"])


@contextmanager
def trusted(request: ApiRequest, lease: Document) -> Iterator[None]:
    """Give a lease the trust that it needs, and delete the trust if the lease is refused, or turns out not to exist."""
    trusts = request.services.trusts
    if needs_trust(lease) and trusts is not None:
        lease["trust_id"] = trusts.give(request.token)
    try:
        yield
    except RefusedError:
        if lease["trust_id"] is not None and trusts is not None:
            trusts.take_back(request.token, lease["trust_id"])
        raise
    except Exception:
        # The engine may still make the lease.
        if lease["trust_id"] is not None and trusts is not None:
            trusts.decide_later([lease["trust_id"]])
        raise


def show(request: ApiRequest) -> Answer:
    """Show one lease."""
    return Answer({"lease": shown(request, request.named)})


def update_lease(request: ApiRequest) -> Answer:
    """Change a lease."""
    changes = lease_changes(request.body, request.named, request.now, request.version)
    apply_changes(request, changes)
    return Answer({"lease": shown_again(request, request.named["id"])})


def delete_lease(request: ApiRequest) -> Answer:
    """Cancel a lease and remove it from lists."""
    request.engine.delete_lease(request.context(), request.named["id"], "deleted by its project")
    return Answer()


def show_history(request: ApiRequest) -> Answer:
    """Show what has happened to a lease, with reasons, and who asked for it."""
    rows = request.reader.history(request.named["id"])
    return Answer({"history": [_entry(request, row) for row in rows]})


def _entry(request: ApiRequest, row: Document) -> Document:
    """Return an entry of a history."""
    entry = {"time": dates.iso_date(row["instant"]), "from": row["from"], "to": row["to"], "reason": row["reason"]}
    if request.version < V1_37:
        return entry
    by = {"by_operator": row["project_id"] not in (None, request.named["project_id"]) and not _is_of_peer(request, row)}
    number = {"sequence": row["sequence"]} if request.version >= V1_47 else {}
    return entry | by | visible_actor(request, row) | number


def _is_of_peer(request: ApiRequest, row: Document) -> bool:
    """Return whether the peer that has requested a lease asked for an entry of its history."""
    return request.named["origin"] is not None and row["user_id"] == request.named["user_id"]


def visible_actor(request: ApiRequest, row: Document) -> Document:
    """Return the user and the project that asked for an entry of a history.

    Those of other projects are shown only to callers who see the whole site; other callers get None for both.
    """
    is_shown = row["project_id"] == request.named["project_id"] or request.sees_site
    return {key: row[key] if is_shown else None for key in ("user_id", "project_id")}


def list_hosts(request: ApiRequest) -> Answer:
    """List the hosts that each reservation of a lease has."""
    reservations = request.named["reservations"]
    names = request.reader.unit_names({unit for reservation in reservations for unit in reservation["hosts"]})
    return Answer(
        {
            "hosts": [
                {"hypervisor_hostname": name, "reservation_id": reservation["id"]}
                for reservation in reservations
                for name in sorted({names.get(unit, unit) for unit in reservation["hosts"]})
            ]
        }
    )


def act(request: ApiRequest) -> Answer:
    """Extend, shrink, move, end or cancel a lease; answer a warning or an offer; ask for other terms; approve or
    decline.
    """
    ((action, asked),) = request.body.items()
    view, context = request.named, request.context()
    lease_id: str = view["id"]
    if action == "cancel":
        request.engine.delete_lease(context, lease_id, asked.get("reason", "cancelled by its project"))
    elif action == "accept":
        _accept(request)
    elif action == "reject":
        request.engine.reject_lease(context, lease_id)
    elif action == "counter":
        _counter(request, asked)
    elif action == "end":
        request.engine.end_lease(context, lease_id)
    elif action in ("approve", "decline"):
        request.engine.decide_lease(context, lease_id, action == "approve", asked.get("reason", ""))
    elif action == "ready":
        request.engine.ready_lease(context, lease_id)
    elif action == "move" and "hosts_away" in asked:
        if len(asked) > 1:
            raise ApiError(400, "move: give hosts_away without other terms", "move")
        request.engine.move_lease(context, lease_id, asked["hosts_away"])
    elif action == "move":
        apply_changes(request, move_changes(asked, view, request.now, request.version))
    else:
        apply_changes(request, span_changes(action, asked, view, request.now, request.version))
    return Answer({"lease": shown_again(request, lease_id, deleted=True)})


def _accept(request: ApiRequest) -> None:
    """Accept a held lease, and give it the trust that it needs if it has none yet."""
    view = request.named
    lease: Document = {
        "servers": view["servers"],
        "reservations": [each["terms"] for each in view["reservations"]],
        "trust_id": None,
    }
    is_given = request.services.trusts is not None and view["trust_id"] is None and needs_trust(lease)
    if not is_given:
        request.engine.accept_lease(request.context(), view["id"])
        return
    if request.caller.project_id != view["project_id"]:
        problem = "servers are booted for the user who accepts the lease; use a token of the lease's project"
        raise ApiError(403, f"accept: {problem}", "accept")
    with trusted(request, lease):
        request.engine.accept_lease(request.context(), view["id"], lease["trust_id"])


def _counter(request: ApiRequest, asked: Document) -> None:
    """Ask for other terms for a held lease."""
    changes = lease_changes(asked, request.named, request.now, request.version)
    if changes.end_now or not changes.terms:
        raise ApiError(400, "counter: these are the terms that are offered; give others, or accept it", "counter")
    terms = changes.terms | private_queries(request)
    request.engine.counter_offer(request.context(), request.named["id"], terms)


def apply_changes(request: ApiRequest, changes: RequestedChanges) -> None:
    """Have the engine change the lease that the path names."""
    lease_id = request.named["id"]
    if changes.terms:
        terms = changes.terms
        if "reservations" in terms:
            terms = terms | private_queries(request)
        request.engine.update_lease(request.context(), lease_id, terms)
    if changes.end_now:
        request.engine.end_lease(request.context(), lease_id)


def withdraw(request: ApiRequest) -> Answer:
    """Give up a request for a lease whose id the client has chosen.

    :raises ApiError: 400, the id is none that a client can choose
    """
    lease_id = request.arguments["request_id"]
    if re.fullmatch(CHOSEN_UUID["pattern"], lease_id) is None:
        raise ApiError(400, f"request_id: must be {CHOSEN_UUID[WANTED]}", "request_id")
    request.engine.withdraw_request(request.context(), lease_id.lower())
    return Answer()


def shown(request: ApiRequest, view: Document) -> Document:
    """Return a lease as the caller may see it."""
    return show_lease(view, request.version, request.may("leases:get_hosts", view["project_id"]), request.now)


def shown_again(request: ApiRequest, lease_id: str, deleted: bool = False) -> Document:
    """Return a lease as it is after a change.

    :raises ApiError: 404, it has been deleted meanwhile
    """
    view = request.reader.lease(lease_id, deleted=deleted)
    if view is None:
        raise not_found(lease_id=lease_id)
    return shown(request, view)
