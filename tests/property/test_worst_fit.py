"""WorstFit against the algorithm pass by pass, as it is written down (shirako F69-F72, P20-P26)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.worst_fit import Slivers, worst_fit
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_Vectors = list[tuple[int, ...]]


def _literal(
    free: _Vectors, capacity: _Vectors | None, fewest: int, most: int, smallest: tuple[int, ...]
) -> list[int] | None:
    """Return the number of slivers of each host, with the table sorted anew before each pass."""
    allotted = [0] * len(free)
    needed = most
    while needed > 0:
        remaining = [
            tuple(f - allotted[h] * r for f, r in zip(free[h], smallest, strict=True)) for h in range(len(free))
        ]
        space = [
            tuple(Fraction(amount, max(whole, 1)) for amount, whole in zip(left, capacity[h], strict=True))
            if capacity is not None
            else left
            for h, left in enumerate(remaining)
        ]
        table = sorted(range(len(free)), key=lambda h: (tuple(-amount for amount in space[h]), h))
        placed = 0
        for host in table:
            if placed == needed:
                break
            if all(left >= r for left, r in zip(remaining[host], smallest, strict=True)):
                allotted[host] += 1
                placed += 1
        if placed == 0:
            break
        needed -= placed
    return None if most - needed < fewest else allotted


def _literal_growth(
    free: _Vectors, counts: list[int], smallest: tuple[int, ...], largest: tuple[int, ...]
) -> list[int]:
    size = list(largest)
    for host, number in enumerate(counts):
        if number:
            for row, least in enumerate(smallest):
                extra = (free[host][row] - number * least) // number
                size[row] = min(size[row], least + extra)
    return size


@st.composite
def _cases(draw: st.DrawFn) -> tuple[_Vectors, _Vectors, Slivers]:
    classes = draw(st.integers(1, 3))
    vector = st.tuples(*[st.integers(0, 12)] * classes)
    free = draw(st.lists(vector, min_size=1, max_size=7))
    capacity = [tuple(amount + draw(st.integers(0, 8)) for amount in each) for each in free]
    smallest = draw(st.tuples(*[st.integers(1, 4)] * classes))
    largest = tuple(amount + draw(st.integers(0, 6)) for amount in smallest)
    most = draw(st.integers(1, 25))
    return free, capacity, Slivers(draw(st.integers(1, most)), most, np.array(smallest), np.array(largest))


@settings(max_examples=500, deadline=None)
@given(_cases(), st.booleans())
def test_unsorted_passes_place_as_many_slivers_as_sorted_ones(
    case: tuple[_Vectors, _Vectors, Slivers], by_share: bool
) -> None:
    free, capacity, wanted = case
    smallest, largest = tuple(wanted.smallest.tolist()), tuple(wanted.largest.tolist())
    expected = _literal(free, capacity if by_share else None, wanted.fewest, wanted.most, smallest)

    found = worst_fit(np.array(free).T, wanted, capacity=np.array(capacity).T if by_share else None)

    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.counts.tolist() == expected
    assert found.size.tolist() == _literal_growth(free, expected, smallest, largest)
    used = found.counts * found.size[:, None]
    assert (used <= np.array(free).T).all()


@st.composite
def _sites(draw: st.DrawFn) -> tuple[Site, list[tuple[int, int, Resources]]]:
    """Draw hosts of several sizes, and what is in use on them: host, start, resources; until instant 100."""
    hosts = [
        Host(f"host-{n}", Resources({VCPU: draw(st.integers(1, 16)), MEMORY_MB: draw(st.integers(1, 16))}))
        for n in range(draw(st.integers(1, 5)))
    ]
    used = []
    for number, host in enumerate(hosts):
        for start in draw(st.lists(st.sampled_from([0, 20, 60]), unique=True, max_size=2)):
            amounts = {name: draw(st.integers(0, most // 2)) for name, most in host.capacity.items()}
            if any(amounts.values()):
                used.append((number, start, Resources(amounts)))
    return Site.of(hosts), used


@settings(max_examples=300, deadline=None)
@given(_sites(), st.integers(1, 12), st.tuples(st.integers(1, 3), st.integers(1, 3)))
def test_the_policy_with_the_mapper_spread_is_the_algorithm(
    case: tuple[Site, list[tuple[int, int, Resources]]], count: int, size: tuple[int, int]
) -> None:
    """In the interval [10, 50), what starts at 0 and at 20 is in the way, and what starts at 60 is not."""
    site, used = case
    none = PolicyOptions()
    planner = Planner(
        site,
        PlanningOptions(),
        PolicySet(
            host_selection=load_policy("host_selection", "worst-fit", none),
            preemption=load_policy("preemption", "no-preemption", none),
            mapper=load_policy("mapper", "spread", none),
        ),
    )
    for sequence, (host, start, resources) in enumerate(used):
        request = LeaseRequest(
            f"used-{sequence}", LeaseKind.RESERVATION, (NodeSet(1, resources),), 0, 100 - start, start
        )
        held = Holding((host,), start, start, 100, 100, Closing.SHUTDOWN)
        planner.plan.put(Lease(request, sequence, LeaseState.READY, holdings=(held,)))
    free = planner.plan.availability.free(10, 50)
    rows = [planner.plan.classes.index(name) for name in (VCPU, MEMORY_MB)]
    as_vectors = [tuple(column) for column in free[rows].T.tolist()]
    capacity = [tuple(column) for column in planner.plan.availability.capacity[rows].T.tolist()]
    expected = _literal(as_vectors, capacity, count, count, size)

    wanted = NodeSet(count, Resources({VCPU: size[0], MEMORY_MB: size[1]}))
    lease = Lease(LeaseRequest("new", LeaseKind.RESERVATION, (wanted,), 0, 40, 10), 1_000).to(LeaseState.PENDING)
    try:
        placed = planner.place(lease, 0)
    except NotPlannableError:
        assert expected is None
        return
    assert expected is not None
    assert np.bincount(placed.holdings[0].assignment, minlength=len(site)).tolist() == expected
