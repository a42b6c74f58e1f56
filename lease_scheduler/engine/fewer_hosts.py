"""How much CPU fluid leases would get with fewer hosts (Stillwell 2010, section 4.4.7; dfrs F29)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lease_scheduler.engine.fractional import FluidShares
from lease_scheduler.engine.fractional_view import can_be_placed, runs_undisturbed, units
from lease_scheduler.engine.state import EngineState
from lease_scheduler.fractional.arrays import Booleans, Integers
from lease_scheduler.fractional.fewer_nodes import Occupancy, least_yields
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import VCPU
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.changing.sleepers import as_if_awake

#: Seconds for which nothing but movable fluid leases may be planned on a host that can be switched off.
_HORIZON = 600


@dataclass(frozen=True)
class WithFewerHosts:
    """Yield of the running fluid leases with fewer hosts.

    :ivar fewer: number of hosts to switch off
    :ivar hosts: number of hosts that remain in service
    :ivar without: names of the hosts to switch off; empty if so many cannot be
    :ivar least_yield: smallest yield of these leases, from 0 to 1; None if they cannot all run
    :ivar leases: number of running fluid leases
    :ivar waiting: number of waiting fluid leases, which the yield does not include
    """

    fewer: int
    hosts: int
    without: tuple[str, ...]
    least_yield: float | None
    leases: int
    waiting: int


class FewerHosts:
    """Computation of what the fluid leases of an engine would get with fewer hosts.

    :param state: state that the parts of the engine share
    :param fluid: knows what fluid leases need
    :param now: returns the present instant
    """

    def __init__(self, state: EngineState, fluid: FluidShares, now: Callable[[], int]) -> None:
        self._state = state
        self._fluid = fluid
        self._now = now

    def look(self, counts: Collection[int]) -> Callable[[], list[WithFewerHosts]]:
        """Copy what is needed from the plan, and return a function that computes the result for each number of hosts.

        The function is slow, and may be called in another thread. A host can be switched off if, from now on for ten
        minutes, nothing is on it but running fluid leases that can move. Sleeping hosts come first, then empty ones,
        then those with the fewest VCPU.

        :param counts: numbers of hosts to switch off
        """
        state, now = self._state, self._now()
        running = self._fluid.running()
        known = (state.planner.plan.leases[lease_id] for lease_id in state.runs.fluid)
        waiting = sum(not lease.holdings or lease.holdings[0].start > now for lease in known)
        in_service = self._in_service(now)
        undisturbed = [lease for lease in running if runs_undisturbed(state, lease, now)]
        occupancy = self._occupancy(undisturbed, in_service, now)
        going = [state.planner.plan.site.hosts[number].name for number in occupancy.leaving.tolist()]
        hosts = int(in_service.sum())

        def found() -> list[WithFewerHosts]:
            least = least_yields(occupancy, counts)
            names = {count: tuple(going[:count]) if count <= len(going) else () for count in counts}
            return [
                WithFewerHosts(count, max(0, hosts - count), names[count], least[count], len(running), waiting)
                for count in counts
            ]

        return found

    def _in_service(self, now: int) -> Booleans:
        """Return which hosts have VCPU and are in service, shape (hosts,)."""
        plan = self._state.planner.plan
        if VCPU not in plan.classes:
            return np.zeros(len(plan.site), np.bool_)
        found: Booleans = plan.availability.capacity[plan.classes.index(VCPU)] > 0
        for host, (start, end) in plan.outages.items():
            found[host] &= not start <= now < end
        return found

    def _occupancy(self, leases: Sequence[Lease], in_service: Booleans, now: int) -> Occupancy:
        """Return the placement of these leases; all other leases count as background load."""
        plan, whole = self._state.planner.plan, units(self._state)
        vcpu = float(whole[plan.classes.index(VCPU)]) if VCPU in plan.classes else 1.0
        tasks = [
            (host, min(1.0, need / vcpu), min(need, held) / vcpu, part, stays)
            for lease in leases
            for stays in (self._stays(lease),)
            for (host, held, need), part in zip(self._fluid.cpu_of_nodes(lease), self._parts(lease, whole), strict=True)
            if in_service[host] or not stays
        ]
        place = np.array([task[0] for task in tasks], np.int64)
        cpu, least, held = (np.array([task[field] for task in tasks], np.float64) for field in (1, 2, 3))
        stays = np.array([task[4] for task in tasks], np.bool_)
        until = now + _HORIZON
        # Sleeping hosts count: they would wake.
        free = plan.without(leases, now, until=until, base=as_if_awake(plan, now)).free(now, until)
        parts = np.clip(1 - free / whole[:, None], 0.0, 1.0)
        needed = np.zeros(len(whole), np.bool_)
        for lease in leases:
            for demand in plan.demands(lease.request):
                needed |= demand.amounts > 0
        # A node that stays may overlap with what is planned on its host, which then counts for less.
        there = np.bincount(place[stays], weights=held[stays], minlength=len(in_service))
        can_go = in_service & (free == plan.availability.capacity).all(axis=0)
        can_go[place[stays]] = False
        return Occupancy(
            cpu=cpu,
            least=least,
            held=held,
            place=place,
            stays=stays,
            load=parts[plan.classes.index(VCPU)] if VCPU in plan.classes else np.zeros(len(in_service)),
            others_held=np.minimum(parts[needed].max(axis=0, initial=0.0), 1 - there),
            closed=np.flatnonzero(~in_service),
            leaving=self._in_order(np.flatnonzero(can_go), place),
        )

    def _parts(self, lease: Lease, whole: IntArray) -> list[float]:
        """Return, for each node of a lease, the largest part of any resource of a host that it holds.

        :param whole: amount that the largest host has of each resource class, shape (classes,)
        """
        return [
            min(1.0, float((demand.amounts / whole).max(initial=0.0)))
            for demand in self._state.planner.plan.demands(lease.request)
            for _ in range(demand.count)
        ]

    def _stays(self, lease: Lease) -> bool:
        """Return whether the nodes of a lease have to stay where they are."""
        request = lease.request
        return request.preemption_mode is not PreemptionMode.MIGRATE or not can_be_placed(self._state, request)

    def _in_order(self, hosts: Integers, place: Integers) -> Integers:
        """Return hosts in the order in which they are switched off."""
        asleep, used, plan = self._state.not_awake, set(place.tolist()), self._state.planner.plan
        size = plan.availability.capacity[plan.classes.index(VCPU)] if len(hosts) else hosts
        order = sorted(hosts.tolist(), key=lambda host: (host not in asleep, host in used, int(size[host]), -host))
        return np.array(order, np.int64)
