"""What the engine has at hand about the power of hosts."""

from __future__ import annotations

import random

from lease_scheduler.engine.known_powers import KnownPowers
from lease_scheduler.model.power import HostPower, PowerState


def test_sets_and_arrays_follow_the_states() -> None:
    stream, powers = random.Random(1), KnownPowers()
    for now in range(500):
        host = stream.randrange(5)
        if host in powers and stream.random() < 0.2:
            del powers[host]
        else:
            powers[host] = HostPower(stream.choice(list(PowerState)), now)
        states = {host: power.state for host, power in powers.items()}
        assert powers.off == {host for host, state in states.items() if state.is_off}
        assert powers.not_awake == {host for host, state in states.items() if state is not PowerState.AWAKE}
        changing = (PowerState.FALLING_ASLEEP, PowerState.WAKING)
        assert powers.changing == {host for host, state in states.items() if state in changing}
        assert powers.off_hosts.tolist() == sorted(powers.off)
        assert powers.not_awake_hosts.tolist() == sorted(powers.not_awake)
