"""Shares over a month, with the policy alone: figures 5.5 to 5.9 of Grit 2007 (shirako E6-E10).

The bands are those in which the dissertation and our reading of it agree; what it leaves open is in
``simulation/shares/run.py`` and ``simulation/generators/flows.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lease_scheduler.policy.queueing.winks.shares import ShareLimit, WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.result import SharesResult
from lease_scheduler.simulation.shares.run import SharesRun

_TICKS = 4_000
_DURATIONS = (10, 200)
_UNITS = (FlowLoad("red", 0.5, _DURATIONS), FlowLoad("green", 0.3, _DURATIONS), FlowLoad("blue", 0.2, _DURATIONS))
_WIDE = (_UNITS[0], FlowLoad("green", 0.3, _DURATIONS, (4, 64)), _UNITS[2])


def _run(flows: Sequence[FlowLoad], options: WinksOptions, *, bound: int = 40_000, drain: int = 0) -> SharesResult:
    return SharesRun(flows, 100, _TICKS, options, bound=bound, drain=drain).execute()


def test_requests_of_one_host_get_the_shares() -> None:
    """shirako E6, figure 5.5: 50, 30 and 20 %, 99 % of the site; waits by Little's law."""
    result = _run(_UNITS, WinksOptions(), bound=10_000)

    assert result.efficiency() >= 0.985
    for at, tolerance in ((1_000, 0.04), (_TICKS, 0.02)):
        shares = result.shares(0, at)
        assert all(shares[flow.name] == pytest.approx(flow.share, abs=tolerance) for flow in _UNITS)
    for flow in result.flows:
        assert flow.mean_wait(1_500, _TICKS) == pytest.approx(10_000 / (flow.share * 100), rel=0.05)
    over_time = result.shares_over_time(100)["red"]
    assert over_time.shape == (40,) and over_time[-10:].mean() == pytest.approx(0.5, abs=0.02)


def test_an_idle_flow_leaves_its_share_to_the_others() -> None:
    """shirako E7, figure 5.6: the flow of 50 % asks only now and then, and gets its share when it does."""
    asks = FlowLoad("red", 0.5, _DURATIONS, times=((500, 1_000), (2_500, 3_000)))
    result = _run((asks, *_UNITS[1:]), WinksOptions(), bound=10_000)

    assert result.efficiency() >= 0.985
    assert result.shares(1_500, 2_400) == pytest.approx({"red": 0.0, "green": 0.6, "blue": 0.4}, abs=0.02)
    for first, last in ((650, 1_000), (2_650, 3_000)):
        assert result.shares(first, last) == pytest.approx({"red": 0.5, "green": 0.3, "blue": 0.2}, abs=0.02)


def test_without_a_calendar_wide_requests_starve() -> None:
    """shirako E8, figure 5.7: they are served when the others have stopped."""
    result = _run(_WIDE, WinksOptions(), drain=1_500)

    assert result.shares()["green"] <= 0.08
    assert result.flows[1].queued_cost == 0


def test_without_the_share_limit_wide_requests_take_the_window() -> None:
    """shirako E9, figure 5.8."""
    shares = _run(_WIDE, WinksOptions(200, ShareLimit.NONE)).shares()

    assert shares["green"] >= 0.6
    assert shares["red"] <= 0.25 and shares["blue"] <= 0.1


def test_with_the_share_limit_all_flows_get_their_shares() -> None:
    """shirako E10, figure 5.9."""
    result = _run(_WIDE, WinksOptions(200))

    assert result.shares() == pytest.approx({"red": 0.5, "green": 0.3, "blue": 0.2}, abs=0.02)
    assert result.efficiency() >= 0.95


def test_a_short_window_excludes_requests_that_cost_more_than_its_share() -> None:
    """shirako E10 with w = 50: they fill the queue, or are refused when they arrive (P19c)."""
    kept = SharesRun(_WIDE, 100, _TICKS, WinksOptions(50), keeps_too_costly=True).execute()
    refused = _run(_WIDE, WinksOptions(50))

    assert 0 < kept.shares()["green"] <= 0.08
    assert refused.shares()["green"] > 0.2
    assert refused.flows[1].dropped > 0


def test_debt_lets_requests_start_that_cost_more_than_the_share_of_a_window() -> None:
    """shirako P19c: with debt, the wide flow gets its share with the short window too."""
    result = _run(_WIDE, WinksOptions(50, debt=True))

    assert result.shares()["green"] == pytest.approx(0.3, abs=0.05)
    assert result.efficiency() >= 0.95
