"""Tells the cloud on which hosts leases start soon, and when."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Real seconds between two checks. The cloud uses the result only as a hint, so it may be out of date.
_INTERVAL = 5.0


def coming(leases: Iterable[Lease], site: Site, now: int, horizon: int) -> dict[str, int]:
    """Return the instant at which the next lease starts, by name of the compute host.

    :param now: the present instant
    :param horizon: seconds after ``now`` within which starts are returned
    """
    found: dict[str, int] = {}
    for lease in leases:
        for reservation in lease.holdings:
            if not now < reservation.start <= now + horizon:
                continue
            for number in reservation.hosts:
                host = site.hosts[number]
                if FLOATING_IP not in host.capacity:
                    found[host.name] = min(found.get(host.name, reservation.start), reservation.start)
    return found


class Announcer:
    """Thread that tells the cloud when leases start soon, whenever that changes.

    :param look: returns the instants of the next starts by name of the compute host
    :param tell: passes them to the cloud
    :param interval: real seconds between two checks
    """

    def __init__(
        self,
        look: Callable[[], Mapping[str, int]],
        tell: Callable[[Mapping[str, int]], None],
        interval: float = _INTERVAL,
    ) -> None:
        self._look = look
        self._tell = tell
        self._interval = interval
        self._told: Mapping[str, int] | None = None
        self._worker = Worker("announcer", self._announce, interval, _log_error, first=interval)

    def start(self) -> None:
        """Start the thread."""
        self._worker.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._worker.stop()

    def _announce(self) -> float:
        found = self._look()
        if found != self._told:
            self._tell(found)
            self._told = found
        return self._interval


def _log_error(error: Exception) -> None:
    LOG.error("the cloud could not be told when leases begin; it is tried again", exc_info=error)
