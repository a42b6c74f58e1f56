"""Names and ids of the things of a lease in Nova and Placement. The same thing always has the same name.

Ids are derived from names (UUID version 5), so a thing is found again without any stored state. Things that Blazar's
clients look for have Blazar's names, which are made from the id of the reservation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, uuid5

_NAMESPACE = uuid5(NAMESPACE_URL, "lease-scheduler")
_PREFIX = "lease-"

#: Prefix of the names of temporary aggregates whose hosts fetch an image.
PRECACHE = "lease-precache-"

#: Resource class that a provider configuration file adds to every compute host, because Nova must request something
#: from the host's own provider, even for a flavor that needs only a slot.
ANCHOR = "CUSTOM_LEASE_ANCHOR"

#: Extra specs of the flavor of a reservation, which a filter in Nova compares with the metadata of aggregates.
FLAVOR_RESERVATION = "aggregate_instance_extra_specs:reservation"
AFFINITY = "affinity_id"

_RESERVATION = "reservation:"

_SLOTS = "-lease-slots"

_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_AGGREGATE = re.compile(f"{_PREFIX}({_ID})(?:-shared)?")
_FLAVOR = re.compile(f"{_PREFIX}({_ID})-([0-9]+)")
_ID_IN_CLASS = "[0-9A-F]{8}(?:_[0-9A-F]{4}){3}_[0-9A-F]{12}"
_SLOT_CLASS = re.compile(f"CUSTOM_LEASE_({_ID_IN_CLASS})_([0-9]+)")
_RESERVATION_CLASS = re.compile(f"CUSTOM_RESERVATION_({_ID_IN_CLASS})")


@dataclass(frozen=True)
class Labels:
    """Names of the flavor and of the slots of a node set.

    :ivar flavor_id: id of the flavor
    :ivar flavor: name of the flavor
    :ivar slot_class: resource class of the slots
    :ivar extra_specs: extra specs of the flavor, apart from those that every flavor of a lease has
    """

    flavor_id: str
    flavor: str
    slot_class: str
    extra_specs: Mapping[str, str] = field(default_factory=dict)


def aggregate(lease_id: str, *, exclusive: bool) -> str:
    """Return the name of the aggregate of a lease, for the hosts that it has for itself or for those that it shares."""
    return f"{_PREFIX}{lease_id}" if exclusive else f"{_PREFIX}{lease_id}-shared"


def precache(image_id: str) -> str:
    """Return the name of the temporary aggregate whose hosts fetch an image."""
    return f"{PRECACHE}{image_id}"


def lease_of_aggregate(name: str) -> str | None:
    """Return the lease whose host aggregate has this name, or None."""
    found = _AGGREGATE.fullmatch(name)
    return None if found is None else found[1]


def lease_of_flavor(name: str, its_id: str) -> str | None:
    """Return the lease whose private flavor has this name and this id, or None."""
    found = _FLAVOR.fullmatch(name)
    return found[1] if found is not None and flavor_id(found[1], int(found[2])) == its_id else None


def lease_of_slot_class(name: str) -> str | None:
    """Return the lease whose slots have this resource class, or None."""
    found = _SLOT_CLASS.fullmatch(name)
    return None if found is None else _id(found[1])


def flavor_of_slot_class(name: str) -> str | None:
    """Return the id of the flavor whose servers take slots of this resource class, or None if it is no such class."""
    found = _SLOT_CLASS.fullmatch(name)
    if found is not None:
        return flavor_id(_id(found[1]), int(found[2]))
    found = _RESERVATION_CLASS.fullmatch(name)
    return None if found is None else _id(found[1])


def _id(in_class: str) -> str:
    return in_class.replace("_", "-").lower()


def tag(lease_id: str) -> str:
    """Return the tag of the servers of a lease."""
    return f"lease:{lease_id}"


def lease_of_tag(text: str) -> str | None:
    """Return the lease that a tag of a server names, or None if the tag is not ours."""
    return text.removeprefix("lease:") if text.startswith("lease:") else None


def labels(lease_id: str, number: int) -> Labels:
    """Return the names of flavor and slots of one node set of a lease."""
    return Labels(flavor_id(lease_id, number), flavor(lease_id, number), slot_class(lease_id, number))


def slot_class(lease_id: str, number: int) -> str:
    """Return the resource class of the slots of one node set of a lease."""
    return f"CUSTOM_LEASE_{lease_id.replace('-', '_').upper()}_{number}"


def flavor(lease_id: str, number: int) -> str:
    """Return the name of the private flavor of one node set of a lease."""
    return f"{_PREFIX}{lease_id}-{number}"


def flavor_id(lease_id: str, number: int) -> str:
    """Return the id of the private flavor of one node set of a lease."""
    return str(uuid5(_NAMESPACE, f"flavor {lease_id} {number}"))


def consumer(lease_id: str, number: int) -> str:
    """Return the id of the consumer that holds the capacity of one node of a lease.

    Each node has its own consumer, because Placement gives a consumer at most what a single server may have.
    """
    return str(uuid5(_NAMESPACE, f"consumer {lease_id} {number}"))


def slots_provider(host: str) -> str:
    """Return the name of the child provider with the slots of all leases on a host."""
    return f"{host}{_SLOTS}"


def host_of_slots_provider(name: str, its_id: str) -> str | None:
    """Return the host whose slots belong to the provider with this name and id, or None."""
    host = name.removesuffix(_SLOTS)
    return host if host != name and slots_provider_id(host) == its_id else None


def slots_provider_id(host: str) -> str:
    """Return the id of the child provider with the slots of all leases on a host.

    The provider stays when the leases are over, because nova-compute remembers the children of its own provider, and
    fails for some minutes after one of them was removed.
    """
    return str(uuid5(_NAMESPACE, f"slots {host}"))


# -- Blazar's names; its aggregates have the id of the reservation as their name ---------------------------------


def reservation_labels(reservation_id: str, server_group_id: str | None = None) -> Labels:
    """Return the names of flavor and slots of an instance reservation. The flavor has the id of the reservation.

    :param server_group_id: None if the reservation states no affinity
    """
    extra_specs = {FLAVOR_RESERVATION: reservation_id}
    if server_group_id is not None:
        extra_specs[AFFINITY] = server_group_id
    return Labels(reservation_id, reservation(reservation_id), reservation_class(reservation_id), extra_specs)


def reservation(reservation_id: str) -> str:
    """Return the name of the flavor and of the server group of a reservation."""
    return f"{_RESERVATION}{reservation_id}"


def reservation_of(name: str) -> str | None:
    """Return the reservation whose flavor or server group has this name, or None."""
    return name.removeprefix(_RESERVATION) if name.startswith(_RESERVATION) else None


def reservation_class(reservation_id: str) -> str:
    """Return the resource class of the slots of a reservation."""
    return f"CUSTOM_RESERVATION_{reservation_id.replace('-', '_').upper()}"


def zone(reservation_id: str) -> str:
    """Return the availability zone of the hosts of a reservation."""
    return f"blazar_{reservation_id}"
