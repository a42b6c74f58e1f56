"""Whether the server templates of a lease make sense; its consumer is told when he asks, and not at its start."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import NodeSet


def check_servers(servers: Sequence[Mapping[str, Any]], nodes: Sequence[NodeSet]) -> None:
    """Refuse templates for which there are no nodes, that have nothing to boot from, or share a volume.

    :param servers: as the consumer gave them
    :param nodes: node sets of the lease, with the most nodes that it may get
    :raises InvalidValueError: naming the key
    """
    most = [node_set.count * node_set.servers_per_vm for node_set in nodes]
    left = Counter(dict(enumerate(most)))
    volumes = set()
    for position, server in enumerate(servers):
        field = f"servers[{position}]"
        number = server.get("node_set", 0)
        if number not in left:
            raise InvalidValueError(f"{field}.node_set", f"there is no node set {number}; they count from 0")
        # Without a count there are as many as there is room for.
        count = server.get("count", max(left[number], 1))
        if count > left[number]:
            had = f"node set {number} has room for {most[number]} servers, of which {left[number]} is left"
            raise InvalidValueError(f"{field}.count", f"{had} for these, not {count}")
        left[number] -= count
        volume_id = _volume_id(server, field)
        if volume_id is not None and (count > 1 or volume_id in volumes):
            raise InvalidValueError(f"{field}.volume.volume_id", "only one server can boot from a volume")
        volumes.add(volume_id)
        _check_user_data(server.get("user_data"), field)


def _volume_id(server: Mapping[str, Any], field: str) -> str | None:
    """The volume from which a server boots, if it is there already."""
    volume: Mapping[str, Any] = server.get("volume") or {}
    volume_id: str | None = volume.get("volume_id")
    if volume_id is None and "image_id" not in server:
        raise InvalidValueError(f"{field}.image_id", "is missing; only a server with volume.volume_id needs none")
    if volume_id is not None and "image_id" in server:
        raise InvalidValueError(f"{field}.image_id", "a server that boots from volume.volume_id has no image")
    if volume and (volume_id is None) == ("size_gb" not in volume):
        raise InvalidValueError(f"{field}.volume", "give either volume_id or size_gb of a new volume")
    return volume_id


def _check_user_data(user_data: str | None, field: str) -> None:
    try:
        base64.b64decode(user_data or "", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidValueError(f"{field}.user_data", f"must be base64, as in Nova: {error}") from error
