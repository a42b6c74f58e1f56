"""Maintenances."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import maintenances
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import maintenances as maintenance_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/maintenances",
        maintenances.list_maintenances,
        "maintenances:get",
        200,
        "List maintenances",
        since=mv.V1_8,
        answer=maintenance_schemas.several,
    ),
    Route(
        "POST",
        "/v1/maintenances",
        maintenances.create_maintenance,
        "maintenances:post",
        201,
        "Keep hosts free of leases for a while",
        since=mv.V1_8,
        body=maintenance_schemas.create,
        answer=maintenance_schemas.one,
        changes=True,
    ),
)
