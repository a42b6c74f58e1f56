"""Records of hosts: what the cloud reports of them, and the properties that operators set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.power import WATTS, check_watts
from lease_scheduler.model.property_query import keys, parse_query
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.records.pool import HostRecord

#: Maximum length of a property name, in characters, as in Blazar.
_LONGEST_NAME = 64

#: Facts of a host that come from the cloud; operators cannot set them.
_FACTS = frozenset(
    {
        "id",
        "hypervisor_hostname",
        "hypervisor_type",
        "hypervisor_version",
        "vcpus",
        "cpu_info",
        "memory_mb",
        "local_gb",
        "service_name",
        "availability_zone",
        "status",
        "trust_id",
        "created_at",
        "updated_at",
    }
)


def host_record(
    host_id: int, hypervisor: Hypervisor, properties: Mapping[str, str], now: int, trust_id: str | None
) -> HostRecord:
    """Return the record of a host as the cloud reports it.

    :param now: instant at which it joined the pool
    :param trust_id: the trust with which it was added, or None
    """
    return HostRecord(
        host_id=host_id,
        name=hypervisor.name,
        vcpus=hypervisor.vcpus,
        memory_mb=hypervisor.memory_mb,
        local_gb=hypervisor.local_gb,
        created_at=now,
        capacity={name: amount for name, amount in hypervisor.capacity.items() if name != HOST_SHARE},
        max_unit=hypervisor.max_unit,
        traits=hypervisor.traits,
        providers=hypervisor.providers,
        properties=properties,
        hypervisor_type=hypervisor.hypervisor_type,
        hypervisor_version=hypervisor.hypervisor_version,
        cpu_info=hypervisor.cpu_info,
        service_name=hypervisor.service_name or hypervisor.name,
        availability_zone=hypervisor.availability_zone,
        trust_id=trust_id,
    )


def properties_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties as text.

    :raises RefusedError: a name is too long, or belongs to a fact from the cloud
    """
    for name in values:
        if len(name) > _LONGEST_NAME:
            raise RefusedError(400, "Extra capability key too long", name)
        if name in _FACTS:
            raise RefusedError(409, f"{name} comes from the cloud and cannot be set", name)
    texts = {name: value if isinstance(value, str) else str(value) for name, value in values.items()}
    for name in texts.keys() & set(WATTS):
        try:
            check_watts(name, texts[name])
        except InvalidValueError as error:
            raise RefusedError(400, str(error), name) from error
    return texts


def properties_asked_for(terms: Mapping[str, Any]) -> frozenset[str]:
    """Return the properties by which hosts were chosen for a reservation."""
    texts = [terms.get("hypervisor_properties"), terms.get("resource_properties")]
    texts += [nodes.get("properties") for nodes in terms.get("nodes") or ()]
    try:
        return frozenset().union(*(keys(parse_query(text)) for text in texts if text))
    except InvalidValueError:
        return frozenset()


def is_true(value: Any) -> bool:
    """Return whether a value of a request means yes; clients send texts."""
    return value if isinstance(value, bool) else str(value).strip().lower() in ("1", "true", "yes", "on")
