"""Whatever is known of needs, no lease has less than it holds, and no host gives more than it has (issue 22, 4)."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.fluid_division import divided
from lease_scheduler.fractional.online.fluid import fair_scaled_yields
from lease_scheduler.policy.fractional.base import FluidNodes

_EPSILON = 1e-6

_Case = tuple[FluidNodes, np.ndarray, np.ndarray, np.ndarray]


def _share(nodes: FluidNodes) -> np.ndarray:
    return fair_scaled_yields(nodes.free, nodes.hosts, nodes.leases, nodes.needs, nodes.count)


@st.composite
def _cases(draw: st.DrawFn) -> _Case:
    hosts, count = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    owners = [*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=6))]
    size = len(owners)
    numbers = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    nodes = FluidNodes(
        np.array(draw(st.lists(st.floats(0, 40), min_size=hosts, max_size=hosts))),
        np.array(draw(st.lists(st.integers(0, hosts - 1), min_size=size, max_size=size))),
        np.array(owners),
        np.array(draw(numbers), dtype=float),
        count,
    )
    parts = draw(st.lists(st.sampled_from([1.0, 0.01, 0.25, 0.5, 0.9]), min_size=count, max_size=count))
    tried = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return nodes, np.array(draw(numbers)), np.array(parts), np.array(tried)


@given(_cases())
@settings(deadline=None)
def test_hosts_give_what_they_have_and_leases_keep_what_they_hold(case: _Case) -> None:
    nodes, held, parts, tried = case
    yields, given_parts = divided(_share, nodes, held, parts, tried)
    declared = held + nodes.needs
    given_cpus = given_parts[nodes.leases] * declared
    assert ((yields >= 0) & (yields <= 1) & (given_parts >= 0) & (given_parts <= 1)).all()
    # All nodes of a lease are given the part of the one that gets least, and that is never below what any of them holds
    # there; the others have what the host cannot give to anybody else.
    least_held = np.ones(nodes.count)
    np.minimum.at(least_held, nodes.leases, np.divide(held, declared, out=np.ones(len(held)), where=declared > 0))
    assert (given_parts >= least_held - _EPSILON).all()
    beyond = np.bincount(nodes.hosts, weights=np.maximum(given_cpus - held, 0), minlength=len(nodes.free))
    assert (beyond <= nodes.free + _EPSILON).all()
    # Nobody is slowed down because others need less.
    nothing_tried = np.zeros(nodes.count, np.bool_)
    known, _ = divided(_share, nodes, held, parts, nothing_tried)
    unknown, all_given = divided(_share, nodes, held, np.ones(nodes.count), nothing_tried)
    assert known.min() >= unknown.min() - _EPSILON
    assert np.allclose(unknown, all_given)


@given(_cases())
@settings(deadline=None)
def test_if_nothing_is_known_needs_are_those_that_were_declared(case: _Case) -> None:
    nodes, held, *_ = case
    yields, given_parts = divided(_share, nodes, held, np.ones(nodes.count), np.zeros(nodes.count, np.bool_))
    scaled = _share(nodes)
    declared = held + nodes.needs
    expected = np.ones(nodes.count)
    part = (held + scaled[nodes.leases] * nodes.needs) / np.maximum(declared, 1)
    np.minimum.at(expected, nodes.leases, np.where(declared > 0, part, 1.0))
    assert (yields >= expected - _EPSILON).all()
    assert np.allclose(yields, given_parts)
