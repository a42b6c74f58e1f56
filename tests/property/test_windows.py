"""Windows in which nodes fit, against a table of every second."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.windows import Window, Windows, windows
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_HORIZON = 24
_NAMES = [f"host-{number}" for number in range(3)]


@st.composite
def _node_sets(draw: st.DrawFn) -> NodeSet:
    names = draw(st.none() | st.frozensets(st.sampled_from(_NAMES), min_size=1))
    resources = Resources({VCPU: draw(st.integers(1, 2)), MEMORY_MB: draw(st.integers(0, 2))})
    per_host = draw(st.none() | st.integers(1, 2))
    traits = draw(st.sampled_from([frozenset[str](), frozenset({"ssd"})]))
    return NodeSet(draw(st.integers(1, 4)), resources, traits, names, per_host)


@st.composite
def _planners(draw: st.DrawFn) -> Planner:
    """Draw leases with holdings in the future; some of them may be preempted."""
    site = Site.of(
        Host(
            name,
            Resources({VCPU: draw(st.integers(1, 4)), MEMORY_MB: draw(st.integers(1, 4))}),
            draw(st.sampled_from([frozenset[str](), frozenset({"ssd"})])),
        )
        for name in _NAMES
    )
    none = PolicyOptions()
    planner = Planner(
        site,
        PlanningOptions(),
        PolicySet(
            host_selection=load_policy("host_selection", "greedy", none),
            preemption=load_policy("preemption", "by-kind", none),
        ),
    )
    for number in range(draw(st.integers(0, 6))):
        preemptible = draw(st.booleans())
        start = draw(st.integers(1, _HORIZON))
        end = start + draw(st.integers(1, 12))
        node_set = NodeSet(1, Resources({VCPU: draw(st.integers(0, 2)), MEMORY_MB: draw(st.integers(1, 2))}))
        kind = LeaseKind.BEST_EFFORT if preemptible else LeaseKind.RESERVATION
        asked = None if preemptible else start
        request = LeaseRequest(str(number), kind, (node_set,), 0, end - start, asked, preemptible=preemptible)
        host = draw(st.integers(0, len(_NAMES) - 1))
        held = Holding((host,), start, start, end, end)
        if (planner.plan.availability.free(start, end)[:, host] >= planner.plan.demands(request)[0].amounts).all():
            planner.plan.put(Lease(request, number, LeaseState.READY, holdings=(held,)))
    return planner


def _fits_throughout(planner: Planner, node_set: NodeSet, start: int, end: int) -> int:
    """Return how many nodes fit during all seconds of an interval, host by host and second by second."""
    total = 0
    for number, host in enumerate(planner.plan.site.hosts):
        if not host.can_ever_hold(node_set.resources, node_set.required_traits):
            continue
        if node_set.hosts is not None and host.name not in node_set.hosts:
            continue
        fewest = node_set.per_host or 10**6
        for second in range(start, end):
            for name, amount in node_set.resources.items():
                free = host.capacity.get(name, 0)
                for lease in planner.plan.leases.values():
                    held = lease.holdings[0]
                    if held.start <= second < held.end and held.assignment == (number,):
                        free -= lease.request.nodes[0].resources.get(name, 0)
                fewest = min(fewest, max(0, free) // amount)
        total += fewest
    return total


def _expected(planner: Planner, node_set: NodeSet, start: int, end: int, duration: int) -> Windows:
    """Return every interval in which the nodes fit and that is not part of a longer one."""
    fitting = {
        (first, last): count
        for first in range(start, end)
        for last in range(first + duration, end + 1)
        if (count := _fits_throughout(planner, node_set, first, last)) >= node_set.count
    }
    found = [
        Window(first, last, count)
        for (first, last), count in sorted(fitting.items())
        if (first - 1, last) not in fitting and (first, last + 1) not in fitting
    ]
    return Windows(tuple(found), found[0].start if found else None)


@settings(max_examples=150, deadline=None)
@given(_planners(), _node_sets(), st.integers(0, 12), st.integers(1, 14), st.integers(1, 6))
def test_windows_equal_those_of_a_table_by_seconds(
    planner: Planner, node_set: NodeSet, start: int, length: int, duration: int
) -> None:
    end = start + length
    before = planner.plan.availability

    found = windows(planner.context, node_set, start, end, duration)

    assert found == _expected(planner, node_set, start, end, duration)
    assert planner.plan.availability is before
