"""Floating IP addresses."""

from __future__ import annotations

from lease_scheduler.api.handlers import floatingips
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import floatingips as floatingip_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/floatingips",
        floatingips.list_floatingips,
        "floatingips:get",
        200,
        "List floating IP addresses",
        answer=floatingip_schemas.several,
    ),
    Route(
        "POST",
        "/v1/floatingips",
        floatingips.create_floatingip,
        "floatingips:post",
        201,
        "Add a floating IP address to the pool",
        body=floatingip_schemas.create,
        answer=floatingip_schemas.one,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/floatingips/{floatingip_id}",
        floatingips.show,
        "floatingips:get",
        200,
        "Show a floating IP address",
        answer=floatingip_schemas.one,
    ),
    Route(
        "DELETE",
        "/v1/floatingips/{floatingip_id}",
        floatingips.delete_floatingip,
        "floatingips:delete",
        204,
        "Remove a floating IP address from the pool",
        changes=True,
    ),
)
