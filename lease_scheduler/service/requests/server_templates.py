"""Checks of the server templates of a lease, so that a mistake is found at the request rather than at the start."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

from lease_scheduler.cloud.facts import ImageFacts
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB
from lease_scheduler.records.documents import ReservationRecord


def check_servers(servers: Sequence[Mapping[str, Any]], nodes: Sequence[NodeSet]) -> None:
    """Refuse templates for which there are no nodes, that have nothing to boot from, or that share a volume.

    :param servers: templates as the project gave them
    :param nodes: node sets of the lease, with the maximum number of nodes that it may get
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
        # Without a count, a template makes as many servers as its node set has left.
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


_MB_PER_GB = 1024

#: Resource class -> key of it in a reservation of Blazar's API.
_KEYS = {MEMORY_MB: "memory_mb", DISK_GB: "disk_gb"}


def check_bootable(
    servers: Sequence[Mapping[str, Any]], nodes: Sequence[NodeSet], reservations: Sequence[ReservationRecord]
) -> None:
    """Refuse templates of servers that Nova would not boot with the resources of their nodes.

    :param servers: templates that fit the nodes
    :param reservations: reservations of the lease; their node sets are in the same order
    :raises InvalidValueError: naming what is missing
    """
    owners = [(position, record) for position, record in enumerate(reservations) for _ in range(record.node_sets)]
    for position, server in enumerate(servers):
        number = server.get("node_set", 0)
        needed = {MEMORY_MB: "a server needs memory"}
        if not server.get("volume"):
            needed[DISK_GB] = "a server that boots from an image needs a disk; give one, or volume.size_gb"
        for name, why in needed.items():
            if not nodes[number].resources.get(name):
                raise InvalidValueError(_field(name, *owners[number]), f"is missing for servers[{position}]: {why}")


def check_images(
    servers: Sequence[Mapping[str, Any]],
    nodes: Sequence[NodeSet],
    reservations: Sequence[ReservationRecord],
    facts_of: Callable[[str], ImageFacts],
) -> None:
    """Refuse servers whose images need more than their nodes have. Nova would refuse them at the start.

    :param servers: see ``check_bootable``
    :param facts_of: returns what is known of an image
    :raises InvalidValueError: naming what is too small
    """
    owners = [(position, record) for position, record in enumerate(reservations) for _ in range(record.node_sets)]
    for position, server in enumerate(servers):
        image_id = server.get("image_id")
        if image_id is None:
            continue
        number, facts = server.get("node_set", 0), facts_of(image_id)
        node_set = nodes[number]
        has = {name: node_set.resources.get(name, 0) // node_set.servers_per_vm for name in (MEMORY_MB, DISK_GB)}
        fields = {name: _field(name, *owners[number]) for name in has}
        if server.get("volume"):
            has[DISK_GB], fields[DISK_GB] = server["volume"]["size_gb"], f"servers[{position}].volume.size_gb"
        needed = {MEMORY_MB: facts.min_memory_mb, DISK_GB: max(facts.min_disk_gb, ceil(facts.stored_mb / _MB_PER_GB))}
        for name, least in needed.items():
            if has[name] < least:
                unit = "MB" if name == MEMORY_MB else "GB"
                what = f"image {image_id} of servers[{position}] needs {least} {unit}, and {has[name]} {unit} is given"
                raise InvalidValueError(fields[name], f"is too small: {what}; give at least {least} per server")


def check_images_exist(
    servers: Sequence[Mapping[str, Any]], project_id: str, facts_of: Callable[[str], ImageFacts]
) -> None:
    """Refuse servers of a new lease whose images do not exist. A private image of another project counts as missing.

    :param project_id: project of the lease
    :param facts_of: returns what is known of an image
    :raises InvalidValueError: naming the template
    """
    for position, server in enumerate(servers):
        image_id = server.get("image_id")
        if image_id is not None and not facts_of(image_id).is_for(project_id):
            raise InvalidValueError(
                f"servers[{position}].image_id",
                f"there is no image {image_id}; openstack image list shows those that exist",
            )


def _field(resource_class: str, position: int, record: ReservationRecord) -> str:
    """Return the name of the field in which the client gave the amount of a resource."""
    if "nodes" in record.terms:
        return f"nodes[{position}].resources.{resource_class}"
    key = "flavor_id" if record.resource_type == "flavor:instance" else _KEYS[resource_class]
    return f"reservations[{position}].{key}"


def _volume_id(server: Mapping[str, Any], field: str) -> str | None:
    """Return the id of the existing volume from which a server boots, or None.

    :raises InvalidValueError: the template gives too many or too few sources to boot from
    """
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
