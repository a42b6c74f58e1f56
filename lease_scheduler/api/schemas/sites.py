"""The sites behind a gateway."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base, member
from lease_scheduler.api.validation import Schema
from lease_scheduler.service.gateway.breaker import Condition

_SITE = base.answer(
    {
        "name": base.STRING,
        "state": {"type": "string", "enum": [each.value for each in Condition]},
        "last_answer_at": base.MAYBE_ISO_DATE,
        "unreachable_since": base.MAYBE_ISO_DATE,
        "leases": base.INTEGER,
        "verbs": base.nullable(member.VERBS),
        "speed": base.MAYBE_NUMBER,
        "capacity": base.nullable(member.CAPACITY),
        "load": base.nullable(member.LOAD),
    }
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /sites/{site}."""
    del version
    return base.wrapped("site", _SITE)


def several(version: Version) -> Schema:
    """Return the schema of the answer of GET /sites."""
    del version
    return base.wrapped("sites", base.array(_SITE))
