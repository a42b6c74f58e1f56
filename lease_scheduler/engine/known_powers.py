"""Power states of the hosts that have ever been told to sleep."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.plan.capacity.availability import IntArray

_CHANGING = (PowerState.FALLING_ASLEEP, PowerState.WAKING)


class KnownPowers(dict[int, HostPower]):
    """Power by host number, with sets of the hosts in the states that each step of the engine asks for.

    It is a ``dict`` and not a ``UserDict``, because every step tests whether it is empty, and a ``dict`` is faster. Set
    and delete entries one by one: methods of ``dict`` for several entries, and ``pop``, would not update the sets.

    :ivar off: hosts that are to be switched off
    :ivar changing: hosts that fall asleep or wake
    :ivar not_awake: hosts in any state but ``AWAKE``
    """

    def __init__(self) -> None:
        super().__init__()
        self.off: set[int] = set()
        self.changing: set[int] = set()
        self.not_awake: set[int] = set()
        self._off_hosts: IntArray | None = None
        self._not_awake_hosts: IntArray | None = None

    def __setitem__(self, host: int, power: HostPower) -> None:
        super().__setitem__(host, power)
        _keep(self.off, host, power.state.is_off)
        _keep(self.changing, host, power.state in _CHANGING)
        _keep(self.not_awake, host, power.state is not PowerState.AWAKE)
        self._off_hosts = self._not_awake_hosts = None

    def __delitem__(self, host: int) -> None:
        super().__delitem__(host)
        for hosts in (self.off, self.changing, self.not_awake):
            hosts.discard(host)
        self._off_hosts = self._not_awake_hosts = None

    @property
    def off_hosts(self) -> IntArray:
        """Numbers in ``off``, ascending; the same array until a power state changes."""
        if self._off_hosts is None:
            self._off_hosts = _ascending(self.off)
        return self._off_hosts

    @property
    def not_awake_hosts(self) -> IntArray:
        """Numbers in ``not_awake``, ascending; the same array until a power state changes."""
        if self._not_awake_hosts is None:
            self._not_awake_hosts = _ascending(self.not_awake)
        return self._not_awake_hosts


def _keep(hosts: set[int], host: int, belongs: bool) -> None:
    (hosts.add if belongs else hosts.discard)(host)


def _ascending(hosts: Set[int]) -> IntArray:
    return np.array(sorted(hosts), dtype=np.int64)
