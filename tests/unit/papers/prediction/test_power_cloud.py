from __future__ import annotations

import pytest

from lease_scheduler.papers.prediction.power_cloud import PowerCloud, PowerSettings, power_efficiency
from lease_scheduler.papers.prediction.requests import Request
from lease_scheduler.prediction.hot_spare import SpareRules


def test_power_efficiency_follows_equation_3_1() -> None:
    """Prediction section 9, 14: equation 3.1."""
    assert power_efficiency(0.4, 0.87) == pytest.approx(0.4598, abs=1e-4)


def test_without_saving_nodes_are_filled_in_order() -> None:
    result = PowerCloud(2, 2).run([Request(0, 50), Request(0, 100), Request(0, 100), Request(0, 100, 2)], 100)
    assert result is not None
    assert (result.accepted, result.rejected, result.delayed) == (3, 1, 0)
    assert list(result.utilisation) == [0.75, 0.5]
    assert list(result.uptime) == [1, 1]
    assert result.efficiency == 0.625


def test_requests_on_sleeping_and_waking_nodes_are_delayed() -> None:
    """Prediction section 9, 13: the whole time on an asleep node, the rest on a waking one."""
    settings = PowerSettings(SpareRules(least_epochs=1, active_only=False), epoch=100, wake_seconds=30)
    # The first epoch has a burst of 1, so one awake node is enough; the second is asleep from 100 on.
    asked = [Request(0, 500), Request(210, 500), Request(220, 50), Request(230, 50)]
    result = PowerCloud(2, 2, settings).run(asked, 1000)
    assert result is not None
    assert (result.accepted, result.delayed) == (4, 2)
    # The first two share a node. The others wait until 250 for the second one, from 220 and from 230 on.
    assert result.utilisation[1] == pytest.approx((80 + 70) / 2000)
    assert result.uptime[0] == 1
    assert result.uptime[1] < 1


def test_a_run_ends_early_when_too_many_are_rejected() -> None:
    asked = [Request(0, 10), Request(1, 10), Request(2, 10)]
    assert PowerCloud(1, 1).run(asked, 20, most_rejected=1) is None
    assert PowerCloud(1, 1).run(asked, 20, most_rejected=2) is not None


def test_a_request_larger_than_a_node_is_rejected() -> None:
    result = PowerCloud(3, 4).run([Request(0, 10, 5)], 10)
    assert result is not None
    assert result.rejected == 1
