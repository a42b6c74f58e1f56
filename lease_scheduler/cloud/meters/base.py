"""The protocol of meters, and the values that they use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer


class Activity(Enum):
    """What a meter says about a lease. Whatever is not certain is ``UNKNOWN``."""

    USED = "used"
    IDLE = "idle"
    UNKNOWN = "unknown"


class ServerSource(Protocol):
    """The part of a driver that meters need (see ``cloud.capabilities.Usage``)."""

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
    """Meter that tells whether the servers of leases use anything."""

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        """Return whether the servers of each lease have used anything since the last call.

        A lease without servers is idle. A lease that is left out is unknown. Calls may take long. They come from one
        thread, at intervals.

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
