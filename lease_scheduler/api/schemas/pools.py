"""Pools of hosts."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema


def several(version: Version) -> Schema:
    """Return the schema of the answer of GET /pools."""
    del version
    return base.wrapped("pools", base.array(base.answer({"name": base.STRING})))
