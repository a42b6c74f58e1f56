"""Flows: the projects among which the site is shared."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import flows
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import flows as flow_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/flows",
        flows.list_flows,
        "flows:get",
        200,
        "List flows, the projects among which the site is shared",
        since=mv.V1_25,
        query=flow_schemas.LIST_QUERY,
        answer=flow_schemas.several,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/flows/{flow}",
        flows.show,
        "flows:get",
        200,
        "Show a flow: its share, and when its queued leases are expected to start",
        since=mv.V1_25,
        answer=flow_schemas.one,
        changes=True,
    ),
    Route(
        "PUT",
        "/v1/flows/{flow}",
        flows.set_flow,
        "flows:put",
        200,
        "Set the weight of a flow",
        since=mv.V1_25,
        body=flow_schemas.put,
        answer=flow_schemas.one,
        changes=True,
    ),
)
