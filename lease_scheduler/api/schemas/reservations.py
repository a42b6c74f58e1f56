"""Reservations of a lease, by resource type."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_2, V1_8, V1_23, V1_24, V1_38, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import CHOSEN_BY, MESSAGE, WANTED, Schema

HOST = "physical:host"
INSTANCE = "virtual:instance"
FLAVOR = "flavor:instance"
FLOATING_IP = "virtual:floatingip"

_AFFINITY: Schema = {
    "type": ["boolean", "string", "null"],
    "pattern": "^([Tt]rue|TRUE|[Ff]alse|FALSE|[Nn]one|NONE)$",
    "maxLength": 5,
    WANTED: 'true, false or null, or one of the texts "True", "False" and "None"',
}
_COUNT = base.integer(1, 100_000)
#: Blazar's command line sends an id that looks like a number as a number.
_FLAVOR_ID: Schema = {
    "type": ["string", "integer"],
    "minLength": 1,
    "maxLength": 255,
    "minimum": 0,
    "maximum": base.MAXIMUM_INTEGER,
    WANTED: "the id of a flavor",
}
#: Keys that NeCTAR's Blazar accepts beside the size of instances, and that its Warre sends. A request may have only
#: those extra specs that Placement counts; operators put all others into flavors.
_EXTRA_SPECS: Schema = {
    "type": ["object", "null"],
    "maxProperties": 32,
    "propertyNames": {
        "pattern": "^(resources|trait):[A-Z0-9_]{1,255}$",
        MESSAGE: "Extra specs of a request are resources:CLASS and trait:NAME; others need a flavor (flavor:instance)",
    },
    "additionalProperties": {"type": ["string", "integer"], "maxLength": 255, "minimum": 0},
}
_ADDRESSES = base.array(base.text(64, 1), 1_000)

#: The required and the optional keys of each resource type.
_KEYS: dict[str, tuple[dict[str, Schema], dict[str, Schema]]] = {
    HOST: (
        {
            "min": _COUNT,
            "max": _COUNT,
            "hypervisor_properties": base.QUERY,
            "resource_properties": base.QUERY,
        },
        {"before_end": {"type": "string", "enum": ["", "default", "snapshot"]}},
    ),
    INSTANCE: (
        {
            "vcpus": base.integer(1),
            "memory_mb": base.integer(1),
            "disk_gb": base.integer(0),
            "amount": _COUNT,
            "affinity": _AFFINITY,
            "resource_properties": base.QUERY,
        },
        {"ephemeral_gb": base.nullable(base.integer(0)), "extra_specs": _EXTRA_SPECS},
    ),
    FLAVOR: (
        {"flavor_id": _FLAVOR_ID, "amount": _COUNT},
        {"affinity": _AFFINITY, "resource_properties": base.nullable(base.QUERY)},
    ),
    FLOATING_IP: (
        {"network_id": base.text(255, 1), "amount": base.integer(1, 1_000)},
        {"required_floatingips": _ADDRESSES},
    ),
}

RESOURCE_TYPES = tuple(_KEYS)
#: All keys of each resource type.
KEYS_OF_TYPE = {kind: frozenset(required) | frozenset(optional) for kind, (required, optional) in _KEYS.items()}

RESOURCES: Schema = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 32,
    "propertyNames": {
        "pattern": "^[A-Z0-9_]{1,255}$",
        MESSAGE: "A resource class has capital letters, digits and underscores only",
    },
    "additionalProperties": base.integer(1),
}
TRAITS = base.array(base.text(255, 1, pattern="^[A-Z0-9_]+$"), 64, uniqueItems=True)

_GROUP = base.closed({"resources": RESOURCES, "traits": TRAITS}, ["resources"])


def nodes(version: Version) -> Schema:
    """Return the schema of the node sets in a request for a new lease."""
    properties: dict[str, Schema] = {
        "count": _COUNT,
        "resources": RESOURCES,
        "traits": TRAITS,
        "properties": base.QUERY,
        "exclusive": base.BOOLEAN,
        "per_host": base.nullable(_COUNT),
    }
    if version >= V1_23:
        properties["least_resources"] = RESOURCES
    if version >= V1_24:
        properties["groups"] = base.array(_GROUP, 64)
    return base.array(base.closed(properties, ["count"]), 64, 1)


def creation(version: Version) -> Schema:
    """Return the schema of a reservation in a request for a new lease."""
    del version
    branches = [
        base.closed(
            {"resource_type": {"type": "string", "const": kind}, **required, **optional},
            ["resource_type", *required],
        )
        for kind, (required, optional) in _KEYS.items()
    ]
    return {"anyOf": branches, CHOSEN_BY: "resource_type"}


def update(version: Version) -> Schema:
    """Return the schema of a reservation in a request that changes a lease."""
    del version
    keys = {key: schema for required, optional in _KEYS.values() for key, schema in (required | optional).items()}
    keys["before_end"] = _KEYS[HOST][1]["before_end"]
    return base.closed({"id": base.UUID, "resource_type": base.text(64), **keys}, ["id"])


def shown(version: Version) -> Schema:
    """Return the schema of a reservation in an answer."""
    common: dict[str, Schema] = {
        "id": base.STRING,
        "lease_id": base.STRING,
        "resource_id": base.MAYBE_STRING,
        "status": {"type": "string", "enum": ["pending", "active", "deleted", "error"]},
        "missing_resources": base.BOOLEAN,
        "resources_changed": base.BOOLEAN,
        "created_at": base.ROW_DATE,
        "updated_at": base.ROW_DATE,
    }
    instance: dict[str, Schema] = {
        "vcpus": base.INTEGER,
        "memory_mb": base.INTEGER,
        "disk_gb": base.INTEGER,
        "amount": base.INTEGER,
        "affinity": {"type": ["boolean", "null"]},
        "resource_properties": base.STRING,
        "flavor_id": base.STRING,
        "server_group_id": base.MAYBE_STRING,
        "aggregate_id": {"type": ["integer", "string", "null"]},
    }
    own: dict[str, dict[str, Schema]] = {
        HOST: {
            "min": base.INTEGER,
            "max": base.INTEGER,
            "hypervisor_properties": base.STRING,
            "resource_properties": base.STRING,
            "before_end": base.STRING,
        },
        INSTANCE: instance,
        FLAVOR: instance,
        FLOATING_IP: {
            "network_id": base.STRING,
            "amount": base.INTEGER,
            "required_floatingips": base.array(base.STRING),
        },
    }
    extra: dict[str, Schema] = {}
    if version >= V1_2:
        extra = {
            "resources": {"type": "object", "additionalProperties": base.INTEGER},
            "traits": base.array(base.STRING),
            "per_host": base.MAYBE_INTEGER,
        }
    if version >= V1_8:
        extra["hosts"] = base.array(base.STRING)
    if version >= V1_23:
        extra["least_resources"] = {"type": ["object", "null"], "additionalProperties": base.INTEGER}
        extra["granted_resources"] = {"type": ["object", "null"], "additionalProperties": base.INTEGER}
    if version >= V1_24:
        amounts: Schema = {"type": "object", "additionalProperties": base.INTEGER}
        extra["groups"] = base.array(base.answer({"resources": amounts, "traits": base.array(base.STRING)}))
    if version >= V1_38:
        extra["granted_nodes"] = base.MAYBE_INTEGER
    return {
        "anyOf": [
            base.closed(
                {**common, "resource_type": {"type": "string", "const": kind}, **keys, **extra},
                [*common, "resource_type", *keys],
            )
            for kind, keys in own.items()
        ]
    }
