"""Series: leases that repeat."""

from __future__ import annotations

import uuid
from itertools import pairwise

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.leases import pools_of, private_queries
from lease_scheduler.api.interfaces import RefusedError
from lease_scheduler.api.microversions import V1_36
from lease_scheduler.api.recurrence import occurrences
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.lease import new_lease
from lease_scheduler.api.requests.passing import check_passed_on, needs_trust
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind


def list_series(request: ApiRequest) -> Answer:
    """List the series of the caller's project, or those of all projects for an administrator."""
    project_id = None if request.may("leases:all_projects") else request.caller.project_id
    return Answer({"series": [_shown(series, request) for series in request.reader.series(project_id)]})


def create_series(request: ApiRequest) -> Answer:
    """Create the leases of a series. Some of them may be refused."""
    body = request.body
    try:
        lease = new_lease(body["lease"], (), request.caller, request.now, request.version)
        check_passed_on(lease, request.caller, request.services.settings)
        if lease["project_id"] != request.caller.project_id:
            field = "on_behalf_of.project_id"
            raise ApiError(400, f"{field}: not for series; leave it out, or request the leases one by one", field)
        lease |= private_queries(request) | pools_of(request, lease)
    except ApiError as error:
        raise ApiError(error.code, error.message, f"lease.{error.field}" if error.field else "lease") from error
    if lease["kind"] != LeaseKind.RESERVATION.value:
        raise ApiError(400, "lease.kind: only leases of kind reservation can repeat", "lease.kind")
    settings = request.services.settings
    time_zone = body.get("time_zone")
    starts = occurrences(body["rule"], lease["start"], settings.maximum_occurrences, settings.series_days, time_zone)
    length = lease["end"] - lease["start"]
    if any(following - start < length for start, following in pairwise(starts)):
        raise ApiError(400, "rule: a lease would begin before the one before it has ended", "rule")
    shift = starts[0] - lease["start"]
    series_id = str(uuid.uuid4())
    lease |= {"start": starts[0], "end": starts[0] + length, "series_id": series_id}
    if lease["before_end"] is not None:
        lease["before_end"] += shift
    series = {
        "id": series_id,
        "name": body.get("name", lease["name"]),
        "project_id": request.caller.project_id,
        "user_id": request.caller.user_id,
        "rule": body["rule"],
        "time_zone": time_zone,
        "starts": starts,
        "lease": lease,
    }
    made = _made(request, series)
    kept = request.reader.serie(series_id) or {**series, "created_at": request.now}
    refused = [{"start": iso_date(each["start"]), "message": each["message"]} for each in made.get("refused", [])]
    return Answer({"series": {**_shown(kept, request), "leases": list(made["leases"]), "refused": refused}})


def _made(request: ApiRequest, series: Document) -> Document:
    """Have the leases created, with one trust each if they need any, since a trust ends with its lease."""
    trusts, starts = request.services.trusts, series["starts"]
    if trusts is None or not needs_trust(series["lease"]):
        return request.engine.create_series(request.context(), series)
    given: dict[int, str] = {}
    try:
        for start in starts:
            given[start] = trusts.give(request.token)
        made = request.engine.create_series(request.context(), {**series, "trusts": list(given.values())})
    except (ApiError, RefusedError):
        for trust_id in given.values():
            trusts.take_back(request.token, trust_id)
        raise
    except Exception:
        # The engine may still make the leases.
        trusts.decide_later(given.values())
        raise
    for each in made.get("refused", []):
        trusts.take_back(request.token, given[each["start"]])
    return made


def show(request: ApiRequest) -> Answer:
    """Show one series and the ids of its leases."""
    series = request.named
    leases = request.reader.leases({"series_id": series["id"]})
    return Answer({"series": {**_shown(series, request), "leases": [lease["id"] for lease in leases]}})


def delete_series(request: ApiRequest) -> Answer:
    """End a series, and delete its leases that have not started."""
    series_id: str = request.named["id"]
    request.engine.delete_series(request.context(), series_id)
    return Answer()


def _shown(series: Document, request: ApiRequest) -> Document:
    zone = {"time_zone": series.get("time_zone")} if request.version >= V1_36 else {}
    return {
        **zone,
        "id": series["id"],
        "name": series["name"],
        "project_id": series["project_id"],
        "user_id": series["user_id"],
        "rule": series["rule"],
        "created_at": iso_date(series.get("created_at")),
    }
