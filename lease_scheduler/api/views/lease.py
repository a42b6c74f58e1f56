"""Leases as clients see them.

A lease view, which the reader returns, has all attributes of leases (see ``records.attributes``), ``id``, ``kind``,
``state``, ``reason``, ``start``, ``end`` (planned, granted or past; the earliest one if the lease is preempted before),
``latest_end``, ``preempted_at``, ``requested_start``, ``duration``, ``deadline``,
``before_end``, ``submitted``, ``started``, ``ended``, ``accumulated``, ``created_at``, ``updated_at``, ``version``,
``revision``, ``servers``, ``offered_until``, ``approval``, ``negotiation_id``, ``penalties``, ``breaches``
(``kind``, ``instant``, ``seconds``, ``node_seconds``, ``penalty``), ``operation``, ``reservations``, ``events``,
``holdings``, ``idle_since`` (since when its servers use nothing, or None), ``number`` (its place in the order of all
requests, starting at 1) and ``progress`` (a ``model.progress.Progress``, or None).
All dates are instants.
"""

from __future__ import annotations

from typing import Any

from lease_scheduler.api.dates import iso_date, lease_date, row_date
from lease_scheduler.api.microversions import (
    V1_2,
    V1_3,
    V1_8,
    V1_12,
    V1_15,
    V1_16,
    V1_21,
    V1_23,
    V1_24,
    V1_30,
    V1_33,
    V1_34,
    V1_38,
    V1_39,
    V1_42,
    Version,
    known_keys,
    reaches,
)
from lease_scheduler.api.views.expectation import expectation_in_words
from lease_scheduler.api.views.promise import promise_in_words
from lease_scheduler.model.approval import state_in_words
from lease_scheduler.model.attributes import Attribute, Keyed
from lease_scheduler.model.blazar import lease_status, reservation_terms
from lease_scheduler.model.documents import Document
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.progress import FULL, Progress, stretch
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.attributes import ATTRIBUTES


def show_lease(view: Document, version: Version, with_hosts: bool, now: int) -> Document:
    """Return a lease for an answer.

    :param with_hosts: whether the client may know the hosts of the lease
    """
    shown: Document = {
        "id": view["id"],
        **{each.name: _attribute(each, view, version) for each in ATTRIBUTES if reaches(version, each.shown)},
        "start_date": lease_date(_start(view)),
        "end_date": lease_date(_end(view)),
        "status": lease_status(view["state"], view["operation"]),
        "created_at": row_date(view["created_at"]),
        "updated_at": row_date(view["updated_at"]),
        "reservations": [_reservation(each, view["id"], version, with_hosts) for each in view["reservations"]],
        "events": [_event(each, view["id"]) for each in view["events"]],
    }
    if version >= V1_2:
        shown |= _since_kinds(view, with_hosts)
    if version >= V1_3:
        shown["servers"] = view["servers"]
    if version >= V1_12:
        shown["expires_at"] = iso_date(view["offered_until"])
    if version >= V1_15:
        breaches = [_breach(each) for each in view["breaches"]]
        negotiation_id = view["negotiation_id"]
        shown |= {"breaches": breaches, "penalties": view["penalties"], "negotiation_id": negotiation_id}
    if version >= V1_16:
        shown["number"] = view["number"]
    if version >= V1_21:
        shown["idle_since"] = iso_date(view["idle_since"])
    if version >= V1_30:
        shown["promise"] = promise_in_words({**view, "begin": view["started"] or view["start"]})
    if version >= V1_33:
        shown["expectation"] = expectation_in_words(view)
    if version >= V1_34:
        shown |= _progress(view, now)
    if version >= V1_39:
        is_open = is_endless(view)
        shown["preempted_at"] = iso_date(view["preempted_at"])
        shown["latest_end"] = None if is_open else iso_date(view["latest_end"])
    if version >= V1_42:
        shown |= {"approval": view["approval"], "state": state_in_words(view["state"], view["approval"])}
    return shown


def _attribute(attribute: Attribute, view: Document, version: Version) -> Any:
    """Return the value of an attribute, without keys that came after the microversion."""
    value = view[attribute.name]
    if not isinstance(attribute.kind, Keyed) or value is None:
        return value
    return {key: value[key] for key in known_keys(attribute.kind, version) if key in value}


def _progress(view: Document, now: int) -> Document:
    """Return how a fluid lease shares CPU now, and its virtual time. All values are None for other leases, and before
    it runs.
    """
    progress: Progress | None = view["progress"]
    if progress is None:
        return {"yield": None, "virtual_time": None, "stretch": None}
    until = now if view["ended"] is None else view["ended"]
    virtual = progress.virtual_at(until)
    so_far = stretch(view["submitted"], until, virtual)
    return {
        "yield": progress.part,
        "virtual_time": virtual / FULL,
        "stretch": None if so_far is None else round(so_far, 3),
    }


def _breach(breach: Document) -> Document:
    return {
        "kind": breach["kind"],
        "time": iso_date(breach["instant"]),
        "seconds": breach["seconds"],
        "node_hours": round(breach["node_seconds"] / 3_600, 4),
        "penalty": breach["penalty"],
    }


def _start(view: Document) -> int:
    """Return a start for clients that know only reservations: the best known one, even if none is planned."""
    for key in ("start", "requested_start", "started", "submitted"):
        if view[key] is not None:
            return int(view[key])
    return int(view["created_at"])


def _end(view: Document) -> int:
    for key in ("end", "ended", "deadline"):
        if view[key] is not None:
            return int(view[key])
    return _start(view) + int(view["duration"] or UNLIMITED)


def is_endless(view: Document) -> bool:
    """Return whether a lease runs until somebody ends it. Its planned end is internal."""
    return view["duration"] == UNLIMITED and LeaseState(view["state"]) not in FINAL_STATES


def _since_kinds(view: Document, with_hosts: bool) -> Document:
    endless = is_endless(view)
    return {
        "start_date": lease_date(view["start"]),
        "end_date": None if endless else lease_date(view["end"]),
        "kind": view["kind"],
        "state": view["state"],
        "reason": view["reason"],
        "duration": None if view["duration"] == UNLIMITED else view["duration"],
        "deadline": iso_date(view["deadline"]),
        "earliest_start": iso_date(view["requested_start"]),
        "submitted_at": iso_date(view["submitted"]),
        "started_at": iso_date(view["started"]),
        "ended_at": iso_date(view["ended"]),
        "accumulated": view["accumulated"],
        "version": view["version"],
        "holdings": [_holding(holding, with_hosts, endless) for holding in view["holdings"]],
    }


def _holding(holding: Document, with_hosts: bool, endless: bool) -> Document:
    """Return a holding for an answer. If the lease is endless, so is a holding, unless it ends with a suspension."""
    shown: Document = {key: iso_date(holding[key]) for key in ("start", "run_start", "run_end", "end")}
    if endless and holding["closing"] != "suspend":
        shown |= {"run_end": None, "end": None}
    shown["closing"] = holding["closing"]
    if with_hosts:
        shown["hosts"] = [str(host) for host in holding["hosts"]]
    return shown


def _event(event: Document, lease_id: str) -> Document:
    return {
        "id": event["id"],
        "lease_id": lease_id,
        "event_type": event["event_type"],
        "time": lease_date(event["time"]),
        "status": event["status"],
        "created_at": row_date(event["created_at"]),
        "updated_at": row_date(event["updated_at"]),
    }


def _reservation(reservation: Document, lease_id: str, version: Version, with_hosts: bool) -> Document:
    terms = reservation["terms"]
    shown: Document = {
        "id": reservation["id"],
        "lease_id": lease_id,
        "resource_id": reservation["resource_id"],
        "resource_type": reservation["resource_type"],
        "status": reservation["status"],
        "missing_resources": reservation["missing_resources"],
        "resources_changed": reservation["resources_changed"],
        "created_at": row_date(reservation["created_at"]),
        "updated_at": row_date(reservation["updated_at"]),
        **reservation_terms(reservation["id"], reservation["resource_type"], terms),
    }
    if version >= V1_2 and terms.get("nodes"):
        nodes = terms["nodes"][0]
        shown |= {
            "resources": nodes.get("resources", {}),
            "traits": nodes.get("traits", []),
            "per_host": nodes.get("per_host"),
        }
        if version >= V1_23:
            shown |= {
                "least_resources": nodes.get("least_resources"),
                "granted_resources": reservation["granted_resources"],
            }
    if version >= V1_8 and with_hosts and terms.get("hosts"):
        shown["hosts"] = terms["hosts"]
    if version >= V1_24 and terms.get("nodes"):
        shown["groups"] = terms["nodes"][0].get("groups", [])
    if version >= V1_38:
        shown["granted_nodes"] = reservation["granted_nodes"]
    return shown
