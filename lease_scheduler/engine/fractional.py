"""Fluid leases: how they share CPU at present, and their progress (Stillwell 2010, sections 3.1 and 5.2.5).

The plan contains only what they hold: memory, disk and the minimum part of their VCPU. The VCPU that hosts have left
now are divided among the fluid leases that run. So they never take anything from other leases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lease_scheduler.engine.fluid_division import divided
from lease_scheduler.engine.state import EngineState
from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.discovery import UNKNOWN, Needs
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import FULL, Progress
from lease_scheduler.model.resources import VCPU
from lease_scheduler.plan.changing.moves import FluidLoad
from lease_scheduler.policy.fractional.base import FluidNodes, FractionalPolicy


class FluidShares:
    """Yields and virtual times of fluid leases, kept up to date.

    :param state: state that the parts of the engine share
    :ivar needs: needs of the leases, as far as they are known
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self.needs: Needs = UNKNOWN

    @property
    def _policy(self) -> FractionalPolicy:
        return self._state.policies.fractional

    def refusal(self, request: LeaseRequest) -> str | None:
        """Return why a request for a fluid lease is refused, or None."""
        if request.min_yield is None or self._policy.shares:
            return None
        return "min_yield: this site has no fluid leases; leave it out"

    def follow(self, now: int) -> None:
        """Recompute the yields of fluid leases from the current placement, and store those that changed."""
        state = self._state
        if not state.runs.fluid:
            return
        leases = [lease for lease_id in state.runs.fluid if (lease := state.lease(lease_id)) is not None]
        running = [lease for lease in leases if lease.active_since is not None]
        yields = dict(zip((lease.lease_id for lease in running), self._yields(running, now), strict=True))
        for lease in leases:
            progress = _followed(lease, *yields.get(lease.lease_id, (0, None)), now)
            if progress is not lease.progress:
                state.put(replace(lease, progress=progress))
        state.publish(now)

    def running(self) -> list[Lease]:
        """Return the fluid leases that run."""
        leases = (self._state.lease(lease_id) for lease_id in self._state.runs.fluid)
        return [lease for lease in leases if lease is not None and lease.active_since is not None]

    def cpu_of_nodes(self, lease: Lease) -> Iterator[tuple[int, int, float]]:
        """Yield, for each node of a running lease, its host, the VCPU that it holds, and those that it needs."""
        needs = self.needs
        part = needs.parts.get(lease.lease_id, needs.likely.get(lease.lease_id, 1.0))
        for node_set, host in _nodes(lease):
            held = node_set.resources.get(VCPU, 0)
            yield host, held, max(float(held), part * (held + node_set.fluid))

    def load(self, nodes: Sequence[tuple[str, int]], now: int) -> FluidLoad | None:
        """Return the VCPU that fluid leases need on their hosts, or None if no fluid lease runs.

        :param nodes: nodes of interest, each as (lease id, index of the node in the lease)
        """
        running = self.running()
        if not running:
            return None
        available = self._free(now)
        need = np.zeros(len(available))
        by_node: dict[tuple[str, int], float] = {}
        for lease in running:
            for node, (host, held, needed) in enumerate(self.cpu_of_nodes(lease)):
                by_node[lease.lease_id, node] = needed
                available[host] += held
                need[host] += needed
        return FluidLoad(available, need, np.array([by_node.get(node, 0.0) for node in nodes]))

    def _yields(self, running: Sequence[Lease], now: int) -> Iterator[tuple[int, int | None]]:
        """Yield, for each running lease, its yield, and the part of its VCPU that it is given.

        Both are in thousandths, rounded down. The second is None where no needs are known, so that both are equal.
        """
        rows = [
            (number, host, node_set.resources.get(VCPU, 0), node_set.fluid)
            for number, lease in enumerate(running)
            for node_set, host in _nodes(lease)
        ]
        if not rows:
            return iter([(FULL, None)] * len(running))
        leases, hosts, held, fluid = np.array(rows, dtype=np.int64).T
        nodes = FluidNodes(self._free(now), hosts, leases, fluid.astype(float), len(running))
        known = self.needs
        if known.parts or known.tried:
            parts = np.array([known.parts.get(lease.lease_id, 1.0) for lease in running])
            tried = np.array([lease.lease_id in known.tried for lease in running])
            yields, given = divided(self._policy.scaled_yields, nodes, held, parts, tried)
            return zip(_permille(yields), _permille(given), strict=True)
        scaled = self._policy.scaled_yields(nodes)
        need = held + fluid
        # A lease with nodes of several sizes has the yield of the node that gets the smallest part.
        part = np.divide(held + scaled[leases] * fluid, need, out=np.ones(len(need)), where=need > 0)
        least = np.ones(len(running))
        np.minimum.at(least, leases, part)
        return ((permille, None) for permille in _permille(least))

    def _free(self, now: int) -> Floats:
        """Return the VCPU that no lease holds on each host now, shape (hosts,)."""
        plan = self._state.planner.plan
        if VCPU not in plan.classes:
            return np.zeros(len(plan.site))
        row = plan.classes.index(VCPU)
        free: Floats = plan.availability.free_at(now)[row].astype(float)
        for host, (start, end) in plan.outages.items():
            if start <= now < end:
                # In the plan, a host that accepts nothing new is full, but its leases continue to run.
                free[host] += plan.availability.capacity[row, host]
        free[free < 0] = 0
        return free


def _permille(parts: Floats) -> list[int]:
    found: list[int] = np.floor(parts * FULL + 1e-6).astype(int).tolist()
    return found


def _nodes(lease: Lease) -> Iterator[tuple[NodeSet, int]]:
    """Return the node set and the host of each node of a running lease."""
    node_sets = (node_set for node_set in lease.request.nodes for _ in range(node_set.count))
    return zip(node_sets, lease.holdings[0].assignment, strict=True)


def _followed(lease: Lease, permille: int, given: int | None, now: int) -> Progress | None:
    """Return the progress of a lease with another yield; the same object if nothing has changed."""
    known, began = lease.progress, lease.active_since
    if lease.accumulated == 0:
        if began is None:
            # It has not run, or its work is lost.
            return None
        if known is not None and known.virtual > 0 and known.since <= began:
            # It lost its work and started over within the same step.
            known = None
    if known is None:
        return Progress(0, permille, now, given)
    return known if (known.permille, known.given) == (permille, given) else known.at_yield(permille, now, given)
