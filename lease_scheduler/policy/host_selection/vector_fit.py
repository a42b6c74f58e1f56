"""Host selection that uses up the resource classes of hosts evenly, so that mixed flavors leave whole hosts free."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy

_Shares = npt.NDArray[np.float64]


class VectorFit(HostSelectionPolicy):
    """Orders hosts as Choose Pack fills them: first those that have most left of what the lease needs most.

    The capacity that a host has left while the lease runs is a vector of shares, and so are the needs of a node. Choose
    Pack (Stillwell 2010, section 4.2.5; dfrs F24, A12) fills one bin after the other, each with vectors whose two
    largest coordinates are in the dimensions of which the bin has most left. Here the node is given, and hosts are
    ordered by these criteria:

    1. hosts in use before empty ones;
    2. place of the node's list in the order of the host's lists: the list of the two classes of which the host has most
       left is the first;
    3. most left of the class that the node needs most, as in Permutation Pack. With two classes, where Choose Pack has
       only one list, this alone decides;
    4. host number, as bins are filled one after the other.
    """

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        is_empty: IntArray = (hosts.leases == 0).astype(np.int64)
        room = hosts.room()
        needs = _needs(lease)
        rows = [row for row, name in enumerate(room.classes) if needs.get(name)]
        place = is_empty
        if len(rows) > 1:
            capacity = np.maximum(room.capacity[rows], 1)
            wanted = np.array([needs[room.classes[row]] for row in rows], dtype=np.int64)[:, None] / capacity
            place = is_empty * len(rows) ** 2 * 2 + _list_places(room.free[rows] / capacity, wanted)
        return hosts.numbers[np.argsort(place.astype(np.int16), kind="stable")]


def _needs(lease: LeaseRequest) -> dict[str, int]:
    """Return what all nodes of a lease need together, without their claims of hosts for themselves."""
    total: dict[str, int] = {}
    for node_set in lease.nodes:
        for name, amount in node_set.resources.items():
            if name != HOST_SHARE:
                total[name] = total.get(name, 0) + node_set.count * amount
    return total


def _list_places(left: _Shares, wanted: _Shares) -> IntArray:
    """Return the place of the node's list in the order of the lists of each host, shape (hosts,).

    :param left: shares of capacity, shape (classes, hosts), at least two classes
    :param wanted: the same of the node, or of all nodes together
    """
    ranked = np.argsort(-wanted, axis=0, kind="stable")
    first, second = _rank_of(left, ranked[0]), _rank_of(left, ranked[1])
    low, high = np.minimum(first, second), np.maximum(first, second)
    # The order of lists is that of pairs of ranks (0, 1), (0, 2), (1, 2), (0, 3), ...
    places: IntArray = (high * (high - 1) // 2 + low) * 2 + (first > second)
    return places


def _rank_of(left: _Shares, row: IntArray) -> IntArray:
    """Return how many classes a host has more left of than of a given one, shape (hosts,); equal ones by their rows.

    :param row: the class for each host, shape (hosts,)
    """
    own = np.take_along_axis(left, row[None, :], axis=0)[0]
    above = left > own
    above |= (left == own) & (np.arange(len(left))[:, None] < row)
    rank: IntArray = above.sum(axis=0)
    return rank
