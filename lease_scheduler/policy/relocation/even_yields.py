"""Relocation that evens out the yields of fluid leases."""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.plan.changing.moves import FluidLoad, Move, Placement
from lease_scheduler.policy.relocation.base import RelocationPolicy

#: By how much the least yield must rise, relatively, for anything to move (dfrs F68), and for each single move.
_WORTHWHILE, _PROGRESS = 1.10, 1.01


class EvenYields(RelocationPolicy):
    """Moves fluid nodes from the host with the least yield to others, if the least yield of the site rises by 10 %.

    DYNAMIC+MIGRATION (Stillwell 2010, section 7.2.2; dfrs F68) maps all nodes anew, wherever they run. Here moves have
    a budget, as in the adaptation problem (section 6.2), so each move is the one that helps the worst host most; of
    equal ones, that of the smallest node.
    """

    empties_hosts = False

    def moves(self, placement: Placement) -> list[Move]:
        """See ``RelocationPolicy.moves``."""
        fluid = placement.fluid
        if fluid is None:
            return []
        free, need, at = placement.free.copy(), fluid.need.copy(), placement.hosts.copy()
        movable = fluid.of_node > 0
        before = float(_yields(fluid, need).min())
        found: list[Move] = []
        while movable.any():
            yields = _yields(fluid, need)
            worst = int(yields.argmin())
            nodes = np.flatnonzero(movable & (at == worst))
            fits = (free[:, None, :] >= placement.sizes[:, nodes, None]).all(axis=0) & placement.usable
            fits[:, worst] = False
            if not fits.any():
                break
            mine = fluid.of_node[nodes, None]
            there = np.divide(fluid.room, need + mine, out=np.ones(fits.shape), where=need + mine > 0)
            here = np.divide(
                fluid.room[worst], need[worst] - mine, out=np.ones(mine.shape), where=need[worst] - mine > 1e-9
            )
            gain = np.where(fits, np.minimum(np.minimum(there, here), 1.0), -1.0)
            most = gain.max()
            if most < _PROGRESS * yields[worst]:
                break
            rows, hosts = np.nonzero(gain >= most - 1e-9)
            row, host = min(
                zip(rows.tolist(), hosts.tolist(), strict=True),
                key=lambda pair: (int(placement.sizes[:, nodes[pair[0]]].sum()), pair),
            )
            node = int(nodes[row])
            free[:, worst] += placement.sizes[:, node]
            free[:, host] -= placement.sizes[:, node]
            need[worst] -= fluid.of_node[node]
            need[host] += fluid.of_node[node]
            at[node] = host
            # Each node moves once, so this ends.
            movable[node] = False
            found.append(Move(node, host))
        return found if float(_yields(fluid, need).min()) >= _WORTHWHILE * before else []


def _yields(fluid: FluidLoad, need: Floats) -> Floats:
    """Return what each host gives its fluid nodes of what they need, at most 1."""
    return np.minimum(np.divide(fluid.room, need, out=np.ones(len(need)), where=need > 1e-9), 1.0)
