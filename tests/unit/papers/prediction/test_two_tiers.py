from __future__ import annotations

import pytest

from lease_scheduler.papers.prediction.requests import DAY, Request, two_classes
from lease_scheduler.papers.prediction.two_tiers import Assurance, TwoTierCloud

_NO_PROMISE = Assurance(None)


def test_the_youngest_instances_are_preempted_and_only_if_necessary() -> None:
    """Prediction section 9, 6: three slots, instances since 0, 10 and 20; those since 20 and 10 go."""
    preemptible = [Request(start, 100) for start in (0, 10, 20)]
    found = TwoTierCloud(1, 3, _NO_PROMISE).run([Request(30, 50), Request(31, 50)], preemptible, 200, warm_up=0)
    assert (found.regular_admitted, found.admitted, found.preempted) == (2, 3, 2)
    # The first lives to its end; the others until 31 and 30.
    assert found.busy == 100 + 21 + 10 + 50 + 50


def test_preemptible_requests_preempt_no_instance() -> None:
    """Prediction section 9, 17."""
    found = TwoTierCloud(1, 1, _NO_PROMISE).run([], [Request(0, 100), Request(1, 100)], 200, warm_up=0)
    assert (found.admitted, found.preempted, found.preemptible) == (1, 0, 2)


def test_victims_are_on_the_node_whose_oldest_victim_is_youngest() -> None:
    """Prediction A15: one old instance of two cores, or two younger ones of one core."""
    preemptible = [Request(0, 1000, 2), Request(10, 1000), Request(20, 1000)]
    found = TwoTierCloud(2, 2, _NO_PROMISE).run([Request(30, 10, 2)], preemptible, 500, warm_up=0)
    assert found.preempted == 2
    assert found.busy == 500 * 2 + 20 + 10 + 10 * 2


def test_regular_requests_that_fit_nowhere_are_rejected() -> None:
    found = TwoTierCloud(2, 2, _NO_PROMISE).run(
        [Request(0, 100), Request(1, 100), Request(2, 100), Request(3, 100, 2)], [], 200
    )
    assert (found.regular, found.regular_admitted) == (4, 3)


def test_preemptible_requests_count_after_the_warm_up_only() -> None:
    found = TwoTierCloud(1, 4, _NO_PROMISE).run([], [Request(DAY - 1, 10), Request(DAY, 10)], 2 * DAY)
    assert (found.preemptible, found.admitted) == (1, 1)


@pytest.mark.parametrize("promise", [0.25, 0.05])
def test_a_promise_is_kept_and_costs_admissions(promise: float) -> None:
    """Prediction E6, four of its ten days."""
    regular, preemptible = two_classes(5, True), two_classes(5, False)
    base = TwoTierCloud(1, 32, _NO_PROMISE).run(regular, preemptible, 4 * DAY)
    assured = TwoTierCloud(1, 32, Assurance(promise, sample_every=60)).run(regular, preemptible, 4 * DAY)
    assert assured.preempted_share <= promise < base.preempted_share
    assert assured.admitted_share < base.admitted_share
    assert assured.regular_admitted == base.regular_admitted
