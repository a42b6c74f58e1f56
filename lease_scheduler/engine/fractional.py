"""Fluid leases: how they share CPU at present, and how far they have come (Stillwell 2010, sections 3.1 and 5.2.5).

The plan has only what they hold: memory, disk and the least part of their VCPU. What hosts have left now is shared
among those that run. So no other lease ever has less because of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lease_scheduler.engine.state import EngineState
from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import FULL, Progress
from lease_scheduler.model.resources import VCPU
from lease_scheduler.policy.fractional.base import FluidNodes, FractionalPolicy


class FluidShares:
    """Keeps the yields of fluid leases up to date, and with them their virtual time.

    :param state: state that the parts of the engine share
    :param policy: decides how they share CPU
    """

    def __init__(self, state: EngineState, policy: FractionalPolicy) -> None:
        self._state = state
        self._policy = policy

    def refusal(self, request: LeaseRequest) -> str | None:
        """Return why a request for a fluid lease is refused, or None."""
        if request.min_yield is None or self._policy.shares:
            return None
        return "min_yield: this site has no fluid leases; leave it out"

    def follow(self, now: int) -> None:
        """Give the fluid leases the yields that follow from who is where now."""
        state = self._state
        if not state.fluid:
            return
        leases = [lease for lease_id in state.fluid if (lease := state.lease(lease_id)) is not None]
        running = [lease for lease in leases if lease.active_since is not None]
        yields = dict(zip((lease.lease_id for lease in running), self._yields(running, now), strict=True))
        for lease in leases:
            progress = _followed(lease, yields.get(lease.lease_id, 0), now)
            if progress is not lease.progress:
                state.put(replace(lease, progress=progress))
        state.publish(now)

    def _yields(self, running: Sequence[Lease], now: int) -> Iterator[int]:
        """Yield the yield of each running lease in thousandths, rounded down."""
        vms = [
            (number, host, node_set.resources.get(VCPU, 0), node_set.fluid)
            for number, lease in enumerate(running)
            for node_set, host in _nodes(lease)
        ]
        if not vms:
            return iter([FULL] * len(running))
        leases, hosts, held, fluid = np.array(vms, dtype=np.int64).T
        nodes = FluidNodes(self._free(now), hosts, leases, fluid.astype(float), len(running))
        scaled = self._policy.scaled_yields(nodes)
        need = held + fluid
        # A lease of nodes of several sizes has the yield of the node that gets least.
        part = np.divide(held + scaled[leases] * fluid, need, out=np.ones(len(need)), where=need > 0)
        least = np.ones(len(running))
        np.minimum.at(least, leases, part)
        return iter(np.floor(least * FULL + 1e-6).astype(int).tolist())

    def _free(self, now: int) -> Floats:
        """Return the VCPU that each host has left now."""
        plan = self._state.planner.plan
        if VCPU not in plan.classes:
            return np.zeros(len(plan.site))
        row = plan.classes.index(VCPU)
        free: Floats = plan.availability.free_at(now)[row].astype(float)
        for host in plan.outages:
            start, end = plan.outage(host)
            if start <= now < end:
                # What takes nothing new is full in the plan, but what runs there goes on.
                free[host] += plan.availability.capacity[row, host]
        free[free < 0] = 0
        return free


def _nodes(lease: Lease) -> Iterator[tuple[NodeSet, int]]:
    """Return the node set and the host of each VM of a running lease."""
    vms = (node_set for node_set in lease.request.nodes for _ in range(node_set.count))
    return zip(vms, lease.holdings[0].assignment, strict=True)


def _followed(lease: Lease, permille: int, now: int) -> Progress | None:
    """Return the progress of a lease with another yield; the same object if nothing has changed."""
    known = lease.progress
    if lease.active_since is None and lease.accumulated == 0:
        # It has not run, or its work is lost.
        return None
    if known is None:
        return Progress(0, permille, now)
    return known if known.permille == permille else known.at_yield(permille, now)
