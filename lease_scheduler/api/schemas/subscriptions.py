"""Subscriptions to notifications."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.records.subscriptions import DRIVERS, EVENT_TYPES

_TARGET: Schema = base.text(2_048, 1, examples=["https://hooks.example.org/leases", "user@example.org"])
_EVENT_TYPES: Schema = base.array({"type": "string", "enum": list(EVENT_TYPES)}, len(EVENT_TYPES), uniqueItems=True)

LIST_QUERY = (
    base.Parameter("all_projects", base.BOOLEAN, "Include the subscriptions of all projects"),
    base.Parameter("project_id", base.text(255, 1), "Only those of this project"),
)


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /subscriptions."""
    del version
    return base.closed(
        {
            "driver": {"type": "string", "enum": list(DRIVERS)},
            "target": _TARGET,
            "event_types": _EVENT_TYPES,
            "lease_id": base.nullable(base.UUID),
        },
        ["driver", "target"],
    )


def update(version: Version) -> Schema:
    """Return the schema of the body of PUT /subscriptions/{id}."""
    del version
    return base.closed({"target": _TARGET, "event_types": _EVENT_TYPES}, minProperties=1)


def _subscription() -> dict[str, Schema]:
    return {
        "id": base.STRING,
        "project_id": base.STRING,
        "user_id": base.STRING,
        "driver": base.STRING,
        "target": base.STRING,
        "event_types": base.array(base.STRING),
        "lease_id": base.MAYBE_STRING,
        "created_at": base.MAYBE_ISO_DATE,
        "updated_at": base.MAYBE_ISO_DATE,
        "waiting": base.INTEGER,
        "failed_attempts": base.INTEGER,
        "next_attempt_at": base.MAYBE_ISO_DATE,
        "delivered_at": base.MAYBE_ISO_DATE,
        "last_error": base.MAYBE_STRING,
    }


def created(version: Version) -> Schema:
    """Return the schema of the answer of POST /subscriptions, the only one with the secret."""
    del version
    return base.wrapped("subscription", base.answer({**_subscription(), "secret": base.MAYBE_STRING}))


def one(version: Version) -> Schema:
    """Return the schema of the answer with one subscription."""
    del version
    return base.wrapped("subscription", base.answer(_subscription()))


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of subscriptions."""
    del version
    return base.wrapped("subscriptions", base.array(base.answer(_subscription())))
