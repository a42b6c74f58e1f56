"""The power of the hosts that have ever been told to sleep."""

from __future__ import annotations

from collections import UserDict

from lease_scheduler.model.power import HostPower, PowerState

_CHANGING = (PowerState.FALLING_ASLEEP, PowerState.WAKING)


class KnownPowers(UserDict[int, HostPower]):
    """Power by host number, with what each step of the engine asks for at hand.

    :ivar off: hosts that are to be switched off
    :ivar changing: hosts that fall asleep or wake
    """

    def __init__(self) -> None:
        self.off: set[int] = set()
        self.changing: set[int] = set()
        super().__init__()

    def __setitem__(self, host: int, power: HostPower) -> None:
        super().__setitem__(host, power)
        _keep(self.off, host, power.state.is_off)
        _keep(self.changing, host, power.state in _CHANGING)

    def __delitem__(self, host: int) -> None:
        super().__delitem__(host)
        self.off.discard(host)
        self.changing.discard(host)


def _keep(hosts: set[int], host: int, belongs: bool) -> None:
    (hosts.add if belongs else hosts.discard)(host)
