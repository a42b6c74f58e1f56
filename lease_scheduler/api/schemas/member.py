"""What the site is for gateways and other sites."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.federation.members import Verb
from lease_scheduler.model.request_types import RequestType

_AMOUNTS: Schema = {"type": "object", "additionalProperties": base.NUMBER}
VERBS = base.array({"type": "string", "enum": [verb.value for verb in Verb]})
#: Amounts by resource class.
CAPACITY: Schema = {"type": "object", "additionalProperties": base.INTEGER}
_ARRIVALS: dict[str, Schema] = {"rate": base.NUMBER, "work": _AMOUNTS, "squares": _AMOUNTS}
_TYPE: Schema = {"enum": [*(each.value for each in RequestType), None]}
#: The load that a site publishes; null if it publishes none, or not to the caller.
LOAD = base.answer({"local": base.answer(_ARRIVALS), "external": base.array(base.answer({"type": _TYPE, **_ARRIVALS}))})


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /member."""
    del version
    return base.wrapped(
        "member",
        base.answer(
            {
                "name": base.STRING,
                "origin": base.MAYBE_STRING,
                "verbs": VERBS,
                "speed": base.NUMBER,
                "capacity": base.nullable(CAPACITY),
                "load": base.nullable(LOAD),
            }
        ),
    )
