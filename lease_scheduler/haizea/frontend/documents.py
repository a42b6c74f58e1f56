"""Translation of Haizea's leases to bodies of the REST API, and of its answers to Haizea's leases and hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from lease_scheduler.haizea.frontend import lease_xml
from lease_scheduler.haizea.frontend.lease_xml import WrittenLease, clean
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import DISK_GB, FLOATING_IP, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.formats.times import format_moment

#: Haizea measures disks in MB, OpenStack in GB.
_DISK = "Disk"
_MB_IN_GB = 1_024

#: Extras of a lease that hold the terms of Haizea for which the REST API has no field.
_USER = "haizea:user"
_IMAGE = "haizea:image"
_IMAGE_SIZE = "haizea:image-size"
_OWN_EXTRAS = frozenset({_USER, _IMAGE, _IMAGE_SIZE})

_DIGITS = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True)
class Translation:
    """Parameters of the translation of Haizea's terms.

    :ivar cpu_units: units of Haizea's CPU in one VCPU: 100 if a VCPU is a core, 1 if it is a hundredth of a core
    :ivar preemption_mode: preemption mode of a preemptible lease that does not name one
    :ivar boot_images: whether the service boots servers from the disk images of leases
    """

    cpu_units: int = 100
    preemption_mode: str = "shelve"
    boot_images: bool = False


def body_of(request: LeaseRequest, says_mode: bool, translation: Translation) -> Document:
    """Return the body of the REST request for a lease.

    :param says_mode: whether the request names its preemption mode
    :raises InvalidValueError: the service does not know a resource, or a date is beyond the year 9999
    """
    name = f"haizea-{request.kind.value}"
    body: Document = {
        "name": name,
        "kind": request.kind.value,
        "nodes": [_node_set(nodes, translation) for nodes in request.nodes],
        "duration": request.duration,
        "preemptible": request.preemptible,
        "extras": _extras(request),
    }
    if request.preemptible:
        body["preemption_mode"] = request.preemption_mode.value if says_mode else translation.preemption_mode
    if request.start is not None:
        body["start_date"] = _date(request.start, "<exact time>")
    if request.deadline is not None:
        body["deadline"] = _date(request.deadline, "<deadline time>")
    if translation.boot_images and request.software is not None:
        body["servers"] = [
            {"name": name, "image_id": request.software.image_id, "count": nodes.count, "node_set": number}
            for number, nodes in enumerate(request.nodes)
        ]
        for each in body["nodes"]:
            # Nova boots an image only with a disk, which Haizea's leases may omit.
            each["resources"].setdefault(DISK_GB, max(1, -(-request.software.size_mb // _MB_IN_GB)))
    return body


def _node_set(nodes: NodeSet, translation: Translation) -> Document:
    resources: dict[str, int] = {}
    for name, amount in nodes.resources.items():
        if name == VCPU:
            resources[VCPU] = -(-amount // translation.cpu_units)
        elif name == _DISK:
            resources[DISK_GB] = -(-amount // _MB_IN_GB)
        elif name.isupper():
            resources[name] = amount
        else:
            raise InvalidValueError(
                "<res type>",
                f"{name!r} is unknown to the service; known are CPU, Memory, Disk and OpenStack's resource classes",
            )
    return {"count": nodes.count, "resources": resources, "traits": sorted(nodes.required_traits)}


def _extras(request: LeaseRequest) -> dict[str, str]:
    extras = {name: value for name, value in request.extras.items() if name not in _OWN_EXTRAS}
    if request.user is not None:
        extras[_USER] = request.user
    if request.software is not None:
        extras |= {_IMAGE: request.software.image_id, _IMAGE_SIZE: str(request.software.size_mb)}
    return extras


def written_lease(shown: Mapping[str, Any], translation: Translation) -> WrittenLease:
    """Return a lease of the REST API in Haizea's terms."""
    kind = LeaseKind(shown["kind"])
    asked = _instant(shown["earliest_start"])
    start = None
    if kind is LeaseKind.RESERVATION:
        start = asked if asked is not None else _instant(shown["start_date"])
    elif kind is LeaseKind.DEADLINE:
        # As in a request, the default of the start is the submission.
        start = asked if asked is not None else _instant(shown["submitted_at"])
    extras: dict[str, str] = shown["extras"]
    size = extras.get(_IMAGE_SIZE, "")
    image = DiskImage(clean(extras[_IMAGE]), int(size)) if _IMAGE in extras and _DIGITS.fullmatch(size) else None
    user = extras.get(_USER)
    kept = extras | _status(shown)
    return WrittenLease(
        kind=kind,
        nodes=_all_nodes(shown, translation),
        preemptible=shown["preemptible"],
        duration=UNLIMITED if shown["duration"] is None else shown["duration"],
        start=start,
        deadline=_instant(shown["deadline"]),
        software=image,
        extras={clean(name): clean(value) for name, value in kept.items() if name not in _OWN_EXTRAS},
        number=shown["number"],
        user=None if user is None else clean(user),
        state=LeaseState(shown["state"]),
        submitted=_instant(shown["submitted_at"]),
        preemption_mode=shown["preemption_mode"],
    )


def _all_nodes(shown: Mapping[str, Any], translation: Translation) -> tuple[NodeSet, ...]:
    """Return the nodes of a lease; for a range of nodes, the actual number if the answer shows the hosts."""
    asked = [_nodes(each, translation) for each in shown["reservations"]]
    ranges = [number for number, each in enumerate(shown["reservations"]) if each.get("min") != each.get("max")]
    hosts = next((held["hosts"] for held in shown.get("holdings") or () if "hosts" in held), None)
    if hosts is not None and len(ranges) == 1:
        others = sum(each.count for number, each in enumerate(asked) if number not in ranges)
        asked[ranges[0]] = replace(asked[ranges[0]], count=max(1, len(hosts) - others))
    return tuple(asked)


def _nodes(reservation: Mapping[str, Any], translation: Translation) -> NodeSet:
    """Return the nodes of a Blazar reservation; whole hosts and floating IPs, unknown to Haizea, are one node each."""
    resources = dict(reservation.get("resources") or {})
    count = reservation.get("amount") or reservation.get("min") or 1
    if reservation["resource_type"] == "virtual:floatingip":
        resources = {FLOATING_IP: 1}
    elif not resources:
        sizes = {key: reservation.get(name) for key, name in _SIZES.items()}
        resources = {key: amount for key, amount in sizes.items() if amount} or {HOST_SHARE: WHOLE_HOST}
    if VCPU in resources:
        resources[VCPU] *= translation.cpu_units
    if DISK_GB in resources:
        resources[_DISK] = resources.pop(DISK_GB) * _MB_IN_GB
    return NodeSet(count, Resources(resources), frozenset(reservation.get("traits") or ()))


#: Resource class -> key in an instance reservation of a Blazar client.
_SIZES = {VCPU: "vcpus", MEMORY_MB: "memory_mb", DISK_GB: "disk_gb"}


def _status(shown: Mapping[str, Any]) -> dict[str, str]:
    """Return the status of a lease as extras; dates that are not known yet are left out."""
    dates = {
        lease_xml.PLANNED_START: shown["start_date"],
        lease_xml.PLANNED_END: shown["end_date"],
        lease_xml.STARTED: shown["started_at"],
        lease_xml.ENDED: shown["ended_at"],
    }
    found = {lease_xml.UUID: str(shown["id"])}
    found |= {name: format_moment(instant) for name, text in dates.items() if (instant := _instant(text)) is not None}
    found[lease_xml.ACCUMULATED] = str(shown["accumulated"])
    if shown["reason"]:
        found[lease_xml.REASON] = shown["reason"]
    return found


def host_of(shown: Mapping[str, Any], translation: Translation) -> Document:
    """Return a host as in Haizea's lists: ``id`` (int), ``hostname``, ``cpu`` (100 is one core) and ``mem`` (MB)."""
    return {
        "id": int(shown["id"]),
        "hostname": str(shown["hypervisor_hostname"]),
        "cpu": int(shown["vcpus"]) * translation.cpu_units,
        "mem": int(shown["memory_mb"]),
    }


def _date(instant: int, field: str) -> str:
    try:
        return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        raise InvalidValueError(field, "lies beyond the year 9999") from None


def _instant(text: str | None) -> int | None:
    """Return the seconds since the epoch of a date of the REST API, or None."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
