"""Compute hosts."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import hosts
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import hosts as host_schemas

ROUTES = (
    Route("GET", "/v1/os-hosts", hosts.list_hosts, "oshosts:get", 200, "List hosts", answer=host_schemas.several),
    Route(
        "POST",
        "/v1/os-hosts",
        hosts.create_host,
        "oshosts:post",
        201,
        "Add a host to the pool",
        body=host_schemas.create,
        answer=host_schemas.one,
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
        "Remove a host from the pool",
        changes=True,
    ),
    Route(
        "POST",
        "/v1/os-hosts/{host_id}/action",
        hosts.act,
        "oshosts:action",
        200,
        "Let a host sleep, or wake it",
        since=mv.V1_27,
        body=host_schemas.action,
        answer=host_schemas.one,
        changes=True,
    ),
)
