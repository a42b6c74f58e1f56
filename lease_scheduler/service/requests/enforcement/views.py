"""Leases as external services and plug-ins see them: Blazar's keys and dates, in values that fit into JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.records.attributes import ATTRIBUTES
from lease_scheduler.records.dates import blazar_date
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord

#: Our key -> Blazar's key of the same date.
_DATES = {"start": "start_date", "end": "end_date", "before_end": "before_end_date", "deadline": "deadline"}
_PLAIN = ("id", "kind", "duration", *(each.name for each in ATTRIBUTES if each.is_filtered))


def lease_body(lease: Document, allocations: Mapping[str, Sequence[Document]]) -> dict[str, Any]:
    """Return the view of a lease, or of changes to one, with only the keys that are given.

    :param lease: a lease document
    :param allocations: views of the hosts or addresses that each reservation holds, by its id
    """
    body: dict[str, Any] = {key: lease[key] for key in _PLAIN if key in lease}
    for ours, theirs in _DATES.items():
        if ours in lease:
            body[theirs] = None if lease[ours] is None else blazar_date(lease[ours])
    if "reservations" in lease:
        body["reservations"] = [
            {**reservation, "allocations": [dict(each) for each in allocations.get(reservation["id"], ())]}
            for reservation in lease["reservations"]
        ]
    return body


def host_view(host: HostRecord) -> dict[str, Any]:
    """Return the view of a host of a reservation."""
    return {
        **host.properties,
        "id": str(host.host_id),
        "hypervisor_hostname": host.name,
        "hypervisor_type": host.hypervisor_type,
        "hypervisor_version": host.hypervisor_version,
        "vcpus": host.vcpus,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        "cpu_info": host.cpu_info,
        "service_name": host.service_name,
        "availability_zone": host.availability_zone,
        "reservable": host.reservable,
    }


def address_view(address: FloatingIpRecord) -> dict[str, Any]:
    """Return the view of a floating IP of a reservation."""
    return {
        "id": address.floating_ip_id,
        "floating_ip_address": address.floating_ip_address,
        "floating_network_id": address.floating_network_id,
        "subnet_id": address.subnet_id,
        "reservable": address.reservable,
    }


def unit_views(
    unit_ids: Iterable[str], hosts: Mapping[int, HostRecord], addresses: Mapping[str, FloatingIpRecord]
) -> list[dict[str, Any]]:
    """Return the views of the hosts and addresses with these ids, each once."""
    found = []
    for unit_id in dict.fromkeys(unit_ids):
        if unit_id in addresses:
            found.append(address_view(addresses[unit_id]))
        elif unit_id.isdecimal() and int(unit_id) in hosts:
            found.append(host_view(hosts[int(unit_id)]))
    return found
