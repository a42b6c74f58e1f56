"""Allocations: which reservation has which host."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema

QUERY = (
    Parameter("lease_id", base.text(36, 1), "Reservations of this lease, whenever they are."),
    Parameter("reservation_id", base.text(36, 1), "This reservation, whenever it is."),
)

_ALLOCATION = base.answer(
    {
        "resource_id": base.STRING,
        "reservations": base.array(
            base.answer(
                {
                    "id": base.STRING,
                    "lease_id": base.STRING,
                    "start_date": base.LEASE_DATE,
                    "end_date": base.LEASE_DATE,
                }
            )
        ),
    }
)


def one(version: Version) -> Schema:
    """Return the schema of the answer for one host."""
    del version
    return base.wrapped("allocation", _ALLOCATION)


def several(version: Version) -> Schema:
    """Return the schema of the answer for all hosts."""
    del version
    return base.wrapped("allocations", base.array(_ALLOCATION))
