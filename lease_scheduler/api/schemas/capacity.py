"""Capacity: how many hosts the site needs."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_35, Version
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
    Parameter(
        "fewer_hosts",
        base.text(255, 1, examples=["0,1,2"]),
        "Numbers of hosts to switch off, separated by commas: shows the least yield of fluid leases without them.",
        V1_35,
    ),
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /capacity."""
    least_yield = base.answer(
        {
            "pool": base.MAYBE_STRING,
            "fewer": base.INTEGER,
            "hosts": base.INTEGER,
            "without": base.array(base.STRING),
            "least_yield": base.MAYBE_NUMBER,
            "leases": base.INTEGER,
            "waiting": base.INTEGER,
        }
    )
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
            **({"least_yields": base.array(least_yield)} if version >= V1_35 else {}),
        }
    )
    return base.answer({"capacity": report})
