"""Moves of running nodes, in an order in which each node fits at its destination when it moves.

Grit 2007, "Extensible resource management for networked virtual computing", section 6.3.3, names such a plan but gives
no algorithm (shirako F118).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.plan.capacity.availability import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class FluidLoad:
    """What the nodes of fluid leases need of their hosts, in VCPU.

    :ivar room: what each host has for these nodes: what they hold there, plus what is free; shape (hosts,)
    :ivar need: what all of them on each host need together, including those that cannot move; shape (hosts,)
    :ivar of_node: what each node of the placement needs, 0 for other leases; shape (nodes,)
    """

    room: Floats
    need: Floats
    of_node: Floats


@dataclass(frozen=True)
class Placement:
    """Running nodes and the hosts that they are on.

    :ivar capacity: what hosts offer, shape (classes, hosts)
    :ivar free: what is free on each host for as long as the nodes run, shape (classes, hosts)
    :ivar sizes: what each node has, shape (classes, nodes)
    :ivar hosts: the host of each node, shape (nodes,)
    :ivar wished: the host that the planner chose for each node, shape (nodes,)
    :ivar usable: hosts that may take nodes, shape (hosts,)
    :ivar in_use: hosts on which anything runs now, including what cannot move, shape (hosts,)
    :ivar fluid: what fluid leases need; None if none runs
    """

    capacity: IntArray
    free: IntArray
    sizes: IntArray
    hosts: IntArray
    wished: IntArray
    usable: BoolArray
    in_use: BoolArray
    fluid: FluidLoad | None = None

    @property
    def allocated(self) -> float:
        """Share of the site that is allocated, 0 to 1: the mean over hosts of the share of their scarcest class."""
        offers = self.capacity > 0
        used = np.where(offers, (self.capacity - self.free) / np.maximum(self.capacity, 1), 0.0)
        some = offers.any(axis=0)
        return float(used.max(axis=0)[some].mean()) if some.any() else 0.0

    def with_room(self, free: IntArray, node: int) -> IntArray:
        """Return the other hosts on which a node fits, ascending.

        :param free: what is free now, shape (classes, hosts)
        """
        fits = (free >= self.sizes[:, node, None]).all(axis=0) & self.usable
        fits[self.hosts[node]] = False
        return np.flatnonzero(fits)


@dataclass(frozen=True)
class Move:
    """A node and the host that it moves to.

    :ivar node: its index in the ``Placement``
    :ivar to: number of the host
    """

    node: int
    to: int


def in_order(placement: Placement, moves: Iterable[Move]) -> list[Move]:
    """Return moves in an order in which each node fits at its destination when its turn comes.

    If the remaining moves wait for each other in a circle, the smallest node that fits elsewhere steps aside to another
    host first. Moves that cannot be made are left out. A node steps aside only if it then reaches its destination:
    otherwise it would step aside again whenever moves are planned.
    """
    wanted, staying = list(moves), set[int]()
    while True:
        ordered, stranded = _carried_out(placement, wanted, staying)
        if not stranded:
            return ordered
        staying |= stranded


def _carried_out(placement: Placement, moves: list[Move], staying: set[int]) -> tuple[list[Move], set[int]]:
    """Return moves in an order in which they can be carried out, and the nodes that stepped aside in vain.

    :param staying: nodes that must not step aside
    """
    pending = list(moves)
    free, at = placement.free.copy(), placement.hosts.copy()
    ordered: list[Move] = []

    def carry_out(move: Move) -> None:
        size = placement.sizes[:, move.node]
        free[:, at[move.node]] += size
        free[:, move.to] -= size
        at[move.node] = move.to
        ordered.append(move)

    while pending:
        waiting = []
        for move in pending:
            if placement.usable[move.to] and bool((free[:, move.to] >= placement.sizes[:, move.node]).all()):
                carry_out(move)
            else:
                waiting.append(move)
        if len(waiting) == len(pending):
            aside = _aside(placement, free, at, [move for move in waiting if move.node not in staying])
            if aside is None:
                break
            carry_out(aside)
        pending = waiting
    return ordered, {move.node for move in pending if at[move.node] != placement.hosts[move.node]}


def _aside(placement: Placement, free: IntArray, at: IntArray, waiting: list[Move]) -> Move | None:
    """Return a move of the smallest waiting node to any host where it fits, or None.

    Nodes that have stepped aside already stay, so this ends.
    """
    capacity = np.maximum(placement.capacity.max(axis=1, initial=1), 1)
    size: npt.NDArray[np.float64] = (placement.sizes / capacity[:, None]).sum(axis=0)
    for move in sorted(waiting, key=lambda each: (float(size[each.node]), each.node)):
        if at[move.node] != placement.hosts[move.node]:
            continue
        found = placement.with_room(free, move.node)
        if len(found):
            return Move(move.node, int(found[0]))
    return None


def fullest_with_room(placement: Placement, free: IntArray, size: IntArray) -> int | None:
    """Return the host with the least space left on which a node fits (best fit), or None; equal hosts by number.

    :param free: what is free now, shape (classes, hosts)
    :param size: what the node needs, shape (classes,)
    """
    fits = np.flatnonzero((free >= size[:, None]).all(axis=0) & placement.usable)
    if not len(fits):
        return None
    left = (free[:, fits] / np.maximum(placement.capacity[:, fits], 1)).sum(axis=0)
    return int(fits[left.argmin()])


def to_grow(placement: Placement, node: int, size: IntArray) -> list[Move] | None:
    """Return the moves after which a node can have another size on its host, or None if there are none.

    Either its neighbours move, the smallest ones first, or it moves itself, whichever moves less (shirako A20, P30).

    :param size: what the node is to have, shape (classes,)
    """
    free, here = placement.free.copy(), int(placement.hosts[node])
    missing = size - placement.sizes[:, node] - free[:, here]
    if (missing <= 0).all():
        return []
    weight = placement.sizes.sum(axis=0)
    moves: list[Move] = []
    neighbours = np.flatnonzero(placement.hosts == here)
    for other in neighbours[np.argsort(weight[neighbours], kind="stable")].tolist():
        if other == node or (missing <= 0).all():
            continue
        found = placement.with_room(free, other)
        if len(found):
            moves.append(Move(other, int(found[0])))
            free[:, found[0]] -= placement.sizes[:, other]
            missing = missing - placement.sizes[:, other]
    alone = np.flatnonzero((placement.free >= size[:, None]).all(axis=0) & placement.usable)
    alone = alone[alone != here]
    by_neighbours = sum(int(weight[move.node]) for move in moves) if (missing <= 0).all() else None
    if len(alone) and (by_neighbours is None or int(weight[node]) < by_neighbours):
        return [Move(node, int(alone[0]))]
    return None if by_neighbours is None else moves
