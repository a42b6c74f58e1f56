"""contention F54-F58, F65, F66: what the power policies decide."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy, policy_names
from lease_scheduler.policy.power.base import PowerDecision, PowerPolicy, PowerView, Shortage, Waiting
from lease_scheduler.policy.power.fuzzy import FuzzyTables, infer

_OPTIONS = PolicyOptions()
_SHORTAGE = Shortage(nodes=10, missing=8, after_preemption=3)


def _policy(name: str, **options: str) -> PowerPolicy:
    policy: PowerPolicy = load_policy("power", name, PolicyOptions(options))
    return policy


def _view(*waiting: Waiting, load: float = 0.5) -> PowerView:
    return PowerView(lambda: waiting, lambda: load)


def _with_risk(risk: float, load: float, nodes: int = 4) -> PowerView:
    """Return a view with this risk at the default waiting factor of 5."""
    return _view(Waiting(nodes, int(risk * 5_000), 1_000), load=load)


def test_the_family_has_these_policies() -> None:
    assert policy_names("power") == ["gesp", "none", "pemp", "predictive", "sesp"]


def test_the_risk_is_the_mean_waiting_time_over_the_acceptable_one_weighted_by_nodes() -> None:
    view = _view(Waiting(1, 100, 1_000), Waiting(3, 500, 200))
    assert view.risk(5.0) == pytest.approx((100 + 3 * 500) / (5 * (1_000 + 3 * 200)))
    assert _view().risk(5.0) == 0.0


def test_a_view_computes_only_what_is_read() -> None:
    def never() -> Sequence[Waiting]:
        raise AssertionError("nobody asked")

    view = PowerView(never, lambda: 1.0)
    assert _policy("none").for_reservation(_SHORTAGE, view) == PowerDecision(wake=8)
    assert _policy("gesp").for_reservation(_SHORTAGE, view) == PowerDecision(wake=3)


def test_only_none_leaves_hosts_awake() -> None:
    assert [name for name in policy_names("power") if not _policy(name).manages] == ["none"]
    assert _policy("none").for_queue(_with_risk(2.0, 1.0)) == PowerDecision()


def test_gesp_wakes_nothing_for_leases_that_wait() -> None:
    assert _policy("gesp").for_queue(_with_risk(9.0, 1.0)) == PowerDecision()


def test_sesp_preempts_until_leases_have_waited_too_long() -> None:
    sesp = _policy("sesp")
    assert sesp.for_reservation(_SHORTAGE, _with_risk(0.9, 0.5)) == PowerDecision(wake=3)
    assert sesp.for_reservation(_SHORTAGE, _with_risk(1.0, 0.5)) == PowerDecision(wake=8)
    assert sesp.for_queue(_with_risk(0.9, 0.5)) == PowerDecision()
    assert sesp.for_queue(_with_risk(1.0, 0.5, nodes=6)) == PowerDecision(wake=6)
    assert sesp.for_queue(_view()) == PowerDecision()


@pytest.mark.parametrize(
    ("risk", "load", "decision"),
    [
        # The outputs of the golden vectors: 0.5, 0.25, 0, 1, 2 and 1.5.
        (0.5, 0.75, PowerDecision(wake=4)),
        (0.75, 0.5, PowerDecision(wake=6)),
        (1.2, 0.7, PowerDecision(wake=8)),
        (0.25, 1.0, PowerDecision(wake=0)),
        (0.0, 0.0, PowerDecision(empty=8)),
        (0.25, 0.5, PowerDecision(empty=4)),
    ],
)
def test_pemp_divides_missing_hosts_between_waking_and_preemption(
    risk: float, load: float, decision: PowerDecision
) -> None:
    assert _policy("pemp").for_reservation(_SHORTAGE, _with_risk(risk, load)) == decision


@pytest.mark.parametrize("nodes", range(1, 21))
def test_pemp_counts_hosts_without_the_errors_of_binary_fractions(nodes: int) -> None:
    """Algorithm 5 with exact fractions, at all points of a grid: 5 nodes at a load of 0.8 empty one host, not none."""
    pemp = _policy("pemp")
    missing = Shortage(nodes=nodes, missing=nodes, after_preemption=0)
    for risk, load in product(range(21), range(21)):
        exact = _exact_output(Fraction(risk, 20), Fraction(load, 20))
        if exact <= 1:
            expected = PowerDecision(wake=ceil(nodes * (1 - exact)))
        else:
            expected = PowerDecision(empty=floor(nodes * (exact - 1)))
        assert pemp.for_reservation(missing, _with_risk(risk / 20, load / 20)) == expected, (risk, load)


def _exact_output(risk: Fraction, load: Fraction) -> Fraction:
    tables = FuzzyTables()
    risks, loads = (_exact_degrees(peaks, value) for peaks, value in ((tables.risk, risk), (tables.load, load)))
    rules = (_exact_rule(row, column) * of_risk * of_load for row, of_risk in risks for column, of_load in loads)
    return sum(rules, Fraction())


def _exact_degrees(peaks: Sequence[float], value: Fraction) -> list[tuple[int, Fraction]]:
    places = [Fraction(peak) for peak in peaks]
    value = min(max(value, places[0]), places[-1])
    upper = next(number for number, peak in enumerate(places) if peak >= value)
    if upper == 0:
        return [(0, Fraction(1))]
    degree = (value - places[upper - 1]) / (places[upper] - places[upper - 1])
    return [(upper - 1, 1 - degree), (upper, degree)]


def _exact_rule(row: int, column: int) -> Fraction:
    """Return the centre of the output of a rule, which is what both inputs give at the peaks of its sets."""
    tables = FuzzyTables()
    return Fraction(infer(tables, tables.risk[row], tables.load[column]))


def test_pemp_empties_as_many_hosts_as_are_asked_for_above_two() -> None:
    wide = "-0.5,0.25,0.5,0.75,1,1.25,1.5,2.5"
    assert _policy("pemp", power_centres=wide).for_reservation(_SHORTAGE, _view(load=0.0)) == PowerDecision(empty=8)


def test_pemp_decides_for_the_lease_that_has_waited_longest() -> None:
    view = _view(Waiting(2, 6_000, 1_000), Waiting(50, 10, 1), load=1.0)
    assert _policy("pemp").for_queue(view) == PowerDecision(wake=2)
    assert _policy("pemp").for_queue(_view()) == PowerDecision()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sesp", {"power_waiting_factor": "0"}, "power_waiting_factor: must be more than 0"),
        ("pemp", {"power_waiting_factor": "-2"}, "power_waiting_factor: must be a number of at least 0"),
        ("pemp", {"power_risk_peaks": "1,2,3"}, "power_risk_peaks: must be 4 ascending numbers"),
        ("pemp", {"power_load_peaks": "0,a"}, "power_load_peaks: must be numbers separated by commas"),
        ("pemp", {"power_centres": ""}, "power_centres: must be numbers separated by commas"),
    ],
)
def test_a_wrong_option_is_refused(name: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _policy(name, **options)
