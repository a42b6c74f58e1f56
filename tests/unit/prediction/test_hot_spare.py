from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.hot_spare import Burst, HotSpare, PowerChange, PoweredHost, SpareRules, power_change


def _epoch(spare: HotSpare, starts: list[int], ends: list[int] = []) -> None:  # noqa: B006 - never changed
    for cores in starts:
        spare.started(cores)
    for cores in ends:
        spare.ended(cores)
    spare.end_epoch()


def test_the_spare_is_the_bound_of_bursts() -> None:
    """Prediction A12: with 60 epochs, the bound is the largest of them."""
    spare = HotSpare(SpareRules())
    for place in range(60):
        assert spare.cores() is None
        _epoch(spare, [1, 3 if place == 7 else 1], [2])
    assert spare.cores() == 4


def test_net_bursts_are_increases_within_the_epoch() -> None:
    gross, net = (HotSpare(SpareRules(burst=burst, least_epochs=1)) for burst in (Burst.GROSS, Burst.NET))
    for spare in (gross, net):
        spare.started(5)
        spare.ended(5)
        _epoch(spare, [2, 1])
    assert (gross.cores(), net.cores()) == (8, 5)
    for spare in (gross, net):
        spare.ended(3)
        _epoch(spare, [4])
    assert (gross.cores(), net.cores()) == (8, 5)


def test_idle_epochs_do_not_dilute_the_quantile() -> None:
    """Prediction A13: months of idleness, and sudden large requests."""
    active, all_epochs = HotSpare(SpareRules()), HotSpare(SpareRules(active_only=False))
    for place in range(1500):
        for spare in (active, all_epochs):
            _epoch(spare, [84] if place % 100 == 0 else [])
    assert (active.cores(), all_epochs.cores()) == (84, 0)


def test_without_confidence_the_spare_is_the_quantile() -> None:
    spare = HotSpare(SpareRules(confidence=None))
    for place in range(100):
        _epoch(spare, [1 + place])
    assert spare.cores() == 95


def test_hosts_are_woken_in_order_and_put_to_sleep_from_the_end() -> None:
    asleep = PoweredHost(4, 4, is_awake=False)
    awake = PoweredHost(4, 4, is_awake=True)
    busy = PoweredHost(4, 1, is_awake=True)
    waking = PoweredHost(4, 4, is_awake=True, is_waking=True)
    assert power_change([busy, asleep, asleep, asleep], 6) == PowerChange((1, 2), ())
    assert power_change([busy, awake, awake, awake], 6) == PowerChange((), (3,))
    assert power_change([busy, awake, awake, awake], 0) == PowerChange((), (3, 2, 1))
    assert power_change([busy, awake, waking], 1) == PowerChange((), (1,))
    assert power_change([busy], 100) == PowerChange((), ())


def test_invalid_rules_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="quantile"):
        SpareRules(quantile=1)
    with pytest.raises(InvalidValueError, match="least_epochs"):
        SpareRules(least_epochs=3000)
