"""Plans of any size to measure on.

Hosts have 32 cores in four lanes of eight. In each lane, leases follow one another with pauses; the lanes of a lease
are drawn at random. So several leases share a host, no host is over capacity, and plans are quick to build. With at
least as many leases as hosts, about half of the cores are in use. Half of the leases are reservations; the others are
best-effort and preemptible.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.policy.queueing.base import QueueingPolicy

DAY = 86_400
#: Live leases lie within this many seconds from now.
SPAN = 28 * DAY
HOST = Resources({VCPU: 32, MEMORY_MB: 131_072, DISK_GB: 1_000})

_LANES = 4
_MOST_NODES = 16
_LONGEST_MEAN = 14 * DAY


def flavor(vcpus: int) -> Resources:
    """Return the resources of a VM that takes the same share of every resource class of a host."""
    return Resources({VCPU: vcpus, MEMORY_MB: vcpus * 4_096, DISK_GB: vcpus * 20})


_FLAVORS = [flavor(2), flavor(4), flavor(8)]


def empty_planner(hosts: int, queueing: QueueingPolicy | None = None) -> Planner:
    """Return a planner with the default policies and options.

    :param queueing: another queueing policy
    """
    return Planner(
        Site.homogeneous(hosts, HOST),
        PlanningOptions(),
        PolicySet() if queueing is None else PolicySet(queueing=queueing),
        deadline_preemption=True,
    )


def fill(planner: Planner, leases: int, now: int, seed: int) -> None:
    """Put a number of live leases of 1 to 16 nodes into an empty plan.

    :param now: earliest start of all of them
    """
    hosts = len(planner.plan.site)
    rng = np.random.default_rng(seed)
    in_a_row = leases * (1 + _MOST_NODES) / 2 / (_LANES * hosts)
    mean_duration = min(_LONGEST_MEAN, SPAN / in_a_row)
    pause = max(SPAN / in_a_row - mean_duration, mean_duration / 10)
    free_from = np.full((hosts, _LANES), now, dtype=np.int64)
    filled = []
    for number in range(leases):
        nodes = int(rng.integers(1, _MOST_NODES + 1))
        drawn = rng.choice(hosts, size=min(hosts, 4 * _MOST_NODES), replace=False)
        soonest = free_from[drawn].min(axis=1).argsort(kind="stable")[:nodes]
        chosen = drawn[soonest]
        lanes = free_from[chosen].argmin(axis=1)
        start = int(free_from[chosen, lanes].max() + rng.exponential(min(SPAN, pause)))
        end = start + int(rng.uniform(0.5, 1.5) * mean_duration)
        free_from[chosen, lanes] = end
        filled.append(_lease(number, chosen.tolist(), _FLAVORS[int(rng.integers(len(_FLAVORS)))], start, end))
    planner.plan.put_all(filled)
    planner.plan.take_changes()


def _lease(number: int, hosts: list[int], vm: Resources, start: int, end: int) -> Lease:
    nodes = NodeSet(len(hosts), vm)
    held = (Holding(tuple(hosts), start, start, end, end),)
    if number % 2:
        request = best_effort(f"live-{number}", nodes, end - start, preemptible=True)
    else:
        request = reservation(f"live-{number}", nodes, start, end - start)
    return Lease(request, number, LeaseState.READY, holdings=held)


def reservation(name: str, nodes: NodeSet, start: int, duration: int) -> LeaseRequest:
    """Return a request for a reservation."""
    return LeaseRequest(name, LeaseKind.RESERVATION, (nodes,), 0, duration=duration, start=start)


def immediate(name: str, nodes: NodeSet, duration: int) -> LeaseRequest:
    """Return a request for an immediate lease."""
    return LeaseRequest(name, LeaseKind.IMMEDIATE, (nodes,), 0, duration=duration)


def best_effort(name: str, nodes: NodeSet, duration: int, *, preemptible: bool) -> LeaseRequest:
    """Return a request for a best-effort lease."""
    return LeaseRequest(name, LeaseKind.BEST_EFFORT, (nodes,), 0, duration=duration, preemptible=preemptible)
