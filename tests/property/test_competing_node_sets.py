"""Node sets that compete for hosts get a place whenever there is one (haizea F5, F31, F33)."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.explain import too_large
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.fitting.exact_mapping import Competition, could_fit, fit_exactly
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet

_SELECTIONS = {
    name: load_policy("host_selection", name, PolicyOptions()) for name in ("greedy", "no-policy", "worst-fit")
}
_MAPPERS = {name: load_policy("mapper", name, PolicyOptions()) for name in ("greedy", "spread")}
_PREEMPTION = load_policy("preemption", "no-preemption", PolicyOptions())


@st.composite
def _sites(draw: st.DrawFn) -> Site:
    hosts = []
    for number in range(draw(st.integers(1, 4))):
        capacity = {VCPU: draw(st.integers(1, 4)), MEMORY_MB: draw(st.integers(1, 4)), HOST_SHARE: WHOLE_HOST}
        traits = draw(st.sets(st.sampled_from(["gpu", "ssd"])))
        hosts.append(Host(f"host-{number}", Resources(capacity), frozenset(traits)))
    return Site(tuple(hosts))


@st.composite
def _node_sets(draw: st.DrawFn, most: int) -> NodeSet:
    """Draw whole hosts, or nodes that share them, anywhere or on some hosts only."""
    needs = {HOST_SHARE: WHOLE_HOST}
    if draw(st.booleans()):
        needs = {VCPU: draw(st.integers(1, 3)), MEMORY_MB: draw(st.integers(0, 3)), HOST_SHARE: 1}
    traits = draw(st.sampled_from([set(), set(), {"gpu"}, {"ssd"}]))
    hosts = draw(st.none() | st.sets(st.sampled_from([f"host-{number}" for number in range(4)]), min_size=1))
    return NodeSet(
        draw(st.integers(1, most)),
        Resources(needs),
        frozenset(traits),
        None if hosts is None else frozenset(hosts),
        draw(st.sampled_from([None, None, 1])),
    )


def _fits(free: np.ndarray, amounts: np.ndarray, counts: tuple[int, ...], places: np.ndarray) -> bool:
    """Try every way to distribute the nodes, host by host."""
    wanted = {counts}
    for host in range(free.shape[1]):
        on_host = [
            taken
            for taken in product(*(range(most + 1) for most in places[:, host].tolist()))
            if (np.array(taken, dtype=np.int64) @ amounts <= free[:, host]).all()
        ]
        wanted = {
            tuple(left - number for left, number in zip(rest, taken, strict=True))
            for rest in wanted
            for taken in on_host
            if all(left >= number for left, number in zip(rest, taken, strict=True))
        }
    return (0,) * len(counts) in wanted


def _fits_on(site: Site, sets: tuple[NodeSet, ...]) -> bool:
    classes = [VCPU, MEMORY_MB, HOST_SHARE]
    free = np.array([[host.capacity.get(name, 0) for host in site.hosts] for name in classes])
    amounts = np.array([[node_set.resources.get(name, 0) for name in classes] for node_set in sets])
    places = np.zeros((len(sets), len(site)), dtype=np.int64)
    for (index, node_set), (number, host) in product(enumerate(sets), enumerate(site.hosts)):
        is_allowed = node_set.hosts is None or host.name in node_set.hosts
        if is_allowed and host.can_ever_hold(node_set.resources, node_set.required_traits):
            places[index, number] = node_set.count if node_set.per_host is None else node_set.per_host
    return _fits(free, amounts, tuple(node_set.count for node_set in sets), places)


def _has_a_place(planner: Planner, kind: LeaseKind, sets: tuple[NodeSet, ...]) -> bool:
    """Return whether a request gets a place at once; the same is asked of every way that leads to one."""
    start = 0 if kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE) else None
    deadline = 10 if kind is LeaseKind.DEADLINE else None
    request = LeaseRequest("new", kind, sets, 0, 10, start, deadline)
    could = too_large(planner.context, request) is None
    found = quote(planner, request, 1, 0)
    assert found.granted is could
    if could and kind is LeaseKind.BEST_EFFORT:
        with planner.plan.trial():
            planner.enqueue(planner.plan.put(Lease(request, 1).to(LeaseState.PENDING)))
            planner.process_queue(0)
            assert planner.plan.leases["new"].holdings[0].start == 0
    return could


@settings(max_examples=150, deadline=None)
@given(
    _sites(),
    st.lists(_node_sets(most=3), min_size=2, max_size=3),
    st.sampled_from(sorted(_SELECTIONS)),
    st.sampled_from(sorted(_MAPPERS)),
)
def test_node_sets_get_a_place_exactly_if_one_exists(
    site: Site, sets: list[NodeSet], selection: str, mapper: str
) -> None:
    """haizea F31: for leases of all kinds, in all orders of their node sets."""
    fits = _fits_on(site, tuple(sets))
    event("fits" if fits else "does not fit")
    planner = Planner(
        site,
        PlanningOptions(),
        PolicySet(host_selection=_SELECTIONS[selection], preemption=_PREEMPTION, mapper=_MAPPERS[mapper]),
    )

    for order in permutations(sets):
        for kind in LeaseKind:
            assert _has_a_place(planner, kind, order) is fits, (kind, order)


@st.composite
def _competitions(draw: st.DrawFn) -> Competition:
    sets, hosts, classes = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 3))

    def array(rows: int, columns: int, most: int) -> np.ndarray:
        row = st.lists(st.integers(0, most), min_size=columns, max_size=columns)
        return np.array(draw(st.lists(row, min_size=rows, max_size=rows)), dtype=np.int64)

    amounts = array(sets, classes, 3)
    amounts[:, 0] += 1
    free = array(classes, hosts, draw(st.sampled_from([4, 12])))
    fitting = [[min(c // a for c, a in zip(h, n, strict=True) if a) for h in free.T.tolist()] for n in amounts.tolist()]
    places = np.minimum(np.array(fitting, dtype=np.int64), array(sets, hosts, 6))
    counts = np.array([draw(st.integers(1, max(1, int(of_set.sum())))) for of_set in places], dtype=np.int64)
    return Competition(free, amounts, counts, places)


@settings(max_examples=400, deadline=None)
@given(_competitions())
def test_the_exact_mapping_agrees_with_an_exhaustive_search(competition: Competition) -> None:
    """The cheap condition refuses nothing that fits, and the same input gives the same answer."""
    fits = _fits(competition.free, competition.amounts, tuple(competition.counts.tolist()), competition.places)
    event("fits" if fits else "does not fit")

    taken = fit_exactly(competition) if could_fit(competition) else None

    assert (taken is not None) is fits
    if taken is not None:
        assert (taken >= 0).all() and (taken <= competition.places).all()
        assert taken.sum(axis=1).tolist() == competition.counts.tolist()
        assert (competition.amounts.T @ taken <= competition.free).all()
        again = fit_exactly(competition)
        assert again is not None and np.array_equal(again, taken)
