"""Quick figures of chapter 5 of Sotomayor 2010; ``lease-sim experiment haizea-5`` has all of them."""

from __future__ import annotations

import pytest

from lease_scheduler.papers.haizea.best_effort_and_reservations import ReservationCase
from lease_scheduler.papers.haizea.deadlines import DeadlineCase
from lease_scheduler.papers.haizea.reservation_checks import BASELINE, TABLE_SETS
from lease_scheduler.simulation.campaigns.case import Outcome


@pytest.fixture(scope="module")
def baseline() -> Outcome:
    return ReservationCase(None, "generated", 0, "NOVM-NOSR").run()


def test_blue1_alone_takes_as_long_as_in_an_independent_simulator(baseline: Outcome) -> None:
    """haizea E1.0: 2,668,432 s in the dissertation; two independent simulators agree on 2,668,402 s to the second."""
    assert baseline["all_best_effort_s"] == 2_668_402
    assert baseline["all_best_effort_s"] == pytest.approx(BASELINE, rel=0.001)


@pytest.mark.parametrize(
    ("configuration", "extra_time", "wait", "slowdown"),
    [("NOVM-NOSR", (3, 7.5), (11, 18), (42, 72)), ("NOVM-SR", (-1, 1.5), (5.3, 8), (23, 37))],
)
def test_t10_lies_in_the_bands_of_table_5_1(
    configuration: str, extra_time: tuple[float, float], wait: tuple[float, float], slowdown: tuple[float, float]
) -> None:
    """haizea E1.1."""
    outcome = ReservationCase(TABLE_SETS["T10"], "generated", 1, configuration).run()
    assert extra_time[0] <= 100 * (outcome["all_best_effort_s"] / BASELINE - 1) <= extra_time[1]
    assert wait[0] <= outcome["mean_wait_s"] / 1000 <= wait[1]
    assert slowdown[0] <= outcome["mean_slowdown"] <= slowdown[1]
    assert 60 <= outcome["reservations"] <= 80


@pytest.mark.data
@pytest.mark.slow
def test_preemption_raises_the_acceptance_of_tight_deadlines() -> None:
    """haizea E2.2: BLUE2, late starts and tight deadlines."""
    without, having = (
        DeadlineCase("BLUE2", "LATE", "TIGHT", mode, 1).run() for mode in ("no preemption", "with suspension")
    )
    assert 0.70 <= having["accepted_by_slack"] / having["tight_by_slack"] <= 0.83
    assert having["accepted_by_slack"] > without["accepted_by_slack"]
