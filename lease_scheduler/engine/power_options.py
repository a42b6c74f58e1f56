"""Options for hosts that sleep."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.power import PowerState


@dataclass(frozen=True)
class PowerOptions:
    """How hosts sleep and wake.

    :ivar wake_time: seconds from a wish to wake a host until leases can use it
    :ivar shutdown_time: seconds that a host needs to fall asleep, before it can wake
    :ivar margin: seconds by which a host may be late without consequences
    :ivar sleep_horizon: a host sleeps only if nothing is planned on it in as many seconds
    :ivar minimum_on_time: seconds for which a host stays awake at least
    :ivar spare_hosts: number of hosts without leases that stay awake, for leases that start at once
    :ivar interval: seconds between two decisions about leases that wait
    :ivar confirms: whether the cloud reports what hosts have done. If not, as in simulations, they do it in time
    """

    wake_time: int = 120
    shutdown_time: int = 60
    margin: int = 60
    sleep_horizon: int = 3600
    minimum_on_time: int = 600
    spare_hosts: int = 0
    interval: int = 600
    confirms: bool = True

    def lead(self, state: PowerState) -> int:
        """Return how many seconds from now a host can be used that is to wake now."""
        falls = self.shutdown_time if state is PowerState.FALLING_ASLEEP else 0
        return falls + self.wake_time + self.allowance

    @property
    def allowance(self) -> int:
        """Seconds by which a host may be late; one at least, as a wish follows a plan with the next step."""
        return max(1, self.margin)
