"""What the site is for gateways and other sites."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import member
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import member as member_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/member",
        member.show,
        "member:get",
        200,
        "Show what can be asked of this site, with its capacity and load for peers",
        since=mv.V1_48,
        answer=member_schemas.one,
    ),
)
