"""Placements of fractions of hosts: nothing is overloaded, and nothing beats the exact optimum."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.bounds import yield_bound
from lease_scheduler.fractional.genetic import GeneticOptions, evolve
from lease_scheduler.fractional.greedy import ALL, greedy
from lease_scheduler.fractional.linear.programs import highest_average, optimum
from lease_scheduler.fractional.packing.chekuri import pack_by_program
from lease_scheduler.fractional.packing.search import LEGACY_PACKERS, PACKERS, best_packing
from lease_scheduler.fractional.problem import Instance, Placement, loads
from lease_scheduler.fractional.shares import raise_average

_TINY = 1e-6


@st.composite
def _instances(draw: st.DrawFn, nodes: int = 3, jobs: int = 6) -> Instance:
    """Instances with whole per cents, with minima from none to full speed, and with needs of zero."""
    count = draw(st.integers(1, jobs))
    fixed, fluid = draw(st.integers(1, 2)), draw(st.integers(1, 2))

    def percents(width: int, highest: int) -> Floats:
        rows = st.lists(st.integers(0, highest), min_size=width, max_size=width)
        return np.array(draw(st.lists(rows, min_size=count, max_size=count)), float) / 100

    minimum = np.array(draw(st.lists(st.sampled_from([0, 0, 0.3, 0.5, 1]), min_size=count, max_size=count)), float)
    return Instance(draw(st.integers(1, nodes)), minimum, percents(fixed, 70), percents(fluid, 100))


def _heuristics(instance: Instance) -> list[Placement]:
    found = [greedy(instance, *pair, literal=literal) for pair in ALL for literal in (False, True)]
    found += [best_packing(instance, pack) for pack in {**PACKERS, **LEGACY_PACKERS}.values()]
    found.append(best_packing(instance, pack_by_program))
    found.append(evolve(instance, np.random.default_rng(0), GeneticOptions(10, 10)))
    return [each for each in found if each is not None]


def _check(instance: Instance, placement: Placement, scaled: Floats) -> None:
    """No host has more than 100 % of anything, memory is not shared, and each job has its least yield."""
    assert len(placement.nodes) == instance.jobs
    assert ((placement.nodes >= 0) & (placement.nodes < instance.nodes)).all()
    assert (scaled >= placement.least - _TINY).all() and (scaled <= 1 + _TINY).all()
    yields = instance.minimum + scaled * (1 - instance.minimum)
    assert loads(instance.fixed, placement.nodes, instance.nodes).max() <= 1 + _TINY
    assert loads(yields[:, None] * instance.fluid, placement.nodes, instance.nodes).max() <= 1 + _TINY


@settings(max_examples=60, deadline=None)
@given(_instances())
def test_placements_are_valid_and_below_the_bound(instance: Instance) -> None:
    """dfrs F1 to F4, F7, F27."""
    bound = yield_bound(instance)
    for placement in _heuristics(instance):
        assert bound is not None and placement.least <= bound + _TINY
        assert placement.target is None or placement.target <= placement.least + _TINY
        _check(instance, placement, raise_average(instance, placement))


@settings(max_examples=40, deadline=None)
@given(_instances())
def test_no_heuristic_beats_the_optimum(instance: Instance) -> None:
    """dfrs F5, F6, E7: the optimum is at most the bound and at least every heuristic's yield."""
    best = optimum(instance)
    found = _heuristics(instance)
    if best is None:
        assert found == []
        return
    bound = yield_bound(instance)
    assert bound is not None and best.least <= bound + _TINY
    assert max((each.least for each in found), default=0) <= best.least + 1e-5
    _check(instance, best, raise_average(instance, best))


@settings(max_examples=40, deadline=None)
@given(_instances())
def test_the_program_has_the_highest_average(instance: Instance) -> None:
    """dfrs F27, A14: equal to the simple way with one fluid dimension, and never below it."""
    placement = best_packing(instance, PACKERS["CPSUM"])
    if placement is None:
        return
    simple, exact = raise_average(instance, placement), highest_average(instance, placement)
    _check(instance, placement, exact)
    # Jobs at their full minimum gain nothing, and increases below 1e-5 are left.
    counted = instance.minimum < 1
    assert exact[counted].sum() >= simple[counted].sum() - 1e-4
    if instance.fluid.shape[1] == 1:
        assert abs(exact[counted].sum() - simple[counted].sum()) <= 1e-3
