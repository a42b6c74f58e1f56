"""Compute hosts."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_24, V1_26, V1_27, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import MESSAGE, WANTED, Schema
from lease_scheduler.model.power import PowerState

#: Keys that every host has. No capability can have one of these names.
FACTS = frozenset(
    {
        "id",
        "hypervisor_hostname",
        "hypervisor_type",
        "hypervisor_version",
        "vcpus",
        "cpu_info",
        "memory_mb",
        "local_gb",
        "service_name",
        "availability_zone",
        "reservable",
        "status",
        "trust_id",
        "created_at",
        "updated_at",
    }
)

_CAPABILITY_NAME: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 64,
    MESSAGE: "Extra capability key too long; it must have 1 to 64 characters",
}
_CAPABILITY: Schema = {
    "type": ["string", "number", "boolean"],
    "maxLength": 65_535,
    WANTED: "a text, a number, true or false",
}


_POOL: dict[str, Schema] = {"pool": base.text(64, 1)}


def facts(version: Version) -> frozenset[str]:
    """Return the keys that every host has. From microversion 1.26 on, no capability can be named ``pool``."""
    return FACTS | _POOL.keys() if version >= V1_26 else FACTS


def create(version: Version) -> Schema:
    """Return the schema of the body of POST /os-hosts. Keys that it does not name are capabilities."""
    return {
        "type": "object",
        "properties": {
            "name": base.text(255, 1),
            "id": {"type": ["string", "integer"], "maxLength": 255},
            **(_POOL if version >= V1_26 else {}),
        },
        "propertyNames": {"allOf": [_CAPABILITY_NAME, base.name(64)]},
        "additionalProperties": _CAPABILITY,
        "maxProperties": 1_000,
    }


def update(version: Version) -> Schema:
    """Return the schema of the body of PUT /os-hosts/{id}. Null removes a capability."""
    capability = {**_CAPABILITY, "type": ["string", "number", "boolean", "null"], WANTED: "a text, a number or null"}
    return {
        "type": "object",
        "properties": _POOL if version >= V1_26 else {},
        "propertyNames": {"allOf": [_CAPABILITY_NAME, base.name(64)]},
        "additionalProperties": capability,
        "minProperties": 1,
        MESSAGE: "No data to update",
    }


def action(version: Version) -> Schema:
    """Return the schema of the body of POST /os-hosts/{id}/action."""
    del version
    return base.closed({"sleep": base.closed({}), "wake": base.closed({})}, minProperties=1, maxProperties=1)


def _host(version: Version) -> Schema:
    shown: dict[str, Schema] = {
        "id": base.STRING,
        "hypervisor_hostname": base.STRING,
        "hypervisor_type": base.STRING,
        "hypervisor_version": base.INTEGER,
        "vcpus": base.INTEGER,
        "cpu_info": base.STRING,
        "memory_mb": base.INTEGER,
        "local_gb": base.INTEGER,
        "service_name": base.STRING,
        "availability_zone": base.MAYBE_STRING,
        "reservable": base.BOOLEAN,
        "status": {"type": "null"},
        "trust_id": base.MAYBE_STRING,
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
    }
    if version >= V1_24:
        offered: dict[str, Schema] = {
            "resources": {"type": "object", "additionalProperties": base.INTEGER},
            "traits": base.array(base.STRING),
        }
        shown |= {**offered, "providers": base.array(base.answer({"name": base.STRING, **offered}))}
    if version >= V1_26:
        shown["pool"] = base.MAYBE_STRING
    if version >= V1_27:
        shown |= {
            "power_state": {"type": "string", "enum": [state.value for state in PowerState]},
            "power_since": base.nullable(base.LEASE_DATE),
            "energy_saved_wh": base.NUMBER,
        }
    return {"type": "object", "properties": shown, "required": list(shown), "additionalProperties": base.STRING}


def one(version: Version) -> Schema:
    """Return the schema of the answer with one host."""
    return base.wrapped("host", _host(version))


def several(version: Version) -> Schema:
    """Return the schema of the answer with all hosts."""
    return base.wrapped("hosts", base.array(_host(version)))
