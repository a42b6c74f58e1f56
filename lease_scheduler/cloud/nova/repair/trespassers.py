"""Trespassers: ordinary servers on hosts of the pool, which are found before a lease needs the host.

They were there before the host came into the pool, or an administrator forced them there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from lease_scheduler.cloud.differences import Difference, Kind, Problem
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.cloud.nova.images.image_records import apart
from lease_scheduler.cloud.nova.lease.aggregate_metadata import images_in
from lease_scheduler.nova import aggregates as metadata

#: Servers in these states use nothing of a host.
_GONE = frozenset({of.DELETED, of.SOFT_DELETED, of.OFFLOADED})


#: Seconds after the start of a lease within which a server may be created that was placed before.
_OVERLAP = 60.0

_UNFILTERED = (
    "nova-scheduler placed it there after the lease had started, so LeaseFilter does not answer: check enabled_filters "
    "and available_filters of every nova-scheduler (unless an administrator has forced it there)"
)


@dataclass(frozen=True)
class _Holder:
    """A lease that has a host for itself.

    :ivar start: instant from which its servers may start there, or None if it is not known
    """

    lease_id: str
    project_id: str
    start: int | None


def find(
    servers: Iterable[Any], aggregates: Collection[Aggregate], freepool: str, pool: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield the servers that must not be on their hosts of the pool.

    These are ordinary servers, and preemptible ones that nova-scheduler has placed where a lease has the host for
    itself. Where a lease has a host for itself, its project may have servers of any flavor.

    :param aggregates: all aggregates
    :param freepool: name of the aggregate of all hosts that leases may use
    :param pool: names of the hosts of the pool by their compute services
    """
    here = [each for each in servers if of.service(each) in pool and each.status not in _GONE]
    stopped = frozenset[str]().union(*(apart(images_in(each.metadata)) for each in aggregates))
    here = [each for each in here if of.made_for(each) is None and each.id not in stopped]
    by_host: dict[str, list[Any]] = {of.service(each) or "": [] for each in here}
    holders: dict[str, _Holder] = {}
    for aggregate in aggregates if by_host else ():
        # ``metadata.Reader`` expects an aggregate of nova-scheduler, with these attributes.
        seen = SimpleNamespace(name=aggregate.name, metadata=aggregate.metadata, availability_zone=aggregate.zone)
        for service in by_host.keys() & aggregate.hosts:
            by_host[service].append(seen)
            holder = _holder(aggregate.metadata)
            if holder is not None:
                holders[service] = holder
    reader = metadata.Reader(freepool)
    for each in here:
        service = of.service(each) or ""
        held_by = reader.read(by_host[service], service).held_by
        if any(held.exclusive and held.project_id == each.tenant_id for held in held_by):
            continue
        detail = f"of project {each.tenant_id}, on host {pool[service]}: leases do not get what it uses there"
        holder = holders.get(service)
        if holder is not None and _is_later(each, holder):
            yield Difference(
                Kind.SERVER,
                Problem.UNFILTERED,
                each.id,
                holder.lease_id,
                f"{detail}; {_UNFILTERED}",
                host=pool[service],
                is_ours_to_mend=False,
            )
        elif of.is_ordinary(each):
            yield Difference(Kind.SERVER, Problem.INTRUDING, each.id, None, detail, is_ours_to_mend=False)


def unfiltered(nova: Any, freepool: str) -> list[Difference]:
    """Return the servers that nova-scheduler has let onto hosts that leases have for themselves.

    :param nova: novaclient's client with administrator rights
    :param freepool: as for ``find``
    """
    aggregates = Aggregates(nova).all()
    hosts = {host: host for each in aggregates for host in each.hosts if metadata.LEASE_ID in each.metadata}
    found = find(all_servers(nova), aggregates, freepool, hosts)
    return [each for each in found if each.problem is Problem.UNFILTERED]


def _holder(said: Mapping[str, str]) -> _Holder | None:
    """Return the lease that has the hosts of an aggregate for itself, or None."""
    lease_id, start = said.get(metadata.LEASE_ID), said.get(metadata.FROM, "")
    if lease_id is None or not metadata.is_true(said.get(metadata.EXCLUSIVE)):
        return None
    return _Holder(lease_id, said.get(metadata.PROJECT_ID, ""), int(start) if start.isdigit() else None)


def _is_later(server: Any, holder: _Holder) -> bool:
    """Return whether a server was created after a lease of another project had got its host."""
    if holder.start is None or holder.project_id == server.tenant_id or of.is_busy(server):
        return False
    return datetime.fromisoformat(server.created).timestamp() > holder.start + _OVERLAP
