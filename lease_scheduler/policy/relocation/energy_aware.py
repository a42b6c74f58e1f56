"""Relocation that keeps hosts empty while the site is quiet."""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.changing.moves import Move, Placement, fullest_with_room
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.relocation.base import RelocationPolicy, to_wished


class EnergyAware(RelocationPolicy):
    """Fills the fullest hosts with new nodes while little is allocated; above that, the planner's hosts are used.

    Grit 2007, section 6.4 (shirako F116, A20). The threshold leaves enough free space to carry out the moves. In the
    dissertation, running nodes stay where they are below the threshold. With ``energy_aware_consolidates``, hosts with
    few nodes are emptied then: a host is left only if all of its nodes fit on other hosts that are in use, so that it
    can sleep.

    Options: ``energy_aware_threshold`` (50), in per cent of the site; ``energy_aware_consolidates`` (true).
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._threshold = options.number("energy_aware_threshold", 50) / 100
        self._consolidates = options.get("energy_aware_consolidates", "true").lower() == "true"
        if self._threshold > 1:
            raise InvalidValueError("policy option energy_aware_threshold", "must be at most 100, as it is in per cent")

    def is_quiet(self, placement: Placement) -> bool:
        """Return whether so little is allocated that hosts are kept empty."""
        return placement.allocated <= self._threshold

    def host_for(self, placement: Placement, size: IntArray, wished: int) -> int | None:
        """See ``RelocationPolicy.host_for``."""
        if self.is_quiet(placement):
            return fullest_with_room(placement, placement.free, size)
        return super().host_for(placement, size, wished)

    def moves(self, placement: Placement) -> list[Move]:
        """See ``RelocationPolicy.moves``."""
        if not self.is_quiet(placement):
            return to_wished(placement)
        return _consolidating(placement) if self._consolidates else []


def _consolidating(placement: Placement) -> list[Move]:
    """Return the moves that empty hosts, those with the least allocated first; each host wholly or not at all."""
    free = placement.free.copy()
    capacity = np.maximum(placement.capacity, 1)
    moves: list[Move] = []
    emptied: set[int] = set()
    filled: set[int] = set()
    used = np.unique(placement.hosts)
    share = ((placement.capacity - free) / capacity).sum(axis=0)
    for host in used[np.argsort(share[used], kind="stable")].tolist():
        if host in filled:
            continue
        nodes = np.flatnonzero(placement.hosts == host)
        if bool((placement.capacity[:, host] - free[:, host] > placement.sizes[:, nodes].sum(axis=1)).any()):
            # Something that cannot move would stay.
            continue
        tried = free.copy()
        # What is empty stays empty, and no node goes to a host that is being left.
        closed = ~placement.in_use
        closed[[host, *emptied]] = True
        tried[:, closed] = -1
        found: list[Move] = []
        weight = placement.sizes[:, nodes].sum(axis=0)
        for node in nodes[np.argsort(-weight, kind="stable")].tolist():
            to = fullest_with_room(placement, tried, placement.sizes[:, node])
            if to is None:
                break
            tried[:, to] -= placement.sizes[:, node]
            found.append(Move(node, to))
        else:
            for move in found:
                free[:, move.to] -= placement.sizes[:, move.node]
                free[:, host] += placement.sizes[:, move.node]
                filled.add(move.to)
            emptied.add(host)
            moves += found
    return moves
