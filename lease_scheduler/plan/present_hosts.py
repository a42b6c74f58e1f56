"""Present hosts: mapping a lease whose VMs already have hosts, at least some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import Availability
from lease_scheduler.plan.demand import Demand
from lease_scheduler.plan.interfaces import HostSelection, Mapper
from lease_scheduler.plan.mapper import distributed, hosts_at, largest_first, map_vms, places_for


@dataclass(frozen=True)
class PresentHosts:
    """Hosts that VMs have, and should keep or must keep.

    :ivar hosts: for each node set the host number of each VM, or None if it has no host; VMs beyond the list have none
    :ivar binding: whether VMs must keep their hosts
    """

    hosts: tuple[tuple[int | None, ...], ...]
    binding: bool = False

    @classmethod
    def of(cls, request: LeaseRequest, assignment: Sequence[int | None], *, binding: bool = False) -> PresentHosts:
        """Return the present hosts of a lease, given the host of each VM in order."""
        hosts, first = [], 0
        for node_set in request.nodes:
            hosts.append(tuple(assignment[first : first + node_set.count]))
            first += node_set.count
        return cls(tuple(hosts), binding)


def map_keeping(
    availability: Availability,
    request: LeaseRequest,
    demands: tuple[Demand, ...],
    present: PresentHosts | None,
    start: int,
    end: int,
    selection: HostSelection,
    mapper: Mapper,
) -> tuple[int, ...] | None:
    """Return a host for each VM for the whole of ``[start, end)``, or None if they do not all fit.

    VMs keep their hosts if these have room. The others are placed as in ``map_vms``. If that fails and the present
    hosts are not binding, all VMs are placed anew.
    """
    if present is None or not any(host is not None for hosts in present.hosts for host in hosts):
        return map_vms(availability, request, demands, start, end, selection, mapper)
    found = _kept(availability, request, demands, present, start, end, selection, mapper)
    if found is None and not present.binding:
        return map_vms(availability, request, demands, start, end, selection, mapper)
    return found


def _kept(
    availability: Availability,
    request: LeaseRequest,
    demands: tuple[Demand, ...],
    present: PresentHosts,
    start: int,
    end: int,
    selection: HostSelection,
    mapper: Mapper,
) -> tuple[int, ...] | None:
    free = availability.free(start, end)
    order = largest_first(demands)
    chosen: list[list[int | None]] = [[] for _ in demands]
    kept: list[Counter[int]] = [Counter() for _ in demands]
    for index in order:
        demand = demands[index]
        wishes = present.hosts[index][: demand.count] if index < len(present.hosts) else ()
        room = places_for(free, demand)
        for host in (*wishes, *[None] * (demand.count - len(wishes))):
            if host is not None and kept[index][host] < room[host]:
                kept[index][host] += 1
                chosen[index].append(host)
            elif host is not None and present.binding:
                return None
            else:
                chosen[index].append(None)
        for host, number in kept[index].items():
            free[:, host] -= demand.amounts * number
    ranked = selection.rank(hosts_at(availability, start, end, np.arange(free.shape[1])), request)
    placed = sum(kept, Counter[int]())
    for index in order:
        demand = demands[index]
        missing = chosen[index].count(None)
        if not missing:
            continue
        places = places_for(free, demand)
        if demand.per_host is not None:
            for host, number in kept[index].items():
                places[host] = min(places[host], demand.per_host - number)
        usable = ranked[places[ranked] > 0]
        there = np.array([placed[host] for host in usable.tolist()], dtype=np.int64)
        taken = distributed(mapper, places[usable], there, missing)
        if taken is None:
            return None
        new = np.repeat(usable[: len(taken)], taken).tolist()
        for host, number in Counter(new).items():
            free[:, host] -= demand.amounts * number
        placed.update(new)
        fresh = iter(new)
        chosen[index] = [next(fresh) if host is None else host for host in chosen[index]]
    return tuple(host for hosts in chosen for host in hosts if host is not None)
