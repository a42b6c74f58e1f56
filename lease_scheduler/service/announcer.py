"""Tells the cloud now and then when leases begin soon on which hosts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Real seconds between two looks; what others decide by it need not be exact.
_INTERVAL = 5.0


def coming(leases: Iterable[Lease], site: Site, now: int, horizon: int) -> dict[str, int]:
    """Name of the compute host -> instant at which the next lease begins there, if that is within the horizon."""
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
    """Says it again when it has changed.

    :param look: gives what is to be said
    :param tell: says it
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
        """Begin to tell."""
        self._worker.start()

    def stop(self) -> None:
        """Tell nothing more."""
        self._worker.stop()

    def _announce(self) -> float:
        found = self._look()
        if found != self._told:
            self._tell(found)
            self._told = found
        return self._interval


def _log_error(error: Exception) -> None:
    LOG.error("the cloud could not be told when leases begin; it is tried again", exc_info=error)
