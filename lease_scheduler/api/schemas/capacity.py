"""Capacity: how many hosts the site needs."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (
    Parameter("start", base.DATE, "Start of the period; default: 90 days before its end."),
    Parameter("end", base.DATE, "End of the period; default: now."),
    Parameter(
        "promises",
        base.text(255, 1, examples=["0.95,0.99"]),
        "Shares of the hours with use, at most 0.9999 each, separated by commas; default: 0.9,0.95,0.99.",
    ),
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /capacity."""
    need = base.answer(
        {
            "promise": base.NUMBER,
            "hosts": base.MAYBE_INTEGER,
            "can_go": base.MAYBE_INTEGER,
            "spare": base.MAYBE_INTEGER,
            "lifetime": base.INTEGER,
            "least_days": base.INTEGER,
        }
    )
    report = base.answer(
        {
            "start": base.ISO_DATE,
            "end": base.ISO_DATE,
            "hosts": base.INTEGER,
            "days": base.INTEGER,
            "hours": base.INTEGER,
            "mean": base.NUMBER,
            "highest": base.NUMBER,
            "full": base.NUMBER,
            "promises": base.array(need),
        }
    )
    return base.answer({"capacity": report})
