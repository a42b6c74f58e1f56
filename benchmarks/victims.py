"""Choices of victims on 1,000 hosts that are all in use: ``python -m benchmarks.victims``.

16 running leases of 1 to 16 hosts may be preempted; all other hosts have leases that may not. A reservation of 1 to 32
hosts is to start at once. *Choice* is the time from the candidates to the order in which the planner takes them;
*decision* is that from the request to its place, victims included.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from statistics import median

import numpy as np
from rich.table import Table

from benchmarks.machine import console
from benchmarks.plans import DAY, HOST, best_effort, flavor, reservation
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions, RoomLead
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.displacing import can_make_room
from lease_scheduler.plan.preempting.preemption import victims
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_HOSTS = 1_000
_VICTIMS = 16
_DECISIONS = 300
_SEED = 11
_POLICIES = ("by-kind", "mov-ordered", "mlip-ordered", "mov", "mlip", "moml")
_AIM_MS = 2.0


class _UndoneError(Exception):
    """Leaves a tentative block that was entered only to time it."""


def _planner(policy: str, rng: np.random.Generator) -> Planner:
    """Return a plan without a free host."""
    options = PolicyOptions()
    planner = Planner(
        Site.homogeneous(_HOSTS, HOST),
        PlanningOptions(room_lead=RoomLead.CHARGE),
        PolicySet(
            host_selection=load_policy("host_selection", "greedy", options),
            preemption=load_policy("preemption", policy, options),
        ),
    )
    hosts = rng.permutation(_HOSTS).tolist()
    for number in range(_VICTIMS):
        _run(planner, number, [hosts.pop() for _ in range(int(rng.integers(1, 17)))], preemptible=True)
    while hosts:
        _run(planner, len(planner.plan.leases), [hosts.pop() for _ in range(min(8, len(hosts)))], preemptible=False)
    return planner


def _run(planner: Planner, number: int, hosts: list[int], *, preemptible: bool) -> None:
    # A VM takes more than half of a host, so that no two fit beside one another.
    request = best_effort(f"live-{number}", NodeSet(len(hosts), flavor(24)), DAY, preemptible=preemptible)
    held = Holding(tuple(hosts), 0, 0, DAY, DAY)
    planner.plan.put(Lease(request, number, LeaseState.ACTIVE, active_since=0, holdings=(held,)))


def _request(number: int, rng: np.random.Generator) -> LeaseRequest:
    nodes = NodeSet(int(rng.integers(1, 33)), flavor(16))
    return reservation(f"request-{number}", nodes, 3_600, int(rng.integers(3_600, DAY)))


def _choice(planner: Planner, request: LeaseRequest) -> float:
    """Return the milliseconds of a choice. Answers that the plan has cached are dropped first."""
    plan = planner.plan
    plan.availability = plan.availability.unremembered()
    start, end = 3_600, 3_600 + request.duration
    began = time.thread_time()
    victims(
        planner.context, request, start, end, start, partial(can_make_room, planner.context, start, end, start, None)
    )
    return (time.thread_time() - began) * 1_000


def _decision(planner: Planner, request: LeaseRequest) -> float:
    """Return the milliseconds of a decision, which is undone."""
    plan = planner.plan
    plan.availability = plan.availability.unremembered()
    spent = 0.0
    try:
        with plan.tentative():
            lease = plan.put(Lease(request, 1_000_000, LeaseState.PENDING))
            began = time.thread_time()
            with suppress(NotPlannableError):
                planner.place(lease, 3_600)
            spent = time.thread_time() - began
            raise _UndoneError
    except _UndoneError:
        return spent * 1_000


def main() -> None:
    title = f"Victims among {_VICTIMS} on {_HOSTS:,} hosts, milliseconds of CPU time"
    table = Table(title=title, title_justify="left")
    for heading in ("policy", "choice, median", "p95", "aim", "decision, median", "p95"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for policy in _POLICIES:
        rng = np.random.default_rng(_SEED)
        choices, decisions = [], []
        for number in range(_DECISIONS):
            if number % 10 == 0:
                planner = _planner(policy, rng)
            request = _request(number, rng)
            choices.append(_choice(planner, request))
            decisions.append(_decision(planner, request))
        figures = [
            f"{value:.2f}" for times in (choices, decisions) for value in (median(times), np.percentile(times, 95))
        ]
        table.add_row(policy, *figures[:2], f"<= {_AIM_MS:g}", *figures[2:])
    console().print(table)


if __name__ == "__main__":
    main()
