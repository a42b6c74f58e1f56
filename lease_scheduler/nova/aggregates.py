"""What host aggregates tell of leases and of the pool: plain values, read from metadata.

The engine writes the metadata (``cloud/nova/aggregates.py``); the names of the keys live here, because both sides need
them and this side must not need the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Metadata of the aggregate of a lease.
LEASE_ID = "lease:id"
PROJECT_ID = "lease:project_id"
KIND = "lease:kind"
#: Whether nobody else may have servers on its hosts.
EXCLUSIVE = "lease:exclusive"
#: Seconds since the epoch, UTC: since when the hosts are kept free for it, when it begins, when it ends.
VACATED_FROM = "lease:vacated_from"
FROM = "lease:from"
UNTIL = "lease:until"

#: Metadata of the aggregate of all hosts that leases may use.
POOL = "lease:pool"

#: Blazar's metadata and names (blazar-nova: the filter's options have these defaults).
BLAZAR_OWNER = "blazar:owner"
BLAZAR_RESERVATION = "reservation"
BLAZAR_ZONE_PREFIXES = ("blazar_", "blazar:")

_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True)
class HeldBy:
    """A lease that has a host now or soon.

    :ivar names: what a hint may call it: its id, and what Blazar's clients know it by
    :ivar vacated_from: since when nobody else may begin on the host; seconds since the epoch, as the other instants
    :ivar start: when its own servers may begin
    :ivar until: when it ends; none if that is not known
    """

    names: frozenset[str]
    project_id: str
    exclusive: bool
    vacated_from: int = 0
    start: int = 0
    until: int | None = None


@dataclass(frozen=True)
class HostLeases:
    """What is known of a host.

    :ivar held_by: leases that have it now or soon
    :ivar in_pool: whether leases may use it
    """

    held_by: tuple[HeldBy, ...] = ()
    in_pool: bool = False


def read_host(aggregates: Iterable[Any], freepool: str) -> HostLeases:
    """What the aggregates of a host tell.

    :param aggregates: with ``name``, ``metadata`` and ``availability_zone``, as Nova has them
    :param freepool: name of the aggregate of all hosts that leases may use, beside its metadata
    """
    held_by = []
    in_pool = False
    for aggregate in aggregates:
        metadata: Mapping[str, str] = aggregate.metadata or {}
        zone = aggregate.availability_zone or ""
        if aggregate.name == freepool or is_true(metadata.get(POOL)):
            in_pool = True
        elif LEASE_ID in metadata:
            held_by.append(_lease(aggregate.name, metadata))
        elif BLAZAR_OWNER in metadata or zone.startswith(BLAZAR_ZONE_PREFIXES):
            held_by.append(_reservation_of_blazar(aggregate.name, metadata, zone))
    return HostLeases(tuple(held_by), in_pool)


def is_true(value: str | None) -> bool:
    """Whether a text of metadata or of an extra spec means yes."""
    return value is not None and value.strip().lower() in _TRUE


def _lease(name: str, metadata: Mapping[str, str]) -> HeldBy:
    names = {name, metadata[LEASE_ID], metadata.get(BLAZAR_RESERVATION) or name}
    start = _instant(metadata.get(FROM)) or 0
    return HeldBy(
        frozenset(names),
        metadata.get(PROJECT_ID, ""),
        # Whoever cannot be read is not let in.
        is_true(metadata.get(EXCLUSIVE, "true")),
        _instant(metadata.get(VACATED_FROM)) or start,
        start,
        _instant(metadata.get(UNTIL)),
    )


def _reservation_of_blazar(name: str, metadata: Mapping[str, str], zone: str) -> HeldBy:
    """Only reservations of whole hosts have a zone; those of instances share their hosts."""
    names = frozenset({name, metadata.get(BLAZAR_RESERVATION) or name})
    return HeldBy(names, metadata.get(BLAZAR_OWNER, ""), exclusive=zone.startswith(BLAZAR_ZONE_PREFIXES))


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
