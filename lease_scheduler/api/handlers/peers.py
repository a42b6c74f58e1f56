"""Peers: other sites and gateways that request leases here, with their limits and what they have."""

from __future__ import annotations

from lease_scheduler.api.errors import not_found
from lease_scheduler.api.microversions import V1_50
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document


def list_peers(request: ApiRequest) -> Answer:
    """List the peers that have limits or leases."""
    return Answer({"peers": _peers(request)})


def show(request: ApiRequest) -> Answer:
    """Show a peer."""
    return Answer({"peer": _peer(request)})


def set_limits(request: ApiRequest) -> Answer:
    """Set the limits of a peer, all at once: what is left out is no limit any more."""
    request.engine.set_peer(request.context(), request.arguments["peer"], request.body)
    return Answer({"peer": _peer(request)})


def delete_limits(request: ApiRequest) -> Answer:
    """Remove the limits of a peer."""
    _peer(request)
    request.engine.set_peer(request.context(), request.arguments["peer"], None)
    return Answer()


def _peers(request: ApiRequest) -> list[Document]:
    found: list[Document] = request.engine.list_peers(request.context())["peers"]
    return [
        {
            **peer,
            "limits": {
                key: each for key, each in peer["limits"].items() if key != "projects" or request.version >= V1_50
            },
            "share": round(peer["share"], 6),
            "node_hours": round(peer["node_hours"], 3),
        }
        for peer in found
    ]


def _peer(request: ApiRequest) -> Document:
    name = request.arguments["peer"]
    found = next((peer for peer in _peers(request) if peer["name"] == name), None)
    if found is None:
        raise not_found(peer=name)
    return found
