"""Options for hosts that sleep."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.power import PowerState


@dataclass(frozen=True)
class PowerOptions:
    """Options for hosts that sleep and wake.

    :ivar wake_time: seconds from the command to wake a host until leases can use it
    :ivar shutdown_time: seconds that a host needs to fall asleep; it cannot wake before
    :ivar margin: seconds by which a host may be late without consequences
    :ivar sleep_horizon: seconds from now for which nothing may be planned on a host that is put to sleep
    :ivar minimum_on_time: minimum number of seconds for which a host stays awake
    :ivar spare_hosts: number of hosts without leases that stay awake, for leases that start at once
    :ivar interval: seconds between two decisions for waiting leases
    :ivar confirms: whether the cloud reports power states. If not, as in simulations, hosts are assumed to be in time
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
        """Return the seconds from now until a host that is woken now can be used.

        :param state: its present power state
        """
        falls = self.shutdown_time if state is PowerState.FALLING_ASLEEP else 0
        return falls + self.wake_time + self.allowance

    @property
    def allowance(self) -> int:
        """Seconds by which a host may be late: at least 1, because a command is given in the step after its plan."""
        return max(1, self.margin)
