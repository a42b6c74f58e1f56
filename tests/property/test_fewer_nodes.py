"""Least yields on fewer nodes are possible, are no higher than the bound, and never grow (dfrs F29)."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.fractional.fewer_nodes import Occupancy, least_yields

_PARTS = st.integers(1, 20).map(lambda twentieth: twentieth / 20)


@st.composite
def _occupancies(draw: st.DrawFn) -> Occupancy:
    """Draw tasks that have places, on nodes of which others hold a part."""
    nodes = draw(st.integers(1, 4))
    load = np.array([draw(st.integers(0, 19)) / 20 for _ in range(nodes)])
    others_held = np.array([draw(st.integers(0, 20)) / 20 for _ in range(nodes)])
    others_held[load == 0] = 0
    room = 1 - others_held
    cpu_left = 1 - load
    tasks = []
    for _ in range(draw(st.integers(0, 5))):
        node, held, cpu = draw(st.integers(0, nodes - 1)), draw(_PARTS), draw(_PARTS)
        least = min(held, cpu, cpu_left[node]) * draw(st.integers(0, 2)) / 2
        if held <= room[node] + 1e-12:
            room[node] -= held
            cpu_left[node] -= least
            tasks.append((cpu, least, held, node, draw(st.booleans())))
    stays = np.array([task[4] for task in tasks], np.bool_)
    place = np.array([task[3] for task in tasks], np.int64)
    leaving = [node for node in range(nodes) if load[node] == 0 and node not in set(place[stays].tolist())]
    return Occupancy(
        cpu=np.array([task[0] for task in tasks], float),
        least=np.array([task[1] for task in tasks], float),
        held=np.array([task[2] for task in tasks], float),
        place=place,
        stays=stays,
        load=load,
        others_held=others_held,
        closed=np.zeros(0, np.int64),
        leaving=np.array(draw(st.permutations(leaving)), np.int64),
    )


def _best(occupancy: Occupancy, count: int) -> float | None:
    """Return the best least yield of all placements, by trying each of them; None if there is none."""
    nodes = len(occupancy.load)
    away = set(occupancy.leaving[:count].tolist())
    best = None
    for places in itertools.product(range(nodes), repeat=len(occupancy.cpu)):
        where = np.array(places, np.int64)
        if away & set(places) or (where != occupancy.place)[occupancy.stays].any():
            continue
        sums = [np.bincount(where, weights=each, minlength=nodes) for each in (occupancy.held, occupancy.least)]
        if (sums[0] + occupancy.others_held > 1 + 1e-6).any():
            continue
        # The highest y at which every node has room for max(least, y x CPU) of its tasks, by bisection.
        low, high = 0.0, 1.0
        for _ in range(30):
            level = (low + high) / 2
            wanted = np.maximum(occupancy.least, level * occupancy.cpu)
            if (np.bincount(where, weights=wanted, minlength=nodes) + occupancy.load <= 1 + 1e-7).all():
                low = level
            else:
                high = level
        best = low if best is None else max(best, low)
    return best


@given(_occupancies())
def test_yields_are_possible_and_never_grow(occupancy: Occupancy) -> None:
    counts = range(len(occupancy.leaving) + 2)
    found = least_yields(occupancy, counts)
    assert found[len(occupancy.leaving) + 1] is None
    # At present everything has its place.
    assert found[0] is not None
    for count in range(len(occupancy.leaving) + 1):
        best, least = _best(occupancy, count), found[count]
        if least is not None:
            assert best is not None
            assert least <= best + 1e-4
    values = [-1.0 if (least := found[count]) is None else least for count in counts]
    assert all(after <= before for before, after in itertools.pairwise(values))
