"""What the reservation service reports about its hosts and their use. ``doc/source/api`` explains the attributes."""

from __future__ import annotations

from openstack import resource
from openstack.resource import Body

from lease_scheduler.sdk.base import ReservationResource


class Availability(ReservationResource):
    """When nodes are free."""

    resource_key = "availability"
    base_path = "/availability"
    allow_fetch = True

    _query_mapping = resource.QueryParameters(
        *("start", "end", "duration", "count", "vcpus", "memory_mb", "disk_gb", "resources", "traits", "properties"),
        *("groups", "exclusive", "per_host", "pool"),
        include_pagination_defaults=False,
    )

    windows = Body("windows", type=list, list_type=dict)
    earliest = Body("earliest")
    #: The same without preemption
    free = Body("free", type=dict)


class Usage(ReservationResource):
    """What projects used in a period."""

    base_path = "/usage"
    allow_fetch = True

    _query_mapping = resource.QueryParameters(
        *("project_id", "all_projects", "start", "end", "interval"), include_pagination_defaults=False
    )

    start = Body("start")
    end = Body("end")
    #: A dictionary for each project
    usage = Body("usage", type=list, list_type=dict)
    #: Seconds of a step, if steps were asked for
    interval = Body("interval", type=int)
    history = Body("history", type=list, list_type=dict)


class Events(ReservationResource):
    """What happened to leases after an event."""

    base_path = "/events"
    allow_fetch = True

    _query_mapping = resource.QueryParameters(
        *("since", "limit", "project_id", "all_projects"), include_pagination_defaults=False
    )

    #: ``sequence``, ``time``, ``lease_id``, ``project_id``, ``from``, ``to`` and ``reason`` of each
    events = Body("events", type=list, list_type=dict)
    #: Since of the next request
    next = Body("next", type=int)
    #: Whether there are more already
    more = Body("more", type=bool)


class SiteDescription(ReservationResource):
    """What the site is for gateways and other sites."""

    base_path = "/member"
    resource_key = "member"
    allow_fetch = True

    name = Body("name")
    #: Name that leases have as their origin if the caller requests them; None if the caller is no peer
    origin = Body("origin")
    #: What it can be asked to do
    verbs = Body("verbs", type=list)
    #: Work that it does in a second, relative to other sites with the same capacity
    speed = Body("speed", type=float)
    #: Amounts of the hosts in service by resource class; None if the caller may not see them, as is the load
    capacity = Body("capacity", type=dict)
    #: Arrivals of ``local`` and ``external`` requests: ``rate`` per second, ``work`` and ``squares`` by resource class
    load = Body("load", type=dict)


class Budget(ReservationResource):
    """What a project may still use in the present period, and in later ones in which it has leases."""

    base_path = "/budget"
    resource_key = "budget"
    allow_fetch = True

    _query_mapping = resource.QueryParameters("project_id", include_pagination_defaults=False)

    project_id = Body("project_id")
    #: For each period and measure ``start``, ``end``, ``measure``, and hours ``limit``, ``used``, ``reserved``,
    #: ``requested`` and ``left``; None if the site has no budgets
    lines = Body("lines", type=list, list_type=dict)


class Capacity(ReservationResource):
    """The number of hosts that the use of a period needs."""

    base_path = "/capacity"
    resource_key = "capacity"
    allow_fetch = True

    _query_mapping = resource.QueryParameters(
        "start", "end", "promises", "fewer_hosts", include_pagination_defaults=False
    )

    start = Body("start")
    end = Body("end")
    hosts = Body("hosts", type=int)
    #: Days and hours in which something was used
    days = Body("days", type=int)
    hours = Body("hours", type=int)
    #: Hosts in use, mean and maximum
    mean = Body("mean", type=float)
    highest = Body("highest", type=float)
    #: Share of these hours in which the site was full
    full = Body("full", type=float)
    #: A dictionary for each promise
    promises = Body("promises", type=list, list_type=dict)
    #: A dictionary for each pool and number of hosts to switch off
    least_yields = Body("least_yields", type=list, list_type=dict)


class Forecast(ReservationResource):
    """How often a forecast held."""

    base_path = "/forecasts"
    resources_key = "forecasts"
    allow_list = True

    #: start, duration, lifetime or demand
    name = Body("name")
    #: None if the site has only one pool
    pool = Body("pool")
    #: Share that should have held, and share that held; None if nothing was judged
    asked = Body("asked", type=float)
    held = Body("held", type=float)
    #: Number of forecasts that were judged
    count = Body("count", type=int)
    since = Body("since")
