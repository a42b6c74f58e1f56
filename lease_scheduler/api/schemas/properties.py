"""Properties of hosts, by which leases can select hosts."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (
    Parameter("detail", base.BOOLEAN, "With their values."),
    Parameter("all", base.BOOLEAN, "Private ones too."),
)


def update(version: Version) -> Schema:
    """Return the schema of the body of PATCH /os-hosts/properties/{name}."""
    del version
    return base.closed({"private": base.BOOLEAN}, ["private"])


def one(version: Version) -> Schema:
    """Return the schema of the answer to a change."""
    del version
    return base.wrapped(
        "resource_property",
        base.answer(
            {
                "resource_type": base.STRING,
                "property_name": base.STRING,
                "private": base.BOOLEAN,
            }
        ),
    )


def several(version: Version) -> Schema:
    """Return the schema of the answer with all properties."""
    del version
    shown = base.closed(
        {"property": base.STRING, "private": base.BOOLEAN, "values": base.array(base.STRING)}, ["property"]
    )
    return base.wrapped("resource_properties", base.array(shown))
