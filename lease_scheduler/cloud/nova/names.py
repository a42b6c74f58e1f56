"""How things of a lease are called in Nova and Placement: the same name for the same thing, always.

Ids are made from names (UUID, version 5), so that nobody has to remember what was made.
"""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

_NAMESPACE = uuid5(NAMESPACE_URL, "lease-scheduler")
_PREFIX = "lease-"

#: Resource class that a provider configuration file adds to every compute host, so that Nova asks each host for
#: something even if a flavor needs nothing but a slot.
ANCHOR = "CUSTOM_LEASE_ANCHOR"


def aggregate(lease_id: str, *, exclusive: bool) -> str:
    """Name of the host aggregate of a lease: of the hosts that it has for itself, or of those that it shares."""
    return f"{_PREFIX}{lease_id}" if exclusive else f"{_PREFIX}{lease_id}-shared"


def tag(lease_id: str) -> str:
    """Tag of the servers of a lease."""
    return f"lease:{lease_id}"


def lease_of_tag(text: str) -> str | None:
    """The lease of a tag of a server, none if it is none of ours."""
    return text.removeprefix("lease:") if text.startswith("lease:") else None


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


def slots_provider(lease_id: str, host: str) -> str:
    """Name of the child provider with the slots of a lease on a host."""
    return f"{_PREFIX}{lease_id}-{host}"


def slots_provider_id(lease_id: str, host: str) -> str:
    """Id of the child provider with the slots of a lease on a host."""
    return str(uuid5(_NAMESPACE, f"slots {lease_id} {host}"))
