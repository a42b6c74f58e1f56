"""Withdrawals of requests for leases that may still be on their way."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import leases
from lease_scheduler.api.request import Route

ROUTES = (
    Route(
        "PUT",
        "/v1/withdrawals/{request_id}",
        leases.withdraw,
        "leases:withdraw",
        204,
        "Give up a request for a lease, so that it is refused if it arrives later",
        since=mv.V1_48,
        changes=True,
    ),
)
