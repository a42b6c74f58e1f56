"""The routes, as data, one module per resource."""

from __future__ import annotations

from itertools import chain

from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import (
    allocations,
    availability,
    budget,
    calendar,
    capacity,
    events,
    feed,
    feeds,
    floatingips,
    flows,
    forecasts,
    hosts,
    leases,
    maintenances,
    member,
    peers,
    pools,
    projects,
    properties,
    quotes,
    series,
    sites,
    subscriptions,
    usage,
    versions,
    withdrawals,
)

_MODULES = (
    versions,
    leases,
    withdrawals,
    quotes,
    feed,
    hosts,
    allocations,
    properties,
    floatingips,
    pools,
    availability,
    maintenances,
    series,
    subscriptions,
    feeds,
    flows,
    forecasts,
    usage,
    capacity,
    projects,
    budget,
    calendar,
    events,
    peers,
    member,
    sites,
)

ROUTES: tuple[Route, ...] = tuple(chain.from_iterable(module.ROUTES for module in _MODULES))
