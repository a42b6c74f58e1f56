"""Pools of hosts."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import pools
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import pools as pool_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/pools",
        pools.list_pools,
        "pools:get",
        200,
        "List the pools that the project may use",
        since=mv.V1_26,
        answer=pool_schemas.several,
    ),
)
