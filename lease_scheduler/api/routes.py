"""The routes, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from lease_scheduler.api import liberal
from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import (
    allocations,
    availability,
    calendar,
    feed,
    floatingips,
    hosts,
    leases,
    maintenances,
    properties,
    quotes,
    series,
    usage,
    versions,
)
from lease_scheduler.api.microversions import Version
from lease_scheduler.api.request import Handler
from lease_scheduler.api.schemas import allocations as allocation_schemas
from lease_scheduler.api.schemas import availability as availability_schemas
from lease_scheduler.api.schemas import calendar as calendar_schemas
from lease_scheduler.api.schemas import floatingips as floatingip_schemas
from lease_scheduler.api.schemas import hosts as host_schemas
from lease_scheduler.api.schemas import leases as lease_schemas
from lease_scheduler.api.schemas import maintenances as maintenance_schemas
from lease_scheduler.api.schemas import properties as property_schemas
from lease_scheduler.api.schemas import quotes as quote_schemas
from lease_scheduler.api.schemas import series as series_schemas
from lease_scheduler.api.schemas import usage as usage_schemas
from lease_scheduler.api.schemas import versions as version_schemas
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import VersionedSchema

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class Route:
    """What is served at a path.

    :ivar path: with its variable parts in braces
    :ivar handler: serves it
    :ivar rule: who may use it, without the leading ``reservation:``; none for everybody
    :ivar code: the status of a good answer
    :ivar summary: what it does, for the description of the interface
    :ivar since: the microversion that brought it
    :ivar subject: the kind of object that the path names, if the rule is about that object's project
    :ivar shows_deleted: whether the object may be a deleted one without being asked for
    :ivar body: schema of the body, none if there is none
    :ivar liberal: brings bodies of Blazar's clients, who know no kinds of leases, into the form of the schema
    :ivar query: parameters in the query
    :ivar answer: schema of the good answer, none if it has no JSON body
    :ivar changes: whether it needs the engine
    """

    method: Method
    path: str
    handler: Handler
    rule: str | None
    code: int
    summary: str
    since: Version = mv.V1_0
    subject: Literal["lease", "series"] | None = None
    shows_deleted: bool = False
    body: VersionedSchema | None = None
    liberal: Callable[[Any], Any] | None = None
    query: tuple[Parameter, ...] = ()
    answer: VersionedSchema | None = None
    changes: bool = False
    content_type: str = "application/json"

    @property
    def name(self) -> str:
        """Its name: method and path."""
        return f"{self.method} {self.path}"


_VERSIONS = (
    Route("GET", "/", versions.list_versions, None, 300, "List versions", answer=version_schemas.several),
    Route("GET", "/versions", versions.list_versions, None, 300, "List versions", answer=version_schemas.several),
    Route("GET", "/v1", versions.show_version, None, 200, "Show the version", answer=version_schemas.one),
    Route("GET", "/v1/", versions.show_version, None, 200, "Show the version", answer=version_schemas.one),
    Route("GET", "/v1/openapi.json", versions.show_openapi, None, 200, "Describe the interface of this microversion"),
)

_LEASES = (
    Route(
        "GET",
        "/v1/leases",
        leases.list_leases,
        "leases:get",
        200,
        "List leases",
        query=lease_schemas.LIST_QUERY,
        answer=lease_schemas.several,
    ),
    Route(
        "POST",
        "/v1/leases",
        leases.create_lease,
        "leases:post",
        201,
        "Create a lease",
        body=lease_schemas.create_with_id,
        liberal=liberal.creation,
        answer=lease_schemas.one,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/leases/{lease_id}",
        leases.show,
        "leases:get",
        200,
        "Show a lease",
        subject="lease",
        query=lease_schemas.SHOW_QUERY,
        answer=lease_schemas.one,
    ),
    Route(
        "PUT",
        "/v1/leases/{lease_id}",
        leases.update_lease,
        "leases:put",
        200,
        "Change a lease",
        subject="lease",
        body=lease_schemas.update,
        liberal=liberal.change,
        answer=lease_schemas.one,
        changes=True,
    ),
    Route(
        "DELETE",
        "/v1/leases/{lease_id}",
        leases.delete_lease,
        "leases:delete",
        204,
        "Delete a lease",
        subject="lease",
        changes=True,
    ),
    Route(
        "GET",
        "/v1/leases/{lease_id}/history",
        leases.show_history,
        "leases:get_history",
        200,
        "Show every transition of a lease",
        since=mv.V1_4,
        subject="lease",
        shows_deleted=True,
        answer=lease_schemas.history,
    ),
    Route(
        "POST",
        "/v1/leases/{lease_id}/action",
        leases.act,
        "leases:action",
        200,
        "Extend, shrink, move, end or cancel a lease; accept or reject one that is held, or ask for another one",
        since=mv.V1_7,
        subject="lease",
        body=lease_schemas.action,
        answer=lease_schemas.one,
        changes=True,
    ),
    Route(
        "POST",
        "/v1/leases/{lease_id}/quote",
        quotes.quote_change,
        "leases:action",
        200,
        "Show what a change of a lease would come to, and what it would cost",
        since=mv.V1_15,
        subject="lease",
        body=quote_schemas.change,
        answer=quote_schemas.of_change,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/leases/{lease_id}/hosts",
        leases.list_hosts,
        "leases:get_hosts",
        200,
        "List the hosts of a lease",
        since=mv.V1_7,
        subject="lease",
        answer=lease_schemas.hosts,
    ),
    Route(
        "GET",
        "/v1/leases.ics",
        feed.show,
        "feed:get",
        200,
        "Leases as an iCalendar feed",
        since=mv.V1_11,
        content_type="text/calendar",
    ),
)

_HOSTS = (
    Route("GET", "/v1/os-hosts", hosts.list_hosts, "oshosts:get", 200, "List hosts", answer=host_schemas.several),
    Route(
        "POST",
        "/v1/os-hosts",
        hosts.create_host,
        "oshosts:post",
        201,
        "Take a host into the pool",
        body=host_schemas.create,
        answer=host_schemas.one,
        changes=True,
    ),
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
        "/v1/os-hosts/properties",
        properties.list_properties,
        "oshosts:get_resource_properties",
        200,
        "List properties of hosts",
        query=property_schemas.QUERY,
        answer=property_schemas.several,
    ),
    Route(
        "PATCH",
        "/v1/os-hosts/properties/{property_name}",
        properties.update_property,
        "oshosts:update_resource_properties",
        200,
        "Make a property public or private",
        body=property_schemas.update,
        answer=property_schemas.one,
        changes=True,
    ),
    Route("GET", "/v1/os-hosts/{host_id}", hosts.show, "oshosts:get", 200, "Show a host", answer=host_schemas.one),
    Route(
        "PUT",
        "/v1/os-hosts/{host_id}",
        hosts.update_host,
        "oshosts:put",
        200,
        "Change the capabilities of a host",
        body=host_schemas.update,
        answer=host_schemas.one,
        changes=True,
    ),
    Route(
        "DELETE",
        "/v1/os-hosts/{host_id}",
        hosts.delete_host,
        "oshosts:delete",
        204,
        "Take a host out of the pool",
        changes=True,
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

_FLOATING_IPS = (
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
        "Take a floating IP address into the pool",
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
        "Take a floating IP address out of the pool",
        changes=True,
    ),
)

_PLANNING = (
    Route(
        "GET",
        "/v1/availability",
        availability.show,
        "availability:get",
        200,
        "Show when nodes are free",
        since=mv.V1_5,
        query=availability_schemas.QUERY,
        answer=availability_schemas.one,
        changes=True,
    ),
    Route(
        "POST",
        "/v1/quotes",
        quotes.create_quote,
        "quotes:post",
        200,
        "Show what a lease would come to, or hold it",
        since=mv.V1_6,
        body=quote_schemas.create,
        answer=quote_schemas.one,
        changes=True,
    ),
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
    Route(
        "GET",
        "/v1/series",
        series.list_series,
        "series:get",
        200,
        "List series",
        since=mv.V1_9,
        answer=series_schemas.several,
    ),
    Route(
        "POST",
        "/v1/series",
        series.create_series,
        "series:post",
        201,
        "Create leases that repeat",
        since=mv.V1_9,
        body=series_schemas.create,
        answer=series_schemas.created,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/series/{series_id}",
        series.show,
        "series:get",
        200,
        "Show a series",
        since=mv.V1_9,
        subject="series",
        answer=series_schemas.one,
    ),
    Route(
        "DELETE",
        "/v1/series/{series_id}",
        series.delete_series,
        "series:delete",
        204,
        "End a series",
        since=mv.V1_9,
        subject="series",
        changes=True,
    ),
)

_REPORTS = (
    Route(
        "GET",
        "/v1/usage",
        usage.show,
        "usage:get",
        200,
        "Show node-hours and resource-hours, and what was earned",
        since=mv.V1_10,
        query=usage_schemas.QUERY,
        answer=usage_schemas.several,
    ),
    Route(
        "GET",
        "/v1/calendar",
        calendar.show,
        "calendar:get",
        200,
        "Show hosts and leases for the calendar page",
        since=mv.V1_1,
        query=calendar_schemas.QUERY,
        answer=calendar_schemas.one,
    ),
)

ROUTES: tuple[Route, ...] = (*_VERSIONS, *_LEASES, *_HOSTS, *_FLOATING_IPS, *_PLANNING, *_REPORTS)
