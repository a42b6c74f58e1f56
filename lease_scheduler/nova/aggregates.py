"""Leases and the pool as plain values, read from the metadata of host aggregates.

The engine writes the metadata (``cloud/nova/lease/aggregate_metadata.py``). The names of the keys are defined here
because both sides need them and this package must not import the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: Metadata of the aggregate of a lease.
LEASE_ID = "lease:id"
PROJECT_ID = "lease:project_id"
KIND = "lease:kind"
#: Prefix of the keys of its reservations.
RESERVATIONS = "lease:reservation"
#: Whether servers of others are kept off its hosts.
EXCLUSIVE = "lease:exclusive"
#: Prefix of numbered keys: resource classes of nested providers that are kept for it on hosts that it shares.
NESTED = "lease:nested:"
#: Seconds since the epoch, UTC: when the hosts begin to be kept free for the lease, its start, its end.
VACATED_FROM = "lease:vacated_from"
FROM = "lease:from"
UNTIL = "lease:until"

#: Metadata of the aggregate of all hosts that leases may use.
POOL = "lease:pool"
#: Prefix of numbered keys. Each value is an instant and the compute services on which a lease starts then. Only near
#: starts are listed. What does not fit into one value continues in the next.
NEXT = "lease:next:"
#: Prefix of numbered keys: what servers without a lease are promised. Each value is a probability, a lifetime in
#: seconds, and the compute services where servers reach that lifetime with that probability.
ASSURED = "lease:assured:"
#: Instant from which on these promises are out of date.
ASSURED_UNTIL = "lease:assured_until"
#: Probability that counts for flavors that name none.
ASSURED_DEFAULT = "lease:assured_default"
_LONGEST_VALUE = 255

#: Blazar's metadata and names: the defaults of the options of blazar-nova's filter.
BLAZAR_OWNER = "blazar:owner"
BLAZAR_RESERVATION = "reservation"
BLAZAR_ZONE_PREFIXES = ("blazar_", "blazar:")

_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True)
class HeldBy:
    """A lease that has a host now or soon. Instants are seconds since the epoch.

    :ivar names: names that a hint may use for it: its id, and those that Blazar's clients know
    :ivar vacated_from: instant from which servers of others may not start on the host
    :ivar start: instant from which its own servers may start
    :ivar until: its end, or None if that is not known
    :ivar nested: resource classes of nested providers, such as GPUs, that are kept for it and for other leases
    """

    names: frozenset[str]
    project_id: str
    exclusive: bool
    vacated_from: int = 0
    start: int = 0
    until: int | None = None
    nested: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Promises:
    """What was published about the lifetimes of servers without a lease on one host.

    :ivar until: instant from which on it is out of date
    :ivar default: probability that counts where a flavor names none; None if that is not known
    :ivar lifetimes: pairs of a probability and the seconds that a server runs at least with that probability
    """

    until: int = 0
    default: float | None = None
    lifetimes: tuple[tuple[float, int], ...] = ()

    def seconds(self, assurance: float, now: int) -> int:
        """Return for how long a server that starts now is promised to run; 0 if nothing is promised."""
        if now >= self.until:
            return 0
        return max((seconds for promised, seconds in self.lifetimes if promised >= assurance), default=0)


@dataclass(frozen=True)
class HostLeases:
    """What the aggregates of a host say about leases on it.

    :ivar held_by: leases that have it now or soon
    :ivar in_pool: whether leases may use it
    :ivar coming: start of the next lease on it that has not started, or None if that is far away or not known
    :ivar promises: what servers without a lease are promised there
    """

    held_by: tuple[HeldBy, ...] = ()
    in_pool: bool = False
    coming: int | None = None
    promises: Promises = Promises()


def read_host(aggregates: Sequence[Any], freepool: str, host: str, *, reads_promises: bool = False) -> HostLeases:
    """Return what the aggregates of a host say about leases on it.

    :param aggregates: Nova's aggregates, with ``name``, ``metadata`` and ``availability_zone``
    :param freepool: name of the aggregate of all hosts that leases may use; its metadata also identifies it
    :param host: name of the host's compute service
    :param reads_promises: whether to read what servers without a lease are promised
    """
    return Reader(freepool, reads_promises=reads_promises).read(aggregates, host)


class Reader:
    """``read_host`` for all hosts of one request. Reads each aggregate once, however many of the hosts are in it.

    Use a new one for each request. An aggregate does not tell that its metadata changed, because Nova sends it to
    nova-scheduler before it sets the time of the change.

    :param freepool: as for ``read_host``
    :param reads_promises: whether to read what servers without a lease are promised
    """

    def __init__(self, freepool: str, *, reads_promises: bool = False) -> None:
        self._freepool = freepool
        self._reads_promises = reads_promises
        # By identity. The value holds the aggregate, so that no other object can get the same id.
        self._aggregates: dict[int, tuple[Any, HostLeases]] = {}
        self._hosts: dict[tuple[int, ...], HostLeases] = {}
        self._coming: dict[str, int] = {}
        self._promises: dict[str, Promises] = {}

    def read(self, aggregates: Sequence[Any], host: str) -> HostLeases:
        """Return what the aggregates of a host say about leases on it.

        :param host: name of the host's compute service
        """
        combination = tuple(map(id, aggregates))
        found = self._hosts.get(combination)
        if found is None:
            found = self._hosts[combination] = _together([self._read_aggregate(each) for each in aggregates])
        coming, promises = self._coming.get(host), self._promises.get(host)
        if coming is not None:
            found = replace(found, coming=coming)
        return found if promises is None or not found.in_pool else replace(found, promises=promises)

    def _read_aggregate(self, aggregate: Any) -> HostLeases:
        known = self._aggregates.get(id(aggregate))
        if known is None:
            told = _read_aggregate(aggregate, self._freepool)
            known = self._aggregates[id(aggregate)] = (aggregate, told)
            if told.in_pool:
                self._coming.update(read_coming(aggregate.metadata or {}))
                if self._reads_promises:
                    self._promises.update(read_promises(aggregate.metadata or {}))
        return known[1]


def coming_metadata(starts: Mapping[str, int]) -> dict[str, str]:
    """Return the metadata of the pool that says when leases start.

    :param starts: compute service -> instant
    """
    return _listed(NEXT, (("", starts),))


def promise_metadata(lifetimes: Mapping[float, Mapping[str, int]], until: int) -> dict[str, str]:
    """Return the metadata of the pool that says what servers without a lease are promised.

    :param lifetimes: by probability, the default first: compute service -> seconds
    :param until: instant from which on it is out of date
    """
    if not lifetimes:
        return {}
    said = _listed(ASSURED, ((f"{assurance:.6g} ", of_hosts) for assurance, of_hosts in lifetimes.items()))
    return {**said, ASSURED_UNTIL: str(until), ASSURED_DEFAULT: f"{next(iter(lifetimes)):.6g}"}


def _listed(prefix: str, lists: Iterable[tuple[str, Mapping[str, int]]]) -> dict[str, str]:
    """Return numbered keys whose values are a heading, a number and the hosts that have it.

    :param lists: pairs of a heading and host -> number
    """
    values = []
    for heading, of_hosts in lists:
        by_number: dict[int, list[str]] = {}
        for host, number in sorted(of_hosts.items()):
            by_number.setdefault(number, []).append(host)
        for number, hosts in sorted(by_number.items()):
            value = f"{heading}{number}"
            for host in hosts:
                if len(value) + 1 + len(host) > _LONGEST_VALUE:
                    values.append(value)
                    value = f"{heading}{number}"
                value += f" {host}"
            values.append(value)
    return {f"{prefix}{number}": value for number, value in enumerate(values)}


def read_promises(metadata: Mapping[str, str]) -> dict[str, Promises]:
    """Return compute service -> what is promised there, from metadata that ``promise_metadata`` has made.

    What cannot be read promises nothing.
    """
    until = _instant(metadata.get(ASSURED_UNTIL))
    if until is None:
        return {}
    found: dict[str, list[tuple[float, int]]] = {}
    for key, value in metadata.items():
        if key.startswith(ASSURED):
            assurance, seconds, *hosts = [*value.split(), "", ""]
            promised = probability(assurance), _instant(seconds)
            if promised[0] is not None and promised[1] is not None:
                for host in filter(None, hosts):
                    found.setdefault(host, []).append((promised[0], promised[1]))
    default = probability(metadata.get(ASSURED_DEFAULT, ""))
    return {host: Promises(until, default, tuple(lifetimes)) for host, lifetimes in found.items()}


def probability(text: str) -> float | None:
    """Return a text as a number between 0 and 1, both excluded, or None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 1 else None


def read_coming(metadata: Mapping[str, str]) -> dict[str, int]:
    """Return compute service -> start of the next lease there, from metadata that ``coming_metadata`` has made."""
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
    """Return whether a value of metadata or of an extra spec means yes."""
    return value is not None and value.strip().lower() in _TRUE


def _lease(name: str, metadata: Mapping[str, str]) -> HeldBy:
    reservations = {value for key, value in metadata.items() if key.startswith(RESERVATIONS)}
    names = {name, metadata[LEASE_ID], metadata.get(BLAZAR_RESERVATION) or name, *reservations}
    start = _instant(metadata.get(FROM)) or 0
    vacated_from = _instant(metadata.get(VACATED_FROM))
    return HeldBy(
        frozenset(names),
        metadata.get(PROJECT_ID, ""),
        # If the metadata is incomplete, the lease does not share its hosts.
        is_true(metadata.get(EXCLUSIVE, "true")),
        start if vacated_from is None else vacated_from,
        start,
        _instant(metadata.get(UNTIL)),
        frozenset(value for key, value in metadata.items() if key.startswith(NESTED)),
    )


def _reservation_of_blazar(name: str, metadata: Mapping[str, str], zone: str) -> HeldBy:
    """Return a reservation of Blazar's. Only those of whole hosts have a zone; those of instances share their hosts."""
    names = frozenset({name, metadata.get(BLAZAR_RESERVATION) or name})
    return HeldBy(names, metadata.get(BLAZAR_OWNER, ""), exclusive=zone.startswith(BLAZAR_ZONE_PREFIXES))


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
