"""Forecasts: how well they held."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema

_FORECAST: dict[str, Schema] = {
    "name": base.STRING,
    "pool": base.MAYBE_STRING,
    "asked": base.MAYBE_NUMBER,
    "held": base.MAYBE_NUMBER,
    "count": base.INTEGER,
    "since": base.MAYBE_ISO_DATE,
}


def several(version: Version) -> Schema:
    """Return the schema of the answer with a list of forecasts."""
    del version
    return base.wrapped("forecasts", base.array(base.answer(_FORECAST)))
