"""What host aggregates tell of leases and of the pool: plain values, read from metadata.

The engine writes the metadata (``cloud/nova/aggregates.py``); the names of the keys live here, because both sides need
them and this side must not need the other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: Metadata of the aggregate of a lease.
LEASE_ID = "lease:id"
PROJECT_ID = "lease:project_id"
KIND = "lease:kind"
#: What the keys of its reservations begin with.
RESERVATIONS = "lease:reservation"
#: Whether nobody else may have servers on its hosts.
EXCLUSIVE = "lease:exclusive"
#: Seconds since the epoch, UTC: since when the hosts are kept free for it, when it begins, when it ends.
VACATED_FROM = "lease:vacated_from"
FROM = "lease:from"
UNTIL = "lease:until"

#: Metadata of the aggregate of all hosts that leases may use.
POOL = "lease:pool"
#: Followed by a number: an instant and the compute services on which a lease begins then, as far as that is near. What
#: does not fit into one value is in several.
NEXT = "lease:next:"
_LONGEST_VALUE = 255

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
    :ivar coming: when the next lease that has not begun begins on it; none if that is far away or not known
    """

    held_by: tuple[HeldBy, ...] = ()
    in_pool: bool = False
    coming: int | None = None


def read_host(aggregates: Sequence[Any], freepool: str, host: str) -> HostLeases:
    """What the aggregates of a host tell.

    :param aggregates: with ``name``, ``metadata`` and ``availability_zone``, as Nova has them
    :param freepool: name of the aggregate of all hosts that leases may use, beside its metadata
    :param host: name of its compute service
    """
    return Reader(freepool).read(aggregates, host)


class Reader:
    """``read_host`` for the hosts of one request: looks at an aggregate once, however many of the hosts are in it.

    Made anew for each request: an aggregate does not say when its metadata changed. Nova sends it to nova-scheduler
    before it sets the time of the change.

    :param freepool: as for ``read_host``
    """

    def __init__(self, freepool: str) -> None:
        self._freepool = freepool
        # By identity, which nothing else gets while the aggregate is remembered beside it.
        self._aggregates: dict[int, tuple[Any, HostLeases]] = {}
        self._hosts: dict[tuple[int, ...], HostLeases] = {}
        self._coming: dict[str, int] = {}

    def read(self, aggregates: Sequence[Any], host: str) -> HostLeases:
        """What the aggregates of a host tell.

        :param host: name of its compute service
        """
        combination = tuple(map(id, aggregates))
        found = self._hosts.get(combination)
        if found is None:
            found = self._hosts[combination] = _together([self._read_aggregate(each) for each in aggregates])
        coming = self._coming.get(host)
        return found if coming is None else replace(found, coming=coming)

    def _read_aggregate(self, aggregate: Any) -> HostLeases:
        known = self._aggregates.get(id(aggregate))
        if known is None:
            told = _read_aggregate(aggregate, self._freepool)
            known = self._aggregates[id(aggregate)] = (aggregate, told)
            if told.in_pool:
                self._coming.update(read_coming(aggregate.metadata or {}))
        return known[1]


def coming_metadata(starts: Mapping[str, int]) -> dict[str, str]:
    """Metadata of the pool that tells when leases begin.

    :param starts: compute service -> instant
    """
    by_instant: dict[int, list[str]] = {}
    for host, instant in sorted(starts.items()):
        by_instant.setdefault(instant, []).append(host)
    values = []
    for instant, hosts in sorted(by_instant.items()):
        value = str(instant)
        for host in hosts:
            if len(value) + 1 + len(host) > _LONGEST_VALUE:
                values.append(value)
                value = str(instant)
            value += f" {host}"
        values.append(value)
    return {f"{NEXT}{number}": value for number, value in enumerate(values)}


def read_coming(metadata: Mapping[str, str]) -> dict[str, int]:
    """Compute service -> instant at which the next lease begins there, as ``coming_metadata`` has written it."""
    found: dict[str, int] = {}
    for key, value in metadata.items():
        if key.startswith(NEXT):
            text, *hosts = value.split() or [""]
            instant = _instant(text)
            if instant is not None:
                found.update({host: min(found.get(host, instant), instant) for host in hosts})
    return found


def _read_aggregate(aggregate: Any, freepool: str) -> HostLeases:
    metadata: Mapping[str, str] = aggregate.metadata or {}
    zone = aggregate.availability_zone or ""
    if aggregate.name == freepool or is_true(metadata.get(POOL)):
        return HostLeases(in_pool=True)
    if LEASE_ID in metadata:
        return HostLeases((_lease(aggregate.name, metadata),))
    if BLAZAR_OWNER in metadata or zone.startswith(BLAZAR_ZONE_PREFIXES):
        return HostLeases((_reservation_of_blazar(aggregate.name, metadata, zone),))
    return HostLeases()


def _together(told: Sequence[HostLeases]) -> HostLeases:
    return HostLeases(tuple(held for each in told for held in each.held_by), any(each.in_pool for each in told))


def is_true(value: str | None) -> bool:
    """Whether a text of metadata or of an extra spec means yes."""
    return value is not None and value.strip().lower() in _TRUE


def _lease(name: str, metadata: Mapping[str, str]) -> HeldBy:
    reservations = {value for key, value in metadata.items() if key.startswith(RESERVATIONS)}
    names = {name, metadata[LEASE_ID], metadata.get(BLAZAR_RESERVATION) or name, *reservations}
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
