"""The protocol of meters, and the values that they use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer


class Activity(Enum):
    """What a meter says about a lease. ``UNKNOWN`` is for everything that it cannot be sure of."""

    USED = "used"
    IDLE = "idle"
    UNKNOWN = "unknown"


class ServerSource(Protocol):
    """The part of a driver that meters need (see ``cloud.driver.Driver``)."""

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        """Return lease -> its servers."""
        ...

    def cpu_time(self, server_id: str) -> float | None:
        """Return the CPU seconds that a running server has used since it was started, or None."""
        ...


@dataclass(frozen=True)
class MeterOptions:
    """Arguments for the construction of a meter.

    :ivar values: the options of the group ``idle`` by name
    :ivar cloud: knows the servers of leases
    """

    values: Mapping[str, Any]
    cloud: ServerSource


class Meter(Protocol):
    """Tells whether the servers of leases use anything."""

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        """Return what the servers of leases have done since the last call; leases that are left out are unknown.

        A lease without servers is idle. Calls may take long; they come from one thread, at intervals.

        :param is_stopping: returns whether the result is no longer wanted
        :raises Exception: nothing is known about any lease
        """
        ...


def activity_of(servers: Iterable[Activity]) -> Activity:
    """Return the activity of a lease from that of its servers."""
    found = set(servers)
    if Activity.USED in found:
        return Activity.USED
    return Activity.UNKNOWN if Activity.UNKNOWN in found else Activity.IDLE
