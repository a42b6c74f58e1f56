"""How things of a lease are called in Nova and Placement: the same name for the same thing, always.

Ids are made from names (UUID, version 5), so that nobody has to remember what was made. Things that Blazar's clients
look for are called as Blazar calls them, by the reservation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, uuid5

_NAMESPACE = uuid5(NAMESPACE_URL, "lease-scheduler")
_PREFIX = "lease-"

#: How the names of aggregates begin that are there only while an image is brought to their hosts.
PRECACHE = "lease-precache-"

#: Resource class that a provider configuration file adds to every compute host, so that Nova asks each host for
#: something even if a flavor needs nothing but a slot.
ANCHOR = "CUSTOM_LEASE_ANCHOR"

#: Extra specs of the flavor of a reservation: Nova's filter for them looks for the same in the metadata of aggregates.
FLAVOR_RESERVATION = "aggregate_instance_extra_specs:reservation"
AFFINITY = "affinity_id"

_RESERVATION = "reservation:"

_SLOTS = "-lease-slots"

_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_AGGREGATE = re.compile(f"{_PREFIX}({_ID})(?:-shared)?")
_FLAVOR = re.compile(f"{_PREFIX}({_ID})-([0-9]+)")
_SLOT_CLASS = re.compile("CUSTOM_LEASE_([0-9A-F]{8}(?:_[0-9A-F]{4}){3}_[0-9A-F]{12})_[0-9]+")


@dataclass(frozen=True)
class Labels:
    """How the flavor and the slots of a node set are called.

    :ivar extra_specs: of the flavor, beside those that every flavor of a lease has
    """

    flavor_id: str
    flavor: str
    slot_class: str
    extra_specs: Mapping[str, str] = field(default_factory=dict)


def aggregate(lease_id: str, *, exclusive: bool) -> str:
    """Name of the host aggregate of a lease: of the hosts that it has for itself, or of those that it shares."""
    return f"{_PREFIX}{lease_id}" if exclusive else f"{_PREFIX}{lease_id}-shared"


def precache(image_id: str) -> str:
    """Name of the host aggregate by which an image is brought to the caches of hosts; there is one for a while."""
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
    """Return the lease for whose slots this resource class is, or None."""
    found = _SLOT_CLASS.fullmatch(name)
    return None if found is None else found[1].replace("_", "-").lower()


def tag(lease_id: str) -> str:
    """Tag of the servers of a lease."""
    return f"lease:{lease_id}"


def lease_of_tag(text: str) -> str | None:
    """The lease of a tag of a server, none if it is none of ours."""
    return text.removeprefix("lease:") if text.startswith("lease:") else None


def labels(lease_id: str, number: int) -> Labels:
    """Of one node set of a lease."""
    return Labels(flavor_id(lease_id, number), flavor(lease_id, number), slot_class(lease_id, number))


def slot_class(lease_id: str, number: int) -> str:
    """Resource class of the slots for one node set of a lease."""
    return f"CUSTOM_LEASE_{lease_id.replace('-', '_').upper()}_{number}"


def flavor(lease_id: str, number: int) -> str:
    """Name of the private flavor of one node set of a lease."""
    return f"{_PREFIX}{lease_id}-{number}"


def flavor_id(lease_id: str, number: int) -> str:
    """Id of the private flavor of one node set of a lease."""
    return str(uuid5(_NAMESPACE, f"flavor {lease_id} {number}"))


def consumer(lease_id: str, number: int) -> str:
    """Id of the consumer that holds the capacity of one VM of a lease.

    Not one for all on a host: Placement gives a consumer at most what a single server may have.
    """
    return str(uuid5(_NAMESPACE, f"consumer {lease_id} {number}"))


def slots_provider(host: str) -> str:
    """Name of the child provider with the slots of all leases on a host."""
    return f"{host}{_SLOTS}"


def host_of_slots_provider(name: str, its_id: str) -> str | None:
    """Return the host whose slots a provider of this name and id has, or None."""
    host = name.removesuffix(_SLOTS)
    return host if host != name and slots_provider_id(host) == its_id else None


def slots_provider_id(host: str) -> str:
    """Id of the child provider with the slots of all leases on a host.

    It stays when the leases are over: nova-compute remembers the children of its provider, and does nothing right any
    more for some minutes after one of them is gone.
    """
    return str(uuid5(_NAMESPACE, f"slots {host}"))


# -- as Blazar calls them; its aggregates have the id of the reservation as their name ---------------------------


def reservation_labels(reservation_id: str, server_group_id: str | None = None) -> Labels:
    """Of the instances of a reservation. The flavor has the reservation's id.

    :param server_group_id: none if it does not matter on which hosts they are
    """
    extra_specs = {FLAVOR_RESERVATION: reservation_id}
    if server_group_id is not None:
        extra_specs[AFFINITY] = server_group_id
    return Labels(reservation_id, reservation(reservation_id), reservation_class(reservation_id), extra_specs)


def reservation(reservation_id: str) -> str:
    """Name of the flavor and of the server group of a reservation."""
    return f"{_RESERVATION}{reservation_id}"


def reservation_of(name: str) -> str | None:
    """Return the reservation whose flavor or server group has this name, or None."""
    return name.removeprefix(_RESERVATION) if name.startswith(_RESERVATION) else None


def reservation_class(reservation_id: str) -> str:
    """Resource class of the slots of a reservation."""
    return f"CUSTOM_RESERVATION_{reservation_id.replace('-', '_').upper()}"


def zone(reservation_id: str) -> str:
    """Availability zone of the hosts of a reservation."""
    return f"blazar_{reservation_id}"
