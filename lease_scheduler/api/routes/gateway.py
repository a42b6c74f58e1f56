"""The routes of a gateway: those about leases and about its sites.

The others say that only the sites themselves have them.
"""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.api.errors import FrameworkError
from lease_scheduler.api.handlers import member as member_handlers
from lease_scheduler.api.request import Answer, ApiRequest, Route
from lease_scheduler.api.routes import ROUTES, calendar, events, feed, leases, projects, quotes, sites, versions

_OFFERED = {
    route.name
    for module in (versions, leases, quotes, feed, calendar, events, projects, sites)
    for route in module.ROUTES
}


def _not_offered(request: ApiRequest) -> Answer:
    raise FrameworkError(404, f"{request.route.path}: a gateway does not offer this; ask the site itself")


def gateway_routes() -> tuple[Route, ...]:
    """Return all routes as a gateway serves them."""
    return tuple(_of_gateway(route) for route in ROUTES)


def _of_gateway(route: Route) -> Route:
    if route.name in _OFFERED:
        return route
    if route.handler is member_handlers.show:
        return replace(
            route, handler=member_handlers.show_gateway, summary="Show what can be asked of this gateway, and its name"
        )
    return replace(
        route,
        handler=_not_offered,
        summary="Not offered by a gateway",
        rule=None,
        subject=None,
        body=None,
        liberal=None,
        query=(),
    )
