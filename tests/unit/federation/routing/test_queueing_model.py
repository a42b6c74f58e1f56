"""Divisions of external requests over clusters (contention F26 to F31, F33, E9, golden 9.2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lease_scheduler.federation.routing.queueing_model import Cluster, best_division
from lease_scheduler.model.errors import InvalidValueError

_GOLDEN = [
    Cluster(20, 500, 0.01, 25, 631.25),
    Cluster(8, 80, 0.02, 12, 145.44),
    Cluster(6, 45, 0.04, 10, 101),
]


def _cluster(mean: float, variation: float, load: float, local_mean: float, local_variation: float) -> Cluster:
    return Cluster(
        mean, mean**2 * (1 + variation**2), load / local_mean, local_mean, local_mean**2 * (1 + local_variation**2)
    )


_CLUSTERS = st.builds(
    _cluster,
    mean=st.floats(0.1, 1_000),
    variation=st.floats(0, 3),
    load=st.floats(0, 0.95),
    local_mean=st.floats(0.1, 1_000),
    local_variation=st.floats(0, 3),
)


def _response(cluster: Cluster, rate: float) -> float:
    """Return the mean response time of external requests (equation 4.4)."""
    rest = 1 - cluster.local_load
    waiting = (rate * cluster.square + cluster.local_rate * cluster.local_square) / (2 * (rest - cluster.mean * rate))
    return (cluster.mean + waiting) / rest


def _mean_response(clusters: list[Cluster], rates: list[float]) -> float:
    weighted = sum(rate * _response(each, rate) for each, rate in zip(clusters, rates, strict=True))
    return weighted / sum(rates)


def _marginal_cost(cluster: Cluster, rate: float) -> float:
    """Return the derivative of rate times response time by the rate, term by term."""
    rest = 1 - cluster.local_load
    left = rest - cluster.mean * rate
    work = rate * cluster.square + cluster.local_rate * cluster.local_square
    grows = cluster.square / (2 * left) + cluster.mean * work / (2 * left**2)
    return _response(cluster, rate) + rate * grows / rest


@pytest.mark.parametrize(
    ("total", "cost", "rates", "response"),
    [
        (0.02, 16.838507, (0, 0.015196, 0.004804), 15.120772),
        (0.05, 22.773354, (0, 0.028962, 0.021038), 17.764943),
        (0.10, 42.511302, (0.006458, 0.048860, 0.044682), 24.720206),
        (0.15, 101.145794, (0.018960, 0.065937, 0.065103), 38.145488),
        (0.20, 623.183308, (0.030352, 0.083486, 0.086162), 90.775383),
    ],
)
def test_the_division_of_the_golden_table(total: float, cost: float, rates: tuple[float, ...], response: float) -> None:
    found = best_division(total, _GOLDEN)

    assert found.rates == pytest.approx(rates, abs=5.1e-7)
    assert [rate == 0 for rate in found.rates] == [rate == 0 for rate in rates]
    assert found.marginal_cost == pytest.approx(cost, abs=5.1e-7)
    assert _mean_response(_GOLDEN, list(found.rates)) == pytest.approx(response, abs=5.1e-7)


@settings(max_examples=1_000, deadline=None)
@given(st.lists(_CLUSTERS, min_size=1, max_size=8), st.floats(0.001, 0.99))
def test_used_clusters_have_one_marginal_cost_and_unused_ones_a_higher_one(
    clusters: list[Cluster], part: float
) -> None:
    """The conditions of Karush, Kuhn and Tucker, by derivatives that the division does not use."""
    total = part * sum(each.most for each in clusters)
    found = best_division(total, clusters)

    assert found.marginal_cost is not None
    assert sum(found.rates) == pytest.approx(total, rel=1e-9)
    for cluster, rate in zip(clusters, found.rates, strict=True):
        assert 0 <= rate < cluster.most
        at_none = _marginal_cost(cluster, 0)
        if rate:
            assert _marginal_cost(cluster, rate) == pytest.approx(found.marginal_cost, rel=1e-6)
        else:
            assert at_none >= found.marginal_cost * (1 - 1e-6)
        if at_none > found.marginal_cost * (1 + 1e-9):
            assert rate == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(_CLUSTERS, min_size=2, max_size=5), st.floats(0.05, 0.8))
def test_no_optimiser_finds_a_better_division(clusters: list[Cluster], part: float) -> None:
    total = part * sum(each.most for each in clusters)
    ours = _mean_response(clusters, list(best_division(total, clusters).rates))

    theirs = minimize(
        lambda parts: _mean_response(clusters, [total * each for each in parts]) / ours,
        [each.most / sum(other.most for other in clusters) for each in clusters],
        method="SLSQP",
        bounds=[(0, 0.999999 * each.most / total) for each in clusters],
        constraints={"type": "eq", "fun": lambda parts: sum(parts) - 1},
        options={"ftol": 1e-12},
    )

    assert theirs.fun >= 1 - 1e-6


@settings(max_examples=200, deadline=None)
@given(st.lists(_CLUSTERS, min_size=1, max_size=6), st.floats(0.001, 0.9), st.floats(1.0, 1.09))
def test_no_cluster_gets_less_of_more(clusters: list[Cluster], part: float, growth: float) -> None:
    total = part * sum(each.most for each in clusters)
    fewer, more = best_division(total, clusters).rates, best_division(total * growth, clusters).rates

    assert all(after >= before * (1 - 1e-9) for before, after in zip(fewer, more, strict=True))


def test_more_than_all_can_serve_is_divided_by_what_each_can_serve() -> None:
    assert best_division(0.2325, _GOLDEN).rates == pytest.approx((0.0375, 0.095, 0.1))
    assert best_division(0.4650, _GOLDEN).rates == pytest.approx((0.075, 0.19, 0.2))
    assert best_division(0.4650, _GOLDEN).marginal_cost is None


def test_a_cluster_that_local_requests_fill_gets_none() -> None:
    full = Cluster(1, 1, 0.1, 10, 100)

    assert best_division(0.05, [full, _GOLDEN[1]]).rates == pytest.approx((0, 0.05), abs=0)
    assert best_division(0.05, [full]).rates == (0,)


def test_equal_clusters_get_equal_rates() -> None:
    assert best_division(0.03, [_GOLDEN[0]] * 3).rates == pytest.approx((0.01, 0.01, 0.01))


@pytest.mark.parametrize("total", [0, -1, float("inf"), float("nan")])
def test_a_total_must_be_positive(total: float) -> None:
    with pytest.raises(InvalidValueError, match="total: must be more than 0"):
        best_division(total, _GOLDEN)


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        ((0, 0), "mean: must be at least 1e-09 s, not 0"),
        ((-1, 0), "mean: must be finite and at least 0, not -1"),
        ((2, 3), "square: must be at least 4, the square of the mean"),
        ((2, 4, 1, 3, 8), "local_square: must be at least 9, the square of the mean"),
        ((2, 4, float("nan")), "local_rate: must be finite and at least 0, not nan"),
    ],
)
def test_figures_that_no_cluster_has_are_refused(figures: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Cluster(*figures)
