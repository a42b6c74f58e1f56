"""Quotes: what a lease would come to."""

from __future__ import annotations

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
    V1_47,
    V1_49,
    V1_51,
    Version,
)
from lease_scheduler.api.schemas import base, budget, leases
from lease_scheduler.api.validation import Schema


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /quotes."""
    lease = leases.create(version)
    if version < V1_12:
        return lease
    held: dict[str, Schema] = {"hold": base.BOOLEAN}
    if version >= V1_15:
        flexibility = {
            "latest_start": base.DATE,
            "fewest_nodes": base.integer(1),
            "shortest_duration": base.DURATION,
        }
        held |= {"counter_offers": base.integer(0, 16), "flexibility": base.closed(flexibility)}
    if version >= V1_47:
        held |= {"id": base.CHOSEN_UUID, "expires_at": base.DATE}
    if version >= V1_51:
        held["site"] = leases.SITE
    return {**lease, "properties": {**lease["properties"], **held}}


#: The node sets that would be granted.
_NODES = base.array(
    base.answer({"count": base.INTEGER, "resources": {"type": "object", "additionalProperties": base.INTEGER}})
)

_COUNTER_OFFER = base.answer(
    {
        "lease_id": base.STRING,
        "change": {"type": "string", "enum": ["start", "nodes", "duration"]},
        "start": base.MAYBE_ISO_DATE,
        "end": base.MAYBE_ISO_DATE,
        "count": base.INTEGER,
        "duration": base.INTEGER,
        "price": base.MAYBE_NUMBER,
        "expires_at": base.MAYBE_ISO_DATE,
    }
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of POST /quotes."""
    properties: dict[str, Schema] = {
        "granted": base.BOOLEAN,
        "reason": base.STRING,
        "start": base.MAYBE_ISO_DATE,
        "end": base.MAYBE_ISO_DATE,
        "hosts": base.array(base.STRING),
        "preempts": base.array(base.STRING),
        "preempted": base.INTEGER,
        "alternatives": base.array(base.ALTERNATIVE),
        "queue_position": base.MAYBE_INTEGER,
    }
    required = ["granted", "reason", "start", "end", "preempts", "preempted", "alternatives"]
    if version >= V1_12:
        held: dict[str, Schema] = {
            "price": base.MAYBE_NUMBER,
            "lease_id": base.MAYBE_STRING,
            "expires_at": base.MAYBE_ISO_DATE,
        }
        properties |= held
        required += list(held)
    if version >= V1_15:
        offered: dict[str, Schema] = {
            "negotiation_id": base.MAYBE_STRING,
            "counter_offers": base.array(_COUNTER_OFFER),
        }
        properties |= offered
        required += list(offered)
    if version >= V1_17:
        properties["preempted_kinds"] = base.KINDS
        required.append("preempted_kinds")
    if version >= V1_23:
        properties["nodes"] = _NODES
        required.append("nodes")
    if version >= V1_26:
        properties["pool"] = base.MAYBE_STRING
        required.append("pool")
    if version >= V1_30:
        properties["promise"] = base.MAYBE_STRING
        required.append("promise")
    if version >= V1_39:
        properties |= leases.INTERRUPTION
        required += list(leases.INTERRUPTION)
    if version >= V1_41:
        properties["budget"] = budget.LINES
        required.append("budget")
    if version >= V1_42:
        properties["approval"] = base.MAYBE_STRING
        required.append("approval")
    if version >= V1_43:
        properties["reason_code"] = base.MAYBE_REASON
        required.append("reason_code")
    if version >= V1_49:
        properties |= {"site": base.MAYBE_STRING, "unanswered": base.array(base.STRING)}
        required += ["site", "unanswered"]
    return base.wrapped("quote", base.closed(properties, required))


def change(version: Version) -> Schema:
    """Return the schema of the body of POST /leases/{id}/quote: a change as in PUT, or extend or shrink."""
    actions = leases.action(version)["properties"]
    wanted = {name: actions[name] for name in ("extend", "shrink")}
    return base.closed({"change": leases.update(version), **wanted}, minProperties=1, maxProperties=1)


def of_change(version: Version) -> Schema:
    """Return the schema of the answer of POST /leases/{id}/quote."""
    properties: dict[str, Schema] = {
        "granted": base.BOOLEAN,
        "reason": base.STRING,
        "start": base.MAYBE_ISO_DATE,
        "end": base.MAYBE_ISO_DATE,
        "preempted": base.INTEGER,
        "alternatives": base.array(base.ALTERNATIVE),
        "price": base.MAYBE_NUMBER,
        "present_price": base.MAYBE_NUMBER,
    }
    if version >= V1_17:
        properties["preempted_kinds"] = base.KINDS
    if version >= V1_23:
        properties["nodes"] = _NODES
    if version >= V1_39:
        properties |= leases.INTERRUPTION
    if version >= V1_41:
        properties["budget"] = budget.LINES
    if version >= V1_43:
        properties["reason_code"] = base.MAYBE_REASON
    return base.wrapped("quote", base.answer(properties))
