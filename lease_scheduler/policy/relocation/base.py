"""The base class of relocation policies (shirako S8; Grit 2007, section 6.4)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.changing.moves import Move, Placement, in_order
from lease_scheduler.policy.base import Policy


class RelocationPolicy(Policy):
    """Decides which running nodes move, although they could stay.

    :param options: what the operator set for policies
    :ivar relocates: whether ``moves`` may return any
    :ivar empties_hosts: whether moves from one host are of use only together
    """

    relocates = True
    empties_hosts = True

    @abstractmethod
    def moves(self, placement: Placement) -> list[Move]:
        """Return the moves that the policy wants, in an order in which each node fits at its destination."""

    def host_for(self, placement: Placement, size: IntArray, wished: int) -> int | None:
        """Return the host for a new node, or None if it fits on none.

        :param size: what the node needs, shape (classes,)
        :param wished: the host that the planner chose
        """
        if bool((placement.free[:, wished] >= size).all()):
            return wished
        fits = np.flatnonzero((placement.free >= size[:, None]).all(axis=0) & placement.usable)
        return int(fits[0]) if len(fits) else None


def to_wished(placement: Placement) -> list[Move]:
    """Return the moves of all nodes that are not on the host that the planner chose for them."""
    apart = np.flatnonzero(placement.hosts != placement.wished)
    return in_order(placement, [Move(node, int(placement.wished[node])) for node in apart.tolist()])
