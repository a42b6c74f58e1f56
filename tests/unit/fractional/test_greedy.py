from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.greedy import ALL, LIGHT, Pick, Sort, best_of, greedy
from lease_scheduler.fractional.problem import Instance
from lease_scheduler.simulation.generators.instances import InstanceLaw
from tests.unit.fractional.instances import instance


def _nodes(jobs: Instance, sort: Sort, pick: Pick, *, literal: bool = False) -> list[int]:
    found = greedy(jobs, sort, pick, literal=literal)
    assert found is not None
    return [int(node) for node in found.nodes]


def test_there_are_49_pairs_and_a_list_of_nine() -> None:
    """dfrs F9, F10, F12: the dissertation says ten, and lists nine."""
    assert len(set(ALL)) == 49
    assert len(set(LIGHT)) == 9


@pytest.mark.parametrize(
    ("sort", "first"),
    [(Sort.S1, 0), (Sort.S2, 1), (Sort.S3, 2), (Sort.S4, 3), (Sort.S5, 4), (Sort.S6, 1), (Sort.S7, 2)],
)
def test_each_sort_has_its_order(sort: Sort, first: int) -> None:
    """dfrs F9: with first fit on nodes for one job each, the first job of the order is on node 0."""
    jobs = instance(
        5,
        (0, [0.51, 0.51], [0.1, 0.1]),
        (0, [0.51, 0.51], [0.95, 0.0]),
        (0, [0.51, 0.51], [0.8, 0.8]),
        (0, [0.90, 0.51], [0.1, 0.1]),
        (0, [0.80, 0.80], [0.1, 0.1]),
    )
    found = _nodes(jobs, sort, Pick.P7)
    assert found[first] == 0
    assert sorted(found) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("pick", list(Pick))
def test_each_pick_chooses_the_node_by_its_rule(pick: Pick, *, literal: bool) -> None:
    """dfrs F10: the same nodes as the rules word by word, from the jobs of each node."""
    for seed in range(5):
        drawn = InstanceLaw(6, 15, 4, 0.5, 0.25, 0.5).draw(seed)
        found = greedy(drawn, Sort.S1, pick, literal=literal)
        assert (None if found is None else found.nodes.tolist()) == _by_the_rules(drawn, pick, literal=literal)


def _by_the_rules(drawn: Instance, pick: Pick, *, literal: bool) -> list[int] | None:
    rigid = np.hstack([drawn.fixed, drawn.constrained])
    held: list[list[int]] = [[] for _ in range(drawn.nodes)]
    nodes = []
    for job in range(drawn.jobs):
        need = int(drawn.fluid[job].argmax())
        constrained_first = np.roll(rigid[job], drawn.constrained.shape[1])
        main = int((constrained_first.argmax() - drawn.constrained.shape[1]) % rigid.shape[1])

        def cost(node: int, need: int = need, main: int = main) -> float:
            full, all_held = drawn.fluid[held[node]], rigid[held[node]]
            if not held[node]:
                return 0.0
            if pick is Pick.P1:
                return float(full[:, need].max() if literal else full[:, need].sum())
            if pick is Pick.P2:
                return float(full[:, need].sum() if literal else full.sum())
            if pick in (Pick.P3, Pick.P5):
                load = float(all_held[:, main].max() if literal else all_held[:, main].sum())
            else:
                load = float(all_held[:, main].sum() if literal else all_held.sum())
            return -load if pick in (Pick.P3, Pick.P4) else load

        fitting = [n for n in range(drawn.nodes) if (rigid[[*held[n], job]].sum(axis=0) <= 1 + 1e-9).all()]
        if not fitting:
            return None
        chosen = fitting[0] if pick is Pick.P7 else min(fitting, key=lambda node: round(cost(node), 9))
        held[chosen].append(job)
        nodes.append(chosen)
    return nodes


def test_the_wording_takes_the_largest_need_of_a_job() -> None:
    """dfrs A4: loads of 0.3 + 0.3 and 0.5; the sum prefers the second node, the largest need the first."""
    jobs = instance(2, (0, [0.6], [0.5]), (0, [0.5], [0.3]), (0, [0.1], [0.3]), (0, [0.1], [0.4]))
    assert _nodes(jobs, Sort.S1, Pick.P1) == [0, 1, 1, 0]
    assert _nodes(jobs, Sort.S1, Pick.P1, literal=True) == [0, 1, 1, 1]


def test_constrained_needs_are_held_like_memory() -> None:
    """dfrs F3: minima of 0.6 do not share a node."""
    jobs = instance(2, (0.6, [0.1], [1.0]), (0.6, [0.1], [1.0]))
    assert _nodes(jobs, Sort.S5, Pick.P7) == [0, 1]
    assert greedy(instance(1, *[(0.6, [0.1], [1.0])] * 2), Sort.S5, Pick.P7) is None


def test_the_best_pair_wins() -> None:
    """dfrs F11, F12."""
    drawn = InstanceLaw(8, 20, 4, 0.5, 0.25, 0.5).draw(3)
    found = [placement.least for pair in ALL if (placement := greedy(drawn, *pair)) is not None]
    best, light, first = best_of(drawn), best_of(drawn, LIGHT), best_of(drawn, LIGHT, first=True)
    assert best is not None and best.least == max(found)
    assert light is not None and first is not None
    assert first.least <= light.least <= best.least


def test_the_order_is_random_with_a_stream() -> None:
    """dfrs F9: S1."""
    drawn = InstanceLaw(8, 20, 4, 0.5, 0.0, 0.5).draw(0)
    orders = {
        tuple(found.nodes)
        for seed in range(4)
        if (found := greedy(drawn, Sort.S1, Pick.P7, random=np.random.default_rng(seed))) is not None
    }
    assert len(orders) > 1


def test_jobs_that_do_not_fit_have_no_placement() -> None:
    assert best_of(instance(1, *[(0, [0.6], [0.1])] * 2)) is None
