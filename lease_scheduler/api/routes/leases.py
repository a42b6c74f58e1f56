"""Leases."""

from __future__ import annotations

from lease_scheduler.api import liberal
from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import leases, names
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import leases as lease_schemas
from lease_scheduler.api.schemas import names as name_schemas

ROUTES = (
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
        "GET",
        "/v1/leases/{lease_id}/names",
        names.of_lease,
        "leases:get_names",
        200,
        "Show the names of the project of a lease and of the users in it and in its history",
        since=mv.V1_40,
        subject="lease",
        shows_deleted=True,
        answer=name_schemas.of_lease,
    ),
    Route(
        "POST",
        "/v1/leases/{lease_id}/action",
        leases.act,
        "leases:action",
        200,
        "Extend, shrink, move, end or cancel a lease; accept or reject a held lease, or ask for other terms; approve "
        "or decline a lease",
        action_rules={"approve": "leases:approve", "decline": "leases:approve"},
        since=mv.V1_7,
        subject="lease",
        body=lease_schemas.action,
        answer=lease_schemas.one,
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
)
