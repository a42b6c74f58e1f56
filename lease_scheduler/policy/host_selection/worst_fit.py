"""Host selection that keeps as much as possible free on every host, in several resource classes."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.capacity.worst_fit import emptiest_first, fitting, whole_passes
from lease_scheduler.plan.interfaces import HostsAt, Room
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy

_FIRST = (VCPU, MEMORY_MB, DISK_GB)


class WorstFit(HostSelectionPolicy):
    """Orders hosts by decreasing space that stays free while the lease runs, one class after the other.

    Space is a share of the host's capacity, so hosts of different sizes can be compared. Only the classes that the
    lease asks for count: VCPU, memory and disk before all others. With the mapper ``spread`` the nodes of a lease lie
    where algorithms 1 and 2 of Grit 2007, section 6.1, put them (shirako F69-F72): if a lease has more nodes than
    hosts, the hosts of the last pass are those with most space left after the passes before it.

    Options: ``worst_fit_threshold`` (0), in per cent: while at most this share of the site is allocated, the order is
    the reverse, so that hosts stay empty (Grit 2007, section 6.4: 50; shirako F116). ``worst_fit_classes`` (none):
    names of resource classes by importance, separated by blanks, in place of that order.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._threshold = options.number("worst_fit_threshold", 0) / 100
        self._classes = tuple(options.get("worst_fit_classes", "").split())
        if self._threshold > 1:
            raise InvalidValueError("policy option worst_fit_threshold", "must be at most 100, as it is in per cent")

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        room = hosts.room()
        rows = self._rows(room, lease)
        if not rows:
            return hosts.numbers
        free, capacity = room.free[rows], room.capacity[rows]
        if self._threshold and room.allocated.mean() <= self._threshold:
            fullest_first = np.lexsort((hosts.numbers, *(row for row in (free / np.maximum(capacity, 1))[::-1])))
            return hosts.numbers[fullest_first]
        return hosts.numbers[emptiest_first(free - self._in_whole_passes(room, lease, rows), capacity)]

    def _rows(self, room: Room, lease: LeaseRequest) -> list[int]:
        """Return the rows of the classes that count, the most important one first."""
        needed = {name for node_set in lease.nodes for name in node_set.resources}
        rest = sorted(needed - set(_FIRST) - {HOST_SHARE})
        ordered = self._classes or (*_FIRST, *rest)
        return [room.classes.index(name) for name in ordered if name in needed and name in room.classes]

    def _in_whole_passes(self, room: Room, lease: LeaseRequest, rows: list[int]) -> IntArray:
        """Return what the nodes of all passes but the last one take of a host, shape (rows, 1) or (rows, hosts)."""
        nothing: IntArray = np.zeros((len(rows), 1), dtype=np.int64)
        if len(lease.nodes) != 1:
            return nothing
        node_set = lease.nodes[0]
        size = np.array([node_set.resources.get(name, 0) for name in room.classes], dtype=np.int64)
        places = fitting(room.free, size)
        if node_set.per_host is not None:
            places = np.minimum(places, node_set.per_host)
        if int(places.sum()) <= node_set.count:
            return nothing
        taken = np.minimum(places, whole_passes(places, node_set.count))
        return size[rows][:, None] * taken
