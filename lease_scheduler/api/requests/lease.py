"""Leases: from the body of a request to the normalised lease document that the engine takes.

A lease document has the keys ``id``, ``kind``, ``start``, ``end``, ``duration``, ``deadline``, ``before_end``,
``reservations`` and ``servers``, and the attributes of leases that are not computed (see ``records.attributes``). Dates
are instants. The kind decides which times are not None:

* A lease of kind reservation has ``start`` and ``end``. It has ``duration`` only if that counts from the instant at
  which the engine takes the request.
* A deadline lease has ``duration`` and ``deadline``, and may have ``start``, its earliest start.
* The other kinds have at most ``duration``.

Each element of ``reservations`` has ``id``, ``resource_type`` and the keys of its type. If it was requested as a node
set, it also has ``nodes``, a list with that node set (``count``, ``resources``, ``least_resources``, ``traits``,
``properties``, ``exclusive``, ``per_host``). The node sets of a maintenance also have ``hosts``, the names of the
hosts.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from lease_scheduler.api import dates
from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import Version
from lease_scheduler.api.requests.reservation import new_reservation, node_reservation
from lease_scheduler.api.validation import Problem
from lease_scheduler.model.attributes import Attribute, Span
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.records.attributes import ATTRIBUTES


def new_lease(body: Any, problems: Iterable[Problem], caller: Caller, now: int, version: Version) -> Document:
    """Return the lease document of a request. The checks have the order that they have in Blazar.

    :param problems: problems that the schema finds in the body
    :param version: microversion of the request
    :raises ApiError: a key is invalid or missing; the error names it
    """
    problems = tuple(problems)
    for problem in problems:
        if "resource_type" in problem.missing or not problem.path.startswith("reservations["):
            raise problem.error()
    kind = LeaseKind(body.get("kind", LeaseKind.RESERVATION.value))
    times = _TIMES[kind](body, now, version)
    for problem in problems:
        raise problem.error()
    if body.get("reservations") and "nodes" in body:
        raise ApiError(400, "nodes: give reservations or nodes, not both", "nodes")
    preemptible = body.get("preemptible", kind.is_preemptible_by_default)
    document = {
        **{each.name: _plain_value(each, body) for each in ATTRIBUTES if each.given is not None},
        "id": body["id"].lower() if "id" in body else str(uuid.uuid4()),
        "request_digest": request_digest(body, caller, version) if "id" in body else None,
        "project_id": _named_project(body) or caller.project_id,
        "user_id": caller.user_id,
        "origin": caller.origin,
        "trust_id": None,
        "kind": kind.value,
        "maintenance": False,
        "start": None,
        "end": None,
        "duration": None,
        "deadline": None,
        **times,
        "before_end": None,
        "preemptible": preemptible,
        "preemption_mode": body.get("preemption_mode", _default_mode(preemptible)),
        "reservations": _reservations(body, version),
        "servers": body.get("servers", []),
        "series_id": None,
    }
    if kind is not LeaseKind.RESERVATION and not document["reservations"]:
        raise ApiError(400, f"nodes: a lease of kind {kind.value} needs at least one node set", "nodes")
    if body.get("before_end_date"):
        document["before_end"] = before_end(
            body["before_end_date"], None, document["start"], document["end"], now, version
        )
    return document


def _plain_value(attribute: Attribute, body: Document) -> Any:
    """Return the plain value of an attribute in a body, or its default."""
    if attribute.name not in body:
        return attribute.plain(attribute.default)
    value = body[attribute.name]
    return dates.parse_duration(value, attribute.name) if isinstance(attribute.kind, Span) else value


def request_digest(body: Document, caller: Caller, version: Version) -> str:
    """Return a digest that tells a request for a lease from all others, including those of other projects.

    Requests that mean the same have the same digest, however they write dates, durations and the id.

    :param body: a body that fits the schema
    """
    # Peers with users in the same project must not get the leases that others of them have requested for a third one.
    asker = [caller.project_id] if _named_project(body) is None else [caller.project_id, caller.origin]
    said = json.dumps([*asker, _normalized(body, version)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _named_project(body: Document) -> str | None:
    """Return the project of this site for which a peer requests a lease, or None if it is the peer's own."""
    project_id: str | None = body.get("on_behalf_of", {}).get("project_id")
    return project_id


_DATES = ("start_date", "end_date", "before_end_date", "deadline")


def _normalized(body: Document, version: Version) -> Document:
    """Return a body with instants for dates, seconds for durations, and the id in small letters."""
    spans = {"duration", *(each.name for each in ATTRIBUTES if isinstance(each.kind, Span))}
    found = dict(body)
    for key in body.keys() & {*_DATES, *spans}:
        value = body[key]
        if value is not None and value != dates.NOW:
            # An invalid value is refused later, when the lease is made.
            with suppress(ApiError):
                found[key] = (
                    dates.parse_duration(value, key) if key in spans else dates.parse_date(value, key, 0, version)
                )
    return {**found, "id": body["id"].lower()}


def before_end(text: str, old: int | None, start: int | None, end: int | None, now: int, version: Version) -> int:
    """Return the instant at which the project is notified that the lease is about to end.

    :param old: the instant at which the project would have been notified; None for a new lease
    :raises ApiError: 400, the text is not a date, or the lease has no fixed end; 403, the date is outside the lease
    """
    instant = dates.parse_changed_date(text, "before_end_date", old, now, version)
    if start is None or end is None:
        raise ApiError(400, "before_end_date: only leases with a fixed end have one; leave it out", "before_end_date")
    if not start < instant < end:
        raise ApiError(403, "Datetime is out of lease limits", "before_end_date")
    return instant


def _default_mode(preemptible: bool) -> str:
    mode = PreemptionMode.SHELVE if preemptible else PreemptionMode.NONE
    return str(mode.value)


def _reservations(body: Document, version: Version) -> list[Document]:
    if "nodes" in body:
        return [node_reservation(nodes, f"nodes[{number}]", version) for number, nodes in enumerate(body["nodes"])]
    return [
        new_reservation(asked, f"reservations[{number}]", version)
        for number, asked in enumerate(body.get("reservations", []))
    ]


def _reservation_times(body: Document, now: int, version: Version) -> Document:
    needed = ["start_date"] if "duration" in body else ["start_date", "end_date"]
    missing = [key for key in needed if key not in body]
    if missing:
        raise ApiError(400, f"Missing parameter {', '.join(missing)}", missing[0])
    _refuse(body, LeaseKind.RESERVATION, "deadline")
    start = _start(body, now, version)
    end = _end(body, start, now, version)
    if "duration" in body and body["start_date"] == dates.NOW:
        # Counting from the start of the minute would shorten the lease. The engine counts the duration from its own
        # clock, so that the time until the request reaches it does not shorten the lease either.
        duration = end - start
        return {"start": now, "end": now + duration, "duration": duration}
    return {"start": start, "end": end}


def _immediate_times(body: Document, now: int, version: Version) -> Document:
    _refuse(body, LeaseKind.IMMEDIATE, "deadline")
    if body.get("start_date", dates.NOW) != dates.NOW:
        raise ApiError(400, 'start_date: an immediate lease starts "now"; leave it out', "start_date")
    if "end_date" not in body and "duration" not in body:
        raise ApiError(400, "Missing parameter duration", "duration")
    return {"duration": _end(body, now, now, version) - now}


def _deadline_times(body: Document, now: int, version: Version) -> Document:
    _refuse(body, LeaseKind.DEADLINE, "end_date")
    missing = [key for key in ("duration", "deadline") if key not in body]
    if missing:
        raise ApiError(400, f"Missing parameter {', '.join(missing)}", missing[0])
    start = _start(body, now, version) if "start_date" in body else None
    duration = dates.parse_duration(body["duration"], "duration")
    deadline = dates.parse_date(body["deadline"], "deadline", now, version)
    earliest = max(now, start or 0) + duration
    if deadline < earliest:
        raise ApiError(400, f"deadline: must be {dates.iso_date(earliest)} or later", "deadline")
    return {"start": start, "duration": duration, "deadline": deadline}


def _best_effort_times(body: Document, now: int, version: Version) -> Document:
    _refuse(body, LeaseKind.BEST_EFFORT, "start_date", "end_date", "deadline")
    return {"duration": dates.parse_duration(body["duration"], "duration") if "duration" in body else None}


_TIMES = {
    LeaseKind.RESERVATION: _reservation_times,
    LeaseKind.IMMEDIATE: _immediate_times,
    LeaseKind.DEADLINE: _deadline_times,
    LeaseKind.BEST_EFFORT: _best_effort_times,
}


def _refuse(body: Document, kind: LeaseKind, *keys: str) -> None:
    for key in keys:
        if key in body:
            raise ApiError(400, f"{key}: a lease of kind {kind.value} has none; leave it out, or choose its kind", key)


def _start(body: Document, now: int, version: Version) -> int:
    start = dates.parse_date(body["start_date"], "start_date", now, version)
    if "end_date" in body:
        # An invalid end is reported before a start that is too early.
        dates.parse_date(body["end_date"], "end_date", now, version)
    if start < dates.minute_of(now):
        raise ApiError(400, "Start date must be later than current date", "start_date")
    return start


def _end(body: Document, start: int, now: int, version: Version) -> int:
    if "end_date" in body and "duration" in body:
        raise ApiError(400, "duration: give end_date or duration, not both", "duration")
    if "duration" in body:
        return start + dates.parse_duration(body["duration"], "duration")
    end = dates.parse_date(body["end_date"], "end_date", now, version)
    if end <= start:
        raise ApiError(400, "End date must be later than start date.", "end_date")
    return end
