"""Pools of hosts."""

from __future__ import annotations

from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.pools import usable_pools


def list_pools(request: ApiRequest) -> Answer:
    """List the pools that the caller's project may use, in the order in which they are tried."""
    names = usable_pools(request.services.settings, request.caller)
    return Answer({"pools": [{"name": name} for name in names]})
