"""Announcements to the cloud of the hosts on which leases start soon, and when."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.service.rounds import UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds between two checks. The cloud uses the result only as a hint, so it may be out of date.
_INTERVAL = 5.0


def coming(leases: Iterable[Lease], site: Site, now: int, horizon: int) -> dict[str, int]:
    """Return the instants at which the next leases start, by name of the compute host.

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


class Announcer(UpkeepWorker):
    """Worker that tells the cloud which leases start soon, whenever that changes.

    :param look: returns the instants of the next starts by name of the compute host
    :param tell: passes them to the cloud
    :param is_on: whether the cloud is told at all
    """

    def __init__(
        self, look: Callable[[], Mapping[str, int]], tell: Callable[[Mapping[str, int]], None], *, is_on: bool = True
    ) -> None:
        super().__init__("announcer", _INTERVAL, first=_INTERVAL)
        self._look = look
        self._tell = tell
        self._is_on = is_on
        self._told: Mapping[str, int] | None = None

    def prepare(self) -> bool:
        """Return whether the cloud is told at all."""
        return self._is_on

    def round(self, now: float) -> float:
        """Tell the cloud if something has changed."""
        found = self._look()
        if found != self._told:
            self._tell(found)
            self._told = found
        return _INTERVAL

    def failed(self, error: Exception) -> None:
        """See ``UpkeepWorker``."""
        LOG.error("the cloud could not be told when leases begin; it is tried again", exc_info=error)
