"""Compute hosts."""

from __future__ import annotations

from lease_scheduler.api.errors import ApiError, not_found
from lease_scheduler.api.microversions import V1_26
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.schemas.hosts import FACTS
from lease_scheduler.api.views.host import show_host
from lease_scheduler.model.documents import Document


def list_hosts(request: ApiRequest) -> Answer:
    """List all hosts."""
    return Answer({"hosts": [show_host(request, host) for host in request.reader.hosts()]})


def create_host(request: ApiRequest) -> Answer:
    """Add a host to the pool."""
    body = request.body
    if "name" not in body and "id" not in body:
        raise ApiError(403, "Invalid values for host: give its name", "name")
    values, pool = _without_pool(request)
    made = request.engine.create_host(request.context(), values, **pool)
    return Answer({"host": _shown_by_id(request, str(made["host_id"]))})


def show(request: ApiRequest) -> Answer:
    """Show one host."""
    return Answer({"host": show_host(request, host_named(request))})


def update_host(request: ApiRequest) -> Answer:
    """Set and remove capabilities of a host."""
    host = host_named(request)
    values, pool = _without_pool(request)
    for key in values:
        if key in FACTS or key == "name":
            raise ApiError(400, f"{key}: is a fact of the host, not a capability; it cannot be set", key)
    request.engine.update_host(request.context(), str(host["id"]), values, **pool)
    return Answer({"host": _shown_by_id(request, str(host["id"]))})


def delete_host(request: ApiRequest) -> Answer:
    """Remove a host from the pool."""
    request.engine.delete_host(request.context(), str(host_named(request)["id"]))
    return Answer()


def act(request: ApiRequest) -> Answer:
    """Let a host sleep, or wake it."""
    host_id = str(host_named(request)["id"])
    if "sleep" in request.body:
        request.engine.sleep_host(request.context(), host_id)
    else:
        request.engine.wake_host(request.context(), host_id)
    return Answer({"host": _shown_by_id(request, host_id)})


def host_named(request: ApiRequest) -> Document:
    """Return the host that the path names.

    :raises ApiError: 404, there is no such host
    """
    host_id = request.arguments["host_id"]
    host = request.reader.host(host_id) if host_id.isascii() and host_id.isdigit() and len(host_id) <= 9 else None
    if host is None:
        raise not_found(host_id=host_id)
    return host


def _without_pool(request: ApiRequest) -> tuple[Document, dict[str, str]]:
    """Return the body, and the pool that it names. Before microversion 1.26, ``pool`` is a capability."""
    values = dict(request.body)
    if request.version < V1_26 or "pool" not in values:
        return values, {}
    return values, {"pool": values.pop("pool")}


def _shown_by_id(request: ApiRequest, host_id: str) -> Document:
    host = request.reader.host(host_id)
    if host is None:
        raise not_found(host_id=host_id)
    return show_host(request, host)
