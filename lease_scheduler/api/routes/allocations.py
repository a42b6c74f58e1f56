"""Allocations of hosts."""

from __future__ import annotations

from lease_scheduler.api.handlers import allocations
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import allocations as allocation_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/os-hosts/allocations",
        allocations.list_allocations,
        "oshosts:get_allocations",
        200,
        "List allocations of all hosts",
        query=allocation_schemas.QUERY,
        answer=allocation_schemas.several,
    ),
    Route(
        "GET",
        "/v1/os-hosts/{host_id}/allocation",
        allocations.show_allocations,
        "oshosts:get_allocations",
        200,
        "List allocations of a host",
        query=allocation_schemas.QUERY,
        answer=allocation_schemas.one,
    ),
)
