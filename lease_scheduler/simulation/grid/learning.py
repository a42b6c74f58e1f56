"""The load that a simulated site learns from its requests, and publishes to gateways as a live one does."""

from __future__ import annotations

from lease_scheduler.federation.members import PublishedLoad
from lease_scheduler.federation.published_load import published_load, sort_of
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.arrivals import KnownArrivals
from lease_scheduler.policy.duration.counted import CountedDurations
from lease_scheduler.simulation.site_run import SiteRun

#: Number of latest requests that count in the means, as at a live site.
_WINDOW = 200

#: States of leases that were not granted, or not yet.
_NOT_GRANTED = frozenset({LeaseState.NEW, LeaseState.PENDING, LeaseState.REJECTED, LeaseState.REJECTED_BY_USER})


class LearntLoad:
    """Arrivals at a site. A request counts when it is granted, a held one when it is accepted.

    :param site: the site
    :param speed: its speed; durations count as they are at speed 1
    """

    def __init__(self, site: SiteRun, speed: float = 1.0) -> None:
        self._site = site
        self._speed = speed
        self._durations = CountedDurations()
        self._known: dict[str, KnownArrivals] = {}
        self._counted: set[str] = set()
        site.store.follow(self._saved)

    def load(self) -> PublishedLoad:
        """Return what the site publishes now."""
        return published_load(self._known, self._site.clock.now())

    def _saved(self, lease: Lease) -> None:
        if lease.lease_id in self._counted or lease.is_offered or lease.state in _NOT_GRANTED:
            return
        self._counted.add(lease.lease_id)
        if not lease.request.nodes:
            return
        sort = sort_of(lease.request)
        seconds = round(self._durations.of_request(lease.request) * self._speed)
        self._known[sort] = self._known.get(sort, KnownArrivals()).after(lease.request, seconds, _WINDOW)
