"""Peers: other sites and gateways that request leases here."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import peers
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import peers as peer_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/peers",
        peers.list_peers,
        "peers:get",
        200,
        "List peers, with their limits and what they have",
        since=mv.V1_46,
        answer=peer_schemas.several,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/peers/{peer}",
        peers.show,
        "peers:get",
        200,
        "Show a peer, with its limits and what it has",
        since=mv.V1_46,
        answer=peer_schemas.one,
        changes=True,
    ),
    Route(
        "PUT",
        "/v1/peers/{peer}",
        peers.set_limits,
        "peers:put",
        200,
        "Set the limits of a peer",
        since=mv.V1_46,
        body=peer_schemas.put,
        answer=peer_schemas.one,
        changes=True,
    ),
    Route(
        "DELETE",
        "/v1/peers/{peer}",
        peers.delete_limits,
        "peers:delete",
        204,
        "Remove the limits of a peer; its leases stay",
        since=mv.V1_46,
        changes=True,
    ),
)
