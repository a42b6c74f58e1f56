"""Leases that are placed alike get exactly the places that they would get one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.queue import alike_starts
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_NOW = 100

#: Many classes, because the sum of eight numbers or more may be rounded in several ways.
_CLASSES = tuple(f"CUSTOM_{number}" for number in range(10))

_ends = st.sampled_from([_NOW + 30, _NOW + 60, _NOW + 61, _NOW + 90, 1_000])


@st.composite
def _sites(draw: st.DrawFn) -> tuple[Site, list[Lease]]:
    """Draw hosts of several sizes with the same classes, and reservations on them."""
    classes = _CLASSES[: draw(st.sampled_from([1, 3, 10]))]
    sizes = draw(st.lists(st.sampled_from([(3, 7), (6, 9), (12, 31)]), min_size=1, max_size=8))
    site = Site(
        tuple(
            Host(f"h{number}", Resources(dict(zip(classes, [first, *[rest] * (len(classes) - 1)], strict=True))))
            for number, (first, rest) in enumerate(sizes)
        )
    )
    free = {(host, name): list(range(each.capacity[name])) for host, each in enumerate(site.hosts) for name in classes}
    leases = []
    for number in range(draw(st.integers(0, 8))):
        host = draw(st.integers(0, len(site) - 1))
        # Each reservation has its own part of a host, so they fit whenever they are.
        wanted = {name: draw(st.integers(0, 2)) for name in classes}
        if not any(wanted.values()) or any(len(free[host, name]) < amount for name, amount in wanted.items()):
            continue
        for name, amount in wanted.items():
            del free[host, name][:amount]
        start, end = sorted(draw(st.lists(st.one_of(_ends, st.just(_NOW)), min_size=2, max_size=2, unique=True)))
        node_set = NodeSet(1, Resources({name: amount for name, amount in wanted.items() if amount}))
        request = LeaseRequest(f"r{number}", LeaseKind.RESERVATION, (node_set,), 0, end - start, start=start)
        held = Holding((host,), start, start, end, end, Closing.SHUTDOWN)
        leases.append(Lease(request, number, LeaseState.READY, holdings=(held,)))
    return site, leases


@st.composite
def _queues(draw: st.DrawFn, classes: tuple[str, ...]) -> list[Lease]:
    """Draw a queue in which many leases in a row are of one kind."""
    queued: list[Lease] = []
    for kind in range(draw(st.integers(1, 4))):
        amounts = {name: draw(st.integers(0, 2)) for name in classes} | {classes[0]: draw(st.integers(1, 2))}
        node_set = NodeSet(
            1,
            Resources({name: amount for name, amount in amounts.items() if amount}),
            per_host=draw(st.sampled_from([None, None, 1])),
        )
        duration = draw(st.sampled_from([30, 60, 90, 400]))
        is_preemptible = draw(st.booleans())
        for _ in range(draw(st.integers(1, 20))):
            request = LeaseRequest(
                f"q{len(queued)}",
                LeaseKind.BEST_EFFORT,
                (replace(node_set, count=draw(st.sampled_from([1, 1, 2, 3]))),),
                0,
                duration,
                preemptible=is_preemptible,
                user=draw(st.sampled_from(["a", "b"])) if kind else "a",
            )
            queued.append(Lease(request, 1_000 + len(queued), LeaseState.PENDING))
    return queued


def _served(
    site: Site, reserved: list[Lease], queued: list[Lease], queueing: str, options: dict[str, Any], *, alike: bool
) -> tuple[Planner, list[str]]:
    """Return a planner that has served the queue, and the ids of leases in the order of their places."""
    planner = Planner(
        site,
        PlanningOptions(**options),
        PolicySet(
            host_selection=load_policy("host_selection", "greedy", PolicyOptions()),
            preemption=load_policy("preemption", "by-kind", PolicyOptions()),
            queueing=load_policy("queueing", queueing, PolicyOptions({"winks_window": "60"})),
        ),
    )
    planner.plan.put_all(reserved)
    planner.plan.take_changes()
    for lease in queued:
        planner.enqueue(lease)
    planner.brief_queueing()
    planner.queueing.take_over(planner.plan.queue.in_order(), _NOW)
    with mock.patch.object(alike_starts, "_FIRST", 1 if alike else 1_000):
        planner.process_queue(_NOW)
    return planner, [lease.lease_id for _, lease in planner.plan.take_changes()]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_sites(), st.data())
def test_places_equal_those_found_one_by_one(drawn: tuple[Site, list[Lease]], data: st.DataObject) -> None:
    """Hosts of several sizes, reservations that end or begin when the leases end, two policies, all options."""
    site, reserved = drawn
    queued = data.draw(_queues(tuple(site.hosts[0].capacity)))
    queueing = data.draw(st.sampled_from(["fifo", "winks"]))
    options = {
        "backfilling_limit": data.draw(st.sampled_from([0, 1, None])),
        "suspension": data.draw(st.sampled_from([Suspension.NONE, Suspension.ALL])),
        "shutdown_time": data.draw(st.sampled_from([0, 5])),
    }

    at_once, order = _served(site, reserved, queued, queueing, options, alike=True)
    one_by_one, expected = _served(site, reserved, queued, queueing, options, alike=False)

    assert at_once.plan.leases == one_by_one.plan.leases
    assert order == expected
    assert at_once.plan.availability.equals(one_by_one.plan.availability)
    assert at_once.plan.queue.in_order() == one_by_one.plan.queue.in_order()
