"""Allocations: which reservation has which host."""

from __future__ import annotations

from lease_scheduler.api.handlers.hosts import host_named
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.views.host import show_allocation


def list_allocations(request: ApiRequest) -> Answer:
    """List the reservations on every host."""
    found = request.reader.allocations(
        lease_id=request.query.get("lease_id"),
        reservation_id=request.query.get("reservation_id"),
        now=request.now,
    )
    return Answer({"allocations": [show_allocation(each) for each in found]})


def show_allocations(request: ApiRequest) -> Answer:
    """List the reservations on one host."""
    host_id = str(host_named(request)["id"])
    found = request.reader.allocations(
        lease_id=request.query.get("lease_id"),
        reservation_id=request.query.get("reservation_id"),
        host_id=host_id,
        now=request.now,
    )
    mine = [each for each in found if str(each["resource_id"]) == host_id]
    return Answer({"allocation": show_allocation(mine[0] if mine else {"resource_id": host_id, "reservations": []})})
