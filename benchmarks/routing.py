"""Choices of a member of a federation, with each allocation policy."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.plans import best_effort, flavor
from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.members import Arrivals, MemberDescription, PublishedLoad
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.router import choose
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions

ALLOCATIONS = ("home-first", "round-robin", "lrf", "bcf", "pap", "earliest", "cheapest", "least-preemption")
_DISPATCH = "by-type"
_AIM_MS = 1.0
_MEMBERS = 50
_SEED = 49


def run(out: Console, *, quick: bool) -> None:
    """Time choices among 50 members, and among 500."""
    decisions = 50 if quick else 1_000
    table = Table(title=f"Choice of a member, dispatch {_DISPATCH}, {decisions:,} choices", title_justify="left")
    for heading in ("allocation", "members", "median, ms", "95 %, ms", "aim"):
        table.add_column(heading, justify="right")
    for count in (_MEMBERS, 10 * _MEMBERS):
        for allocation in ALLOCATIONS:
            decide = deciding(allocation, count)
            times = sorted(_times(decide, decisions))
            aim = f"<= {_AIM_MS:.0f}" if count == _MEMBERS else ""
            table.add_row(allocation, str(count), f"{median(times):.3f}", f"{times[int(0.95 * decisions)]:.3f}", aim)
    out.print(table)


def deciding(allocation: str, count: int) -> Callable[[], str]:
    """Return a function that chooses a member for one more request, with half of what members can serve in use.

    :param count: number of members
    """
    policies = load_routing_policies({"allocation": allocation, "dispatch": _DISPATCH}, PolicyOptions())
    random = np.random.default_rng(_SEED)
    members = {f"member-{number}": _member(random) for number in range(count)}
    question = Question(best_effort("1", NodeSet(2, flavor(8)), 3_600, preemptible=True), members, tuple(members))
    bids = {name: _bid(name, random) for name in policies.allocation.wanted_bids(question, ())}
    state = RoutingState()

    def decide() -> str:
        nonlocal state
        # What members are like is worked out anew for each request, as a gateway has to.
        asked = Question(question.terms, members, question.among, bids)
        choice = choose(policies, asked, state, 0.5)
        state = choice.state
        return choice.member

    return decide


def _member(random: np.random.Generator) -> MemberDescription:
    vcpus = int(random.integers(100, 10_000))
    local, external = (random.uniform(0.1, 0.4) for _ in range(2))
    sorts: dict[RequestType | None, Arrivals] = {
        each: _arrivals(random, external * vcpus / 4)
        for each in (
            RequestType.CANCELLABLE,
            RequestType.SUSPENDABLE,
            RequestType.MIGRATABLE,
            RequestType.NON_PREEMPTABLE,
        )
    }
    load = PublishedLoad(_arrivals(random, local * vcpus), sorts)
    return MemberDescription(
        Resources({VCPU: vcpus, MEMORY_MB: vcpus * 4_096}), load=load, speed=random.uniform(0.5, 2)
    )


def _arrivals(random: np.random.Generator, vcpus: float) -> Arrivals:
    """Return requests that keep this number of VCPU busy."""
    mean = random.uniform(1_000, 100_000)
    memory = 2_048 * mean
    squares = {VCPU: 1.25 * mean**2, MEMORY_MB: 1.25 * memory**2}
    return Arrivals(vcpus / mean, {VCPU: mean, MEMORY_MB: memory}, squares)


def _bid(name: str, random: np.random.Generator) -> Bid:
    start = int(random.integers(0, 100_000))
    return Bid(
        name, "1", start, start + 3_600, float(random.integers(1, 100)), random.uniform(), int(random.integers(0, 3))
    )


def _times(decide: Callable[[], str], decisions: int) -> list[float]:
    """Return the processor time of each choice, in milliseconds."""
    decide()
    found = []
    for _ in range(decisions):
        begun = time.process_time()
        decide()
        found.append(1_000 * (time.process_time() - begun))
    return found
