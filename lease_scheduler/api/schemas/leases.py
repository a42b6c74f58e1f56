"""Leases: bodies, query parameters and answers."""

from __future__ import annotations

from lease_scheduler.api.microversions import (
    V1_1,
    V1_2,
    V1_3,
    V1_4,
    V1_9,
    V1_12,
    V1_13,
    V1_15,
    V1_16,
    V1_18,
    V1_21,
    V1_26,
    V1_29,
    V1_30,
    V1_33,
    V1_34,
    V1_37,
    V1_39,
    V1_42,
    V1_47,
    V1_51,
    Version,
)
from lease_scheduler.api.schemas import attributes, base, reservations
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.approval import AWAITING_APPROVAL, Approval
from lease_scheduler.model.breach import BreachKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState

KINDS = [kind.value for kind in LeaseKind]
STATES = [state.value for state in LeaseState]
STATUSES = ["PENDING", "STARTING", "ACTIVE", "TERMINATING", "TERMINATED", "ERROR"]
SORT_KEYS = ["id", "name", "kind", "state", "project_id", "start", "end", "created_at", "updated_at"]
NAME = base.name()
#: Name of a site behind a gateway.
SITE = base.text(64, 1)
MAXIMUM_RESERVATIONS = 64

#: Terms of a held lease for which its project may ask for other values.
_COUNTERED = frozenset(
    {"start_date", "end_date", "before_end_date", "duration", "deadline", "reservations", "max_price"}
)

#: Accepted and ignored, since the events follow from the dates.
_EVENTS = base.array(base.closed({"event_type": base.text(255), "event_date": base.text(64)}), 64)
_LENGTHS: dict[str, Schema] = {"duration": base.DURATION, "deadline": base.DATE}
_VOLUME = base.closed(
    {
        "volume_id": base.text(255, 1),
        "size_gb": base.integer(1, 1_000_000),
        "volume_type": base.text(255, 1),
        "delete_on_termination": base.BOOLEAN,
    }
)


def _server(version: Version) -> Schema:
    """Return the schema of a server template. From microversion 1.13 on, the engine checks what it boots from."""
    if version >= V1_13:
        return base.closed({**_SERVER, "volume": _VOLUME}, ["name"])
    return base.closed(_SERVER, ["name", "image_id"])


_SERVER: dict[str, Schema] = {
    "name": NAME,
    "image_id": base.text(255, 1),
    "count": base.integer(1, 100_000),
    "node_set": base.integer(0, 63),
    # A list, or "auto" or "none", as in Nova.
    "networks": {
        **base.array(base.closed({"network_id": base.text(255), "port_id": base.text(255)}), 64),
        "type": ["array", "string"],
        "pattern": "^(auto|none)$",
    },
    "key_name": base.text(255, 1),
    "security_groups": base.array(base.text(255, 1), 64),
    "user_data": base.text(65_535),
    "metadata": {"type": "object", "maxProperties": 128, "additionalProperties": base.text(255)},
}


def create(version: Version) -> Schema:
    """Return the schema of the terms in a request for a lease."""
    properties: dict[str, Schema] = {
        **attributes.given(version),
        "start_date": base.DATE,
        "end_date": base.DATE,
        "before_end_date": base.nullable(base.DATE),
        "reservations": base.array(reservations.creation(version), MAXIMUM_RESERVATIONS),
        "events": _EVENTS,
    }
    required = ["name", "start_date", "end_date"]
    if version >= V1_2:
        properties |= {"kind": {"type": "string", "enum": KINDS}, "nodes": reservations.nodes(version), **_LENGTHS}
        required = ["name"]
    if version >= V1_3:
        properties["servers"] = base.array(_server(version), 64)
    return base.closed(properties, required)


def create_with_id(version: Version) -> Schema:
    """Return the schema of the body of POST /leases, where from microversion 1.18 on clients may choose the id.

    From 1.51 on, requests to a gateway may name the site.
    """
    schema = create(version)
    more: dict[str, Schema] = {"id": base.CHOSEN_UUID} if version >= V1_18 else {}
    if version >= V1_51:
        more["site"] = SITE
    return {**schema, "properties": {**schema["properties"], **more}}


def update(version: Version) -> Schema:
    """Return the schema of the body of PUT /leases/{id}."""
    properties: dict[str, Schema] = {
        **attributes.changed(version),
        "start_date": base.DATE,
        "end_date": base.DATE,
        "before_end_date": base.nullable(base.DATE),
        "reservations": base.array(reservations.update(version), MAXIMUM_RESERVATIONS),
    }
    if version >= V1_2:
        properties |= {**_LENGTHS, "version": base.integer(0)}
    return base.closed(properties)


LIST_QUERY = (
    Parameter("limit", base.integer(1), "Maximum number of leases to return.", V1_1),
    Parameter("marker", base.UUID, "Start after the lease with this id.", V1_1),
    Parameter("sort_key", {"type": "string", "enum": SORT_KEYS}, "Sort by this key.", V1_1),
    Parameter("sort_dir", {"type": "string", "enum": ["asc", "desc"]}, "In this direction.", V1_1),
    Parameter("name", base.text(255), "Leases of this name.", V1_1),
    Parameter("status", {"type": "string", "enum": STATUSES}, "Leases with this status.", V1_1),
    Parameter("state", {"type": "string", "enum": [*STATES, AWAITING_APPROVAL]}, "In this state.", V1_1),
    Parameter("kind", {"type": "string", "enum": KINDS}, "Leases of this kind.", V1_1),
    Parameter("project_id", base.text(255, 1), "Leases of this project.", V1_1),
    Parameter("all_projects", base.BOOLEAN, "Leases of all projects; administrators only.", V1_1),
    Parameter("deleted", base.BOOLEAN, "Deleted leases too.", V1_4),
    Parameter("series_id", base.UUID, "Leases of this series.", V1_9),
    Parameter("number", base.integer(1), "The lease of this number.", V1_16),
    Parameter("live", base.BOOLEAN, "Leave out leases that are over.", V1_16),
    Parameter("pool", base.text(64, 1), "Leases of this pool.", V1_26),
    Parameter("site", base.text(64, 1), "Leases at this site; gateways only.", V1_51),
)
SHOW_QUERY = (Parameter("deleted", base.BOOLEAN, "Show the lease even if it is deleted.", V1_4),)

_EVENT = base.answer(
    {
        "id": base.STRING,
        "lease_id": base.STRING,
        "event_type": base.STRING,
        "time": {"anyOf": [base.LEASE_DATE, {"type": "null"}]},
        "status": {"type": "string", "enum": ["UNDONE", "IN_PROGRESS", "DONE", "ERROR"]},
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
    }
)
_BREACH = base.answer(
    {
        "kind": {"type": "string", "enum": [kind.value for kind in BreachKind]},
        "time": base.ISO_DATE,
        "seconds": base.INTEGER,
        "node_hours": base.NUMBER,
        "penalty": base.NUMBER,
    }
)
#: When a lease is preempted, and by when it ends.
INTERRUPTION: dict[str, Schema] = dict.fromkeys(("preempted_at", "latest_end"), base.MAYBE_ISO_DATE)
HOLDING = base.closed(
    {
        "start": base.ISO_DATE,
        "run_start": base.ISO_DATE,
        "run_end": base.MAYBE_ISO_DATE,
        "end": base.MAYBE_ISO_DATE,
        "closing": base.MAYBE_STRING,
        "hosts": base.array(base.STRING),
    },
    ["start", "run_start", "run_end", "end", "closing"],
)


def lease(version: Version) -> Schema:
    """Return the schema of a lease in an answer."""
    properties: dict[str, Schema] = {
        "id": base.STRING,
        **attributes.shown(version),
        "start_date": base.LEASE_DATE,
        "end_date": base.LEASE_DATE,
        "status": {"type": "string", "enum": STATUSES},
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
        "reservations": base.array(reservations.shown(version)),
        "events": base.array(_EVENT),
    }
    if version >= V1_2:
        maybe_date = {"anyOf": [base.LEASE_DATE, {"type": "null"}]}
        properties |= {
            "start_date": maybe_date,
            "end_date": maybe_date,
            "kind": {"type": "string", "enum": KINDS},
            "state": {"type": "string", "enum": STATES},
            "reason": base.STRING,
            "duration": base.MAYBE_INTEGER,
            "deadline": base.MAYBE_ISO_DATE,
            "earliest_start": base.MAYBE_ISO_DATE,
            "submitted_at": base.ISO_DATE,
            "started_at": base.MAYBE_ISO_DATE,
            "ended_at": base.MAYBE_ISO_DATE,
            "accumulated": base.INTEGER,
            "version": base.INTEGER,
            "holdings": base.array(HOLDING),
        }
    if version >= V1_3:
        properties["servers"] = base.array({"type": "object"})
    if version >= V1_12:
        properties["expires_at"] = base.MAYBE_ISO_DATE
    if version >= V1_15:
        properties |= {
            "breaches": base.array(_BREACH),
            "penalties": base.NUMBER,
            "negotiation_id": base.MAYBE_STRING,
        }
    if version >= V1_16:
        properties["number"] = base.INTEGER
    if version >= V1_21:
        properties["idle_since"] = base.MAYBE_ISO_DATE
    if version >= V1_30:
        properties["promise"] = base.MAYBE_STRING
    if version >= V1_33:
        properties["expectation"] = base.MAYBE_STRING
    if version >= V1_34:
        properties |= dict.fromkeys(("yield", "virtual_time", "stretch"), base.nullable(base.NUMBER))
    if version >= V1_39:
        properties |= INTERRUPTION
    if version >= V1_42:
        properties["state"] = {"type": "string", "enum": [*STATES, AWAITING_APPROVAL]}
        properties["approval"] = base.nullable({"type": "string", "enum": [each.value for each in Approval]})
    return base.answer(properties)


def one(version: Version) -> Schema:
    """Return the schema of the answer with one lease."""
    return base.wrapped("lease", lease(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of leases."""
    properties: dict[str, Schema] = {"leases": base.array(lease(version))}
    if version >= V1_1:
        properties["leases_links"] = base.array(base.answer({"rel": base.STRING, "href": base.STRING}))
    return base.closed(properties, ["leases"])


def history(version: Version) -> Schema:
    """Return the schema of the answer of GET /leases/{id}/history."""
    entry = {"time": base.ISO_DATE, "from": base.STRING, "to": base.STRING, "reason": base.STRING}
    if version >= V1_37:
        entry |= {
            "user_id": base.nullable(base.STRING),
            "project_id": base.nullable(base.STRING),
            "by_operator": base.BOOLEAN,
        }
    if version >= V1_47:
        entry["sequence"] = base.INTEGER
    return base.wrapped("history", base.array(base.answer(entry)))


def hosts(version: Version) -> Schema:
    """Return the schema of the answer of GET /leases/{id}/hosts."""
    del version
    return base.wrapped(
        "hosts",
        base.array(base.answer({"hypervisor_hostname": base.STRING, "reservation_id": base.STRING})),
    )


def action(version: Version) -> Schema:
    """Return the schema of the body of POST /leases/{id}/action."""
    span: dict[str, Schema] = {"end_date": base.DATE, "by": base.DURATION, "duration": base.DURATION}
    shorter = {**span, "reservations": base.array(reservations.update(version), MAXIMUM_RESERVATIONS, 1)}
    limit: dict[str, Schema] = {"max_price": base.MONEY} if version >= V1_15 else {}
    actions: dict[str, Schema] = {
        "extend": base.closed({**span, **limit}, minProperties=1, maxProperties=1 + len(limit)),
        "shrink": base.closed({**shorter, **limit}, minProperties=1, maxProperties=1 + len(limit)),
        "move": base.closed(
            {
                "hosts_away": base.array(base.text(255, 1), 1_000, 1, uniqueItems=True),
                "start_date": base.DATE,
                "end_date": base.DATE,
                **limit,
            },
            minProperties=1,
        ),
        "end": base.closed({}),
        "cancel": base.closed({"reason": base.text(255)}),
    }
    if version >= V1_12:
        actions |= {"accept": base.closed({}), "reject": base.closed({})}
    if version >= V1_15:
        terms = {key: value for key, value in update(version)["properties"].items() if key in _COUNTERED}
        actions["counter"] = base.closed(terms, minProperties=1)
    if version >= V1_29:
        actions["ready"] = base.closed({})
    if version >= V1_42:
        decision = base.closed({"reason": base.text(255)})
        actions |= {"approve": decision, "decline": decision}
    return base.closed(actions, minProperties=1, maxProperties=1)
