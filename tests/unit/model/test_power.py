"""What hosts save by sleeping (contention F68)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.power import HostPower, PowerState, Watts, check_watts


def test_only_the_time_asleep_counts() -> None:
    power = HostPower(PowerState.AWAKE, 0)
    for state, now in (
        (PowerState.FALLING_ASLEEP, 100),
        (PowerState.ASLEEP, 160),
        (PowerState.WAKING, 3760),
        (PowerState.AWAKE, 3900),
    ):
        power = power.to(state, now)
    assert power == HostPower(PowerState.AWAKE, 3900, slept=3600)
    assert Watts(117, 17).saved_wh(power.seconds_asleep(9_000)) == 100


def test_nothing_is_saved_before_the_clock_was_set_back() -> None:
    assert HostPower(PowerState.ASLEEP, 1_000, slept=5).seconds_asleep(400) == 5


@pytest.mark.parametrize("text", ["many", "", "nan", "inf", "-1"])
def test_figures_of_a_host_that_make_no_sense(text: str) -> None:
    """They are refused, and do not count if the host has had them before."""
    with pytest.raises(InvalidValueError, match="watts_awake: must be a number of watts of at least 0"):
        check_watts("watts_awake", text)
    assert Watts(117, 5).of({"watts_awake": text, "watts_asleep": "7.5"}) == Watts(117, 7.5)
