"""The power of the hosts that have ever been told to sleep."""

from __future__ import annotations

from lease_scheduler.model.power import HostPower, PowerState

_CHANGING = (PowerState.FALLING_ASLEEP, PowerState.WAKING)


class KnownPowers(dict[int, HostPower]):
    """Power by host number, with what each step of the engine asks for at hand.

    It is a ``dict``, and no ``UserDict``, because every step asks whether it is empty. Entries are set and deleted one
    by one; what ``dict`` offers for several at once, and ``pop``, would pass by the sets.

    :ivar off: hosts that are to be switched off
    :ivar changing: hosts that fall asleep or wake
    :ivar not_awake: hosts in any state but ``AWAKE``
    """

    def __init__(self) -> None:
        super().__init__()
        self.off: set[int] = set()
        self.changing: set[int] = set()
        self.not_awake: set[int] = set()

    def __setitem__(self, host: int, power: HostPower) -> None:
        super().__setitem__(host, power)
        _keep(self.off, host, power.state.is_off)
        _keep(self.changing, host, power.state in _CHANGING)
        _keep(self.not_awake, host, power.state is not PowerState.AWAKE)

    def __delitem__(self, host: int) -> None:
        super().__delitem__(host)
        for hosts in (self.off, self.changing, self.not_awake):
            hosts.discard(host)


def _keep(hosts: set[int], host: int, belongs: bool) -> None:
    (hosts.add if belongs else hosts.discard)(host)
