"""Floating IP addresses that can be reserved."""

from __future__ import annotations

from lease_scheduler.api.errors import not_found
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.reservation import check_address
from lease_scheduler.api.views.host import show_floatingip
from lease_scheduler.model.documents import Document


def list_floatingips(request: ApiRequest) -> Answer:
    """List all addresses."""
    return Answer({"floatingips": [show_floatingip(each, request.version) for each in request.reader.floatingips()]})


def create_floatingip(request: ApiRequest) -> Answer:
    """Add an address to the pool."""
    values = request.body
    check_address(values["floating_ip_address"], "floating_ip_address")
    made = request.engine.create_floatingip(request.context(), dict(values))
    return Answer({"floatingip": show_floatingip(_address(request, made["floatingip_id"]), request.version)})


def show(request: ApiRequest) -> Answer:
    """Show one address."""
    return Answer(
        {"floatingip": show_floatingip(_address(request, request.arguments["floatingip_id"]), request.version)}
    )


def delete_floatingip(request: ApiRequest) -> Answer:
    """Remove an address from the pool."""
    address = _address(request, request.arguments["floatingip_id"])
    request.engine.delete_floatingip(request.context(), address["id"])
    return Answer()


def _address(request: ApiRequest, floatingip_id: str) -> Document:
    address = request.reader.floatingip(floatingip_id)
    if address is None:
        raise not_found(floatingip_id=floatingip_id)
    return address
