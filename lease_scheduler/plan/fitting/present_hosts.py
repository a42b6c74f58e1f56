"""Present hosts: mapping a lease whose nodes already have hosts, at least some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.fitting.exact_mapping import Attempts
from lease_scheduler.plan.fitting.mapper import hosts_at, largest_first, map_sets, map_vms, places_for
from lease_scheduler.plan.interfaces import HostSelection, Mapper


@dataclass(frozen=True)
class PresentHosts:
    """Hosts that nodes have, and should keep or must keep.

    :ivar hosts: for each node set the host number of each node, or None if it has no host; nodes beyond the list have
        none
    :ivar binding: whether nodes must keep their hosts
    """

    hosts: tuple[tuple[int | None, ...], ...]
    binding: bool = False

    @classmethod
    def of(cls, request: LeaseRequest, assignment: Sequence[int | None], *, binding: bool = False) -> PresentHosts:
        """Return the present hosts of a lease, given the host of each node in order."""
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
    attempts: Attempts | None = None,
) -> tuple[int, ...] | None:
    """Return a host for each node for the whole of ``[start, end)``, or None if they do not all fit.

    Nodes keep their hosts if they fit there. The others are placed as in ``map_vms``. If that fails and the present
    hosts are not binding, all nodes are placed anew.

    :param attempts: how many exact mappings a search may try; None means that there is no limit
    """
    if present is None or not any(host is not None for hosts in present.hosts for host in hosts):
        return map_vms(availability, request, demands, start, end, selection, mapper, attempts)
    found = _kept(availability, request, demands, present, start, end, selection, mapper, attempts)
    if found is None and not present.binding:
        return map_vms(availability, request, demands, start, end, selection, mapper, attempts)
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
    attempts: Attempts | None = None,
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
    held = np.zeros((len(demands), free.shape[1]), dtype=np.int64)
    for index, numbers in enumerate(kept):
        held[index, list(numbers)] = list(numbers.values())
    missing = tuple(replace(demand, count=hosts.count(None)) for demand, hosts in zip(demands, chosen, strict=True))
    placed = map_sets(free, missing, ranked, mapper, kept=held, attempts=attempts)
    if placed is None:
        return None
    fresh = [iter(hosts.tolist()) for hosts in placed]
    return tuple(next(fresh[index]) if host is None else host for index, hosts in enumerate(chosen) for host in hosts)
