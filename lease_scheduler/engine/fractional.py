"""Fluid leases: how they share CPU at present, and how far they have come (Stillwell 2010, sections 3.1 and 5.2.5).

The plan has only what they hold: memory, disk and the least part of their VCPU. What hosts have left now is shared
among those that run. So no other lease ever has less because of them.
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
    """Keeps the yields of fluid leases up to date, and with them their virtual time.

    :param state: state that the parts of the engine share
    :ivar needs: what they need, as far as that is known
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
        """Give the fluid leases the yields that follow from who is where now."""
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
        """Yield the host of each VM of a running lease, the VCPU that it holds, and what it needs of them."""
        needs = self.needs
        part = needs.parts.get(lease.lease_id, needs.likely.get(lease.lease_id, 1.0))
        for node_set, host in _nodes(lease):
            held = node_set.resources.get(VCPU, 0)
            yield host, held, max(float(held), part * (held + node_set.fluid))

    def load(self, nodes: Sequence[tuple[str, int]], now: int) -> FluidLoad | None:
        """Return what fluid leases need of their hosts, or None if none runs.

        :param nodes: lease and index of each VM of interest
        """
        running = self.running()
        if not running:
            return None
        room = self._free(now)
        need = np.zeros(len(room))
        of_vm: dict[tuple[str, int], float] = {}
        for lease in running:
            for vm, (host, held, needed) in enumerate(self.cpu_of_nodes(lease)):
                of_vm[lease.lease_id, vm] = needed
                room[host] += held
                need[host] += needed
        return FluidLoad(room, need, np.array([of_vm.get(node, 0.0) for node in nodes]))

    def _yields(self, running: Sequence[Lease], now: int) -> Iterator[tuple[int, int | None]]:
        """Yield the yield of each running lease, and what it is given if that differs, in thousandths, rounded down."""
        vms = [
            (number, host, node_set.resources.get(VCPU, 0), node_set.fluid)
            for number, lease in enumerate(running)
            for node_set, host in _nodes(lease)
        ]
        if not vms:
            return iter([(FULL, None)] * len(running))
        leases, hosts, held, fluid = np.array(vms, dtype=np.int64).T
        nodes = FluidNodes(self._free(now), hosts, leases, fluid.astype(float), len(running))
        known = self.needs
        if known.parts or known.tried:
            parts = np.array([known.parts.get(lease.lease_id, 1.0) for lease in running])
            tried = np.array([lease.lease_id in known.tried for lease in running])
            yields, given = divided(self._policy.scaled_yields, nodes, held, parts, tried)
            return zip(_permille(yields), _permille(given), strict=True)
        scaled = self._policy.scaled_yields(nodes)
        need = held + fluid
        # A lease of nodes of several sizes has the yield of the node that gets least.
        part = np.divide(held + scaled[leases] * fluid, need, out=np.ones(len(need)), where=need > 0)
        least = np.ones(len(running))
        np.minimum.at(least, leases, part)
        return ((permille, None) for permille in _permille(least))

    def _free(self, now: int) -> Floats:
        """Return the VCPU that each host has left now."""
        plan = self._state.planner.plan
        if VCPU not in plan.classes:
            return np.zeros(len(plan.site))
        row = plan.classes.index(VCPU)
        free: Floats = plan.availability.free_at(now)[row].astype(float)
        for host, (start, end) in plan.outages.items():
            if start <= now < end:
                # What takes nothing new is full in the plan, but what runs there goes on.
                free[host] += plan.availability.capacity[row, host]
        free[free < 0] = 0
        return free


def _permille(parts: Floats) -> list[int]:
    found: list[int] = np.floor(parts * FULL + 1e-6).astype(int).tolist()
    return found


def _nodes(lease: Lease) -> Iterator[tuple[NodeSet, int]]:
    """Return the node set and the host of each VM of a running lease."""
    vms = (node_set for node_set in lease.request.nodes for _ in range(node_set.count))
    return zip(vms, lease.holdings[0].assignment, strict=True)


def _followed(lease: Lease, permille: int, given: int | None, now: int) -> Progress | None:
    """Return the progress of a lease with another yield; the same object if nothing has changed."""
    known, began = lease.progress, lease.active_since
    if lease.accumulated == 0:
        if began is None:
            # It has not run, or its work is lost.
            return None
        if known is not None and known.virtual > 0 and known.since <= began:
            # It has begun anew in the very step in which its work was lost.
            known = None
    if known is None:
        return Progress(0, permille, now, given)
    return known if (known.permille, known.given) == (permille, given) else known.at_yield(permille, now, given)
