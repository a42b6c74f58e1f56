"""The queue of external requests (contention 4.5 and 9.3)."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from math import isfinite

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.queue_model import Load, Queue, arrivals_in_service, most_places, queues

LOAD = Load(0.22, 2.0, 0.5, 1.0, 0.5)


def _first(load: Load, count: int) -> list[Queue]:
    return list(islice(queues(load), count))


def test_service_times_include_interruptions() -> None:
    """contention 9.3: E[T] = 4, V[T] = 10, external load 0.88."""
    assert (LOAD.mean_service, LOAD.variance_of_service) == (4.0, 10.0)
    assert LOAD.external_load == pytest.approx(0.88)


def test_arrivals_in_service_have_the_published_probabilities() -> None:
    expected = [0.495986, 0.281592, 0.129896, 0.055310, 0.022570]
    assert arrivals_in_service(LOAD, 5) == pytest.approx(expected, abs=5e-7)
    assert sum(arrivals_in_service(LOAD, 400)) == pytest.approx(1)


def test_queues_have_the_published_responses_and_refusals() -> None:
    """contention 9.3, for 1 to 8 places."""
    found = _first(LOAD, 8)
    assert [queue.places for queue in found] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [queue.response for queue in found] == pytest.approx(
        [4.0, 5.709027, 7.429351, 9.076758, 10.632486, 12.092797, 13.458279, 14.731081], abs=5e-7
    )
    assert [queue.blocked for queue in found] == pytest.approx(
        [0.468085, 0.273248, 0.181955, 0.130533, 0.098050, 0.075935, 0.060083, 0.048292], abs=5e-7
    )


def test_an_overloaded_site_has_the_published_responses() -> None:
    """contention 9.3: rate 0.6."""
    load = replace(LOAD, external_rate=0.6)
    assert [queue.response for queue in _first(load, 4)] == pytest.approx([4, 6.71805, 10.06726, 13.756], abs=5e-4)
    assert most_places(load, 12) == 3


@pytest.mark.parametrize(("threshold", "places"), [(6, 2), (8, 3), (12, 5), (4, 1), (3.9, 1)])
def test_the_threshold_decides_the_number_of_places(threshold: float, places: int) -> None:
    """contention 9.3; a threshold that even one request exceeds leaves the least number."""
    assert most_places(LOAD, threshold) == places
    assert most_places(LOAD, 3.9, least=0) == 0


def test_a_quiet_site_admits_any_number_and_a_full_one_none() -> None:
    quiet = replace(LOAD, external_rate=0.05)
    assert quiet.mean_response() == pytest.approx(4.8125)
    assert most_places(quiet, 12) is None
    for rate in (1.0, 2.0):
        assert most_places(replace(LOAD, local_rate=rate), 1e6) == 0, "local requests take all of the time"


def test_without_local_requests_service_times_are_constant() -> None:
    """contention P33: the limit of a gamma law without variance, M/D/1/K."""
    load = Load(0.3, 2.0)
    assert arrivals_in_service(load, 3) == pytest.approx([0.548812, 0.329287, 0.098786], abs=1e-6)
    assert load.mean_response() == pytest.approx(2 + 0.3 * 4 / (2 * 0.4))
    assert _first(load, 60)[-1].response == pytest.approx(load.mean_response() or 0, rel=1e-3)
    nearly = replace(load, local_rate=1e-9, local_service_rate=1.0)
    assert [q.response for q in _first(nearly, 5)] == pytest.approx([q.response for q in _first(load, 5)], rel=1e-6)


@pytest.mark.parametrize("rate", [1.0, 20.0, 1000.0])
def test_extreme_loads_do_not_overflow(rate: float) -> None:
    """contention P33: no arrival during a service is then so unlikely that its probability may be 0."""
    load = replace(LOAD, external_rate=rate)
    found = _first(load, 300)
    for before, after in pairwise(found):
        assert before.response < after.response < before.response + 1.01 * load.mean_service
    assert found[-1].blocked == pytest.approx(1 - 1 / load.external_load, abs=1e-3)


@pytest.mark.parametrize(
    ("field", "value"),
    [("external_rate", 0.0), ("external_work", -1.0), ("local_service_rate", float("nan")), ("local_variation", -0.5)],
)
def test_values_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=field):
        replace(LOAD, **{field: value})


@pytest.mark.parametrize("arriving", [200, 240, 300, 376, 600, 690, 800])
def test_a_very_high_arrival_rate_gives_finite_responses(arriving: float) -> None:
    """So many arrive during one service that the probability of none is hardly a number."""
    load = Load(external_rate=arriving / 10, external_work=10)
    found = [queue for queue, _ in zip(queues(load), range(20), strict=False)]
    assert all(isfinite(each.response) and 0 <= each.blocked <= 1 for each in found)
    # A place that comes free is taken by the first arrival, which then waits for all before it.
    assert [each.response for each in found] == pytest.approx([10, *(n * 10 - 10 / arriving for n in range(2, 21))])
    assert most_places(load, 60) == 6
