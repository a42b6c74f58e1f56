"""Trespassers: ordinary servers on hosts that are for leases, found before a lease needs the host.

They were there before the host came into the pool, or an administrator forced them there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from lease_scheduler.cloud.differences import Difference, Kind, Problem
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.aggregate_metadata import images_in
from lease_scheduler.cloud.nova.aggregates import Aggregate
from lease_scheduler.cloud.nova.image_records import apart
from lease_scheduler.nova import aggregates as metadata

#: Servers in these states use nothing of a host.
_GONE = frozenset({of.DELETED, of.SOFT_DELETED, of.OFFLOADED})


def find(
    servers: Iterable[Any], aggregates: Collection[Aggregate], freepool: str, pool: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield the ordinary servers on hosts of the pool that may not be there.

    Where a lease has a host for itself, servers of its project may be there with any flavor.

    :param aggregates: all aggregates
    :param freepool: name of the aggregate of all hosts that leases may use
    :param pool: names of the hosts of the pool by their compute services
    """
    ordinary = [each for each in servers if of.service(each) in pool and each.status not in _GONE]
    stopped = frozenset[str]().union(*(apart(images_in(each.metadata)) for each in aggregates))
    ordinary = [each for each in ordinary if of.is_ordinary(each) and each.id not in stopped]
    by_host: dict[str, list[Any]] = {of.service(each) or "": [] for each in ordinary}
    for aggregate in aggregates if by_host else ():
        # With the attributes of an aggregate in nova-scheduler.
        seen = SimpleNamespace(name=aggregate.name, metadata=aggregate.metadata, availability_zone=aggregate.zone)
        for service in by_host.keys() & aggregate.hosts:
            by_host[service].append(seen)
    reader = metadata.Reader(freepool)
    for each in ordinary:
        service = of.service(each) or ""
        held_by = reader.read(by_host[service], service).held_by
        if any(held.exclusive and held.project_id == each.tenant_id for held in held_by):
            continue
        detail = f"of project {each.tenant_id}, on host {pool[service]}: leases do not get what it uses there"
        yield Difference(Kind.SERVER, Problem.INTRUDING, each.id, None, detail, is_ours_to_mend=False)
