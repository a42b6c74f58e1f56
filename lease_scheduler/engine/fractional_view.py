"""Input of a policy that places fluid leases: these leases, and the capacity that all others leave on the hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lease_scheduler.engine.state import EngineState
from lease_scheduler.fractional.arrays import TOLERANCE, Floats
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.progress import FULL
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.model.states import QUEUED_STATES
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.durations.migration import migration_of
from lease_scheduler.plan.options import Migration
from lease_scheduler.policy.fractional.base import FluidLeases

#: Resource classes that leases which a policy may place can need.
_CLASSES = (VCPU, MEMORY_MB, DISK_GB)

#: Minimum part of their CPU needs that running leases are assumed to have where others leave them less. Otherwise no
#: mapping could leave them where they are.
_LEAST = 0.01


@dataclass(frozen=True, eq=False)
class View:
    """Leases that a policy that places fluid leases can decide about.

    It excludes leases whose servers are being started, stopped, suspended or resumed, and leases that are about to end
    or to be suspended. The capacity that these hold is not free.

    :ivar leases: leases in the order of submission
    :ivar fluid: the same leases as arrays
    """

    leases: tuple[Lease, ...]
    fluid: FluidLeases


def can_be_placed(state: EngineState, request: LeaseRequest) -> bool:
    """Return whether a policy may place a fluid lease.

    These are the conditions:

    * It has one node set, whose nodes may run on any host, and need only VCPU, memory and disk.
    * It can be suspended, and can resume on other hosts.
    * It asks for no ``min_lifetime``, because the policy could not pause it.
    * It fits on the empty site.
    """
    if request.min_yield is None or len(request.nodes) != 1 or request.min_lifetime is not None:
        return False
    context = state.planner.context
    if not context.suspension.can_suspend(request) or migration_of(request, context.options) is Migration.NO:
        return False
    node_set, plan = request.nodes[0], context.plan
    if node_set.groups or node_set.per_host is not None or not set(node_set.resources) <= set(_CLASSES):
        return False
    demand, capacity = plan.demands(request)[0], plan.availability.capacity
    # Hosts that have left the site have no capacity, and do not matter.
    if demand.eligible is not None and not demand.eligible[capacity.any(axis=0)].all():
        return False
    return bool(nodes_on_empty_hosts(state, request).sum() >= demand.count)


def nodes_on_empty_hosts(state: EngineState, request: LeaseRequest) -> IntArray:
    """Return how many nodes of a lease fit on each host if it is empty, shape (hosts,).

    Amounts are compared as parts of the largest host, by the largest part that a node needs of any class. So where
    hosts differ in shape, the result may be smaller than what really fits.
    """
    plan, whole = state.planner.plan, units(state)
    demand, capacity = plan.demands(request)[0], plan.availability.capacity
    part = float((demand.amounts / whole).max(initial=0.0))
    rows = [plan.classes.index(name) for name in _CLASSES if name in plan.classes]
    offered = (capacity / whole[:, None])[rows].min(axis=0)
    fits = np.floor(offered / part + TOLERANCE) if part else np.full(len(offered), demand.count)
    return fits.astype(np.int64)


def view_of(state: EngineState, now: int, horizon: int) -> View:
    """Return the leases that a policy can decide about now.

    :param horizon: seconds from now for which the capacity of hosts must be free
    """
    plan = state.planner.plan
    known = (plan.leases[lease_id] for lease_id in state.runs.fluid if lease_id in plan.queue.apart)
    placed = (lease for lease in known if _waits(state, lease) or runs_undisturbed(state, lease, now))
    leases = sorted(placed, key=lambda each: each.sequence)
    running = [lease for lease in leases if lease.active_since is not None]
    free = plan.without(running, now, until=now + horizon).free(now, now + horizon)
    first = np.concatenate([[0], np.cumsum([lease.request.node_count for lease in leases], dtype=np.int64)])
    hosts = np.zeros(first[-1], np.int64)
    for number, lease in enumerate(leases):
        if lease.active_since is not None:
            hosts[first[number] : first[number + 1]] = sorted(lease.holdings[0].assignment)
    is_running = np.array([lease.active_since is not None for lease in leases], np.bool_)
    cpu, memory = _needs(state, leases)
    others_load, others_held = _of_others(state, leases, free)
    of_node = np.repeat(np.arange(len(leases)), np.diff(first))
    runs = is_running[of_node]
    count = len(plan.site)
    # A running lease may stay on its hosts even if this conflicts with what is planned there.
    there = np.bincount(hosts[runs], weights=memory[of_node][runs], minlength=count)
    others_held = np.where(others_held + there > 1 + TOLERANCE, 1 - there, others_held)
    least = _LEAST * np.bincount(hosts[runs], weights=cpu[of_node][runs], minlength=count)
    return View(
        tuple(leases),
        FluidLeases(
            cpu=cpu,
            memory=memory,
            first=first,
            release=np.array([lease.request.submitted for lease in leases], float),
            virtual=np.array([_virtual(lease, now) for lease in leases], float),
            hosts=hosts,
            is_running=is_running,
            stays=np.array([lease.request.preemption_mode is not PreemptionMode.MIGRATE for lease in leases], np.bool_),
            others_load=np.minimum(others_load, 1 - least),
            others_held=others_held,
        ),
    )


def present_room(state: EngineState, now: int) -> tuple[IntArray, IntArray]:
    """Return the capacity that is now free for the leases that a policy can decide about, and what others leave.

    Both have shape (classes, hosts). The second also includes what is held by leases of the policy that it cannot
    decide about now, such as those whose servers are being started or suspended.
    """
    plan = state.planner.plan
    free: IntArray = plan.availability.free_at(now).copy()
    left = free.copy()
    for lease_id in state.runs.fluid:
        lease = plan.leases[lease_id]
        first = lease.holdings[0] if lease.holdings else None
        if lease_id in plan.queue.apart and first is not None and first.start <= now < first.end:
            hosts, amounts = plan.holding(lease.request, first.assignment)
            left[:, hosts] += amounts[:-1]
            if runs_undisturbed(state, lease, now):
                free[:, hosts] += amounts[:-1]
    return free, left


def _waits(state: EngineState, lease: Lease) -> bool:
    return lease.state in QUEUED_STATES and not lease.holdings and lease.lease_id not in state.runs.operating


def runs_undisturbed(state: EngineState, lease: Lease, now: int) -> bool:
    """Return whether a lease can be paused or moved now.

    It must run with all its nodes, without an operation in progress, outages of its hosts or further holdings.
    """
    if lease.active_since is None or lease.missing_since is not None or lease.lease_id in state.runs.operating:
        return False
    first = lease.holdings[0]
    gone = state.planner.plan.outages
    return len(lease.holdings) == 1 and first.run_end > now and first.hosts.isdisjoint(gone)


def _virtual(lease: Lease, now: int) -> float:
    return 0.0 if lease.progress is None else lease.progress.virtual_at(now) / FULL


def units(state: EngineState) -> IntArray:
    """Return the largest amount that a host has of each resource class, at least 1, shape (classes,)."""
    largest: IntArray = state.planner.plan.availability.capacity.max(axis=1, initial=1)
    return np.maximum(largest, 1)


def _needs(state: EngineState, leases: Sequence[Lease]) -> tuple[Floats, Floats]:
    """Return the CPU that a node of each lease needs, and the largest part of any resource that it holds.

    Both are parts of the largest host, shape (leases,).
    """
    plan, whole = state.planner.plan, units(state)
    vcpu = float(whole[plan.classes.index(VCPU)]) if VCPU in plan.classes else 1.0
    sets = [lease.request.nodes[0] for lease in leases]
    cpu = np.array([node_set.at_full_speed.get(VCPU, 0) / vcpu for node_set in sets], float)
    held = [float((plan.demands(lease.request)[0].amounts / whole).max(initial=0.0)) for lease in leases]
    return np.minimum(cpu, 1.0), np.array(held, float)


def _of_others(state: EngineState, leases: Sequence[Lease], free: IntArray) -> tuple[Floats, Floats]:
    """Return the parts of each host that others hold, shape (hosts,): of CPU, and the largest of any needed class.

    :param leases: leases that tell which classes are needed
    :param free: free capacity without these leases, shape (classes, hosts)
    """
    plan, whole = state.planner.plan, units(state)
    parts = np.clip(1 - free / whole[:, None], 0.0, 1.0)
    load = parts[plan.classes.index(VCPU)] if VCPU in plan.classes else np.zeros(len(plan.site))
    needed = np.zeros(len(whole), np.bool_)
    for lease in leases:
        needed |= plan.demands(lease.request)[0].amounts > 0
    return load, parts[needed].max(axis=0, initial=0.0)
