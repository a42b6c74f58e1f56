"""Servers that run where their lease has no capacity any more.

A server that was stopped or suspended to give way stays on its host, where others have its capacity. It is locked, so
only administrators can start it. If it runs nevertheless, it is put away again, even if the engine that put it away
died before it could lock it. The same holds for a server that was stopped at the end of its lease until its image is
complete. Locks without a purpose are lifted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.images import image_records
from lease_scheduler.cloud.nova.lease.aggregate_metadata import SAVED, Known
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)

#: Difference between the clocks of Nova and of this machine up to which no change is missed.
_OVERLAP = timedelta(seconds=30)

#: Real seconds for which a lock without an apparent purpose is kept, as it may belong to an operation under way.
_UNDER_WAY = 60.0


class AwakeServers:
    """Detector of such servers and locks, for use by one thread.

    :param listed: returns all servers that satisfy a query to Nova
    :param leases: returns the facts in the aggregates of all leases, by id
    """

    def __init__(
        self,
        listed: Callable[..., list[Any]],
        leases: Callable[[], Mapping[str, Known]],
        away: PuttingAway,
        given_up: GivenUpRoom,
        locks: Locks,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._listed = listed
        self._leases = leases
        self._away = away
        self._given_up = given_up
        self._locks = locks
        self._clock = clock
        self._looked_at: datetime | None = None
        #: Servers that were not as they should be at the last check.
        self._wrong: frozenset[str] = frozenset()
        self._told: set[str] = set()
        #: Server -> seconds since when its lock has had no apparent purpose.
        self._pointless: dict[str, float] = {}

    def look(self) -> None:
        """Check the servers that have changed since the last check, and those that were not as they should be."""
        now = datetime.now(UTC)
        changed = {} if self._looked_at is None else {"changes-since": (self._looked_at - _OVERLAP).isoformat()}
        known = self._locks.known()
        # Servers before aggregates: when a lease resumes, the aggregates say so before its servers run.
        found = {each.id: each for each in self._listed(**changed)}
        found |= {each.id: each for server_id in self._wrong - found.keys() for each in self._listed(uuid=server_id)}
        locked = {each.id: each for each in self._listed(locked="true")}
        leases = self._leases()
        apart = frozenset[str]().union(*(image_records.apart(each.images) for each in leases.values()))
        self._locks.prune(known, locked)
        wrong = [each for each in found.values() if self._must_sleep(each, leases, apart) and self._is_wrong(each)]
        for server in wrong:
            self._put_away(server)
        self._wrong, self._looked_at = frozenset(each.id for each in wrong), now
        self._told &= self._wrong
        self._lift([each for each in locked.values() if not self._must_sleep(each, leases, apart)])

    def _must_sleep(self, server: Any, leases: Mapping[str, Known], apart: Collection[str]) -> bool:
        """Return whether a server is on a host where its lease has no capacity for it.

        If its lease runs on other hosts, this is so only if our lock shows that the server was put away. Otherwise
        somebody may have edited the aggregate of the lease, which is repaired.

        :param apart: servers whose leases are over, and of which images are made
        """
        lease, service = leases.get(of.made_for(server) or ""), of.service(server)
        if service is None:
            return False
        if server.id in apart:
            return True
        if lease is None:
            return False
        is_elsewhere = service not in lease.exclusive | lease.shared
        return lease.servers == SAVED or (is_elsewhere and self._locks.reason(server) is not None)

    def _is_wrong(self, server: Any) -> bool:
        return server.status not in of.ASIDE or self._locks.reason(server) is None

    def _put_away(self, server: Any) -> None:
        if server.status not in of.ASIDE and server.id not in self._told:
            self._told.add(server.id)
            LOG.warning("server %s runs although its lease is preempted: it is put away again", server.id)
        try:
            # Others have its capacity, so there is no time to copy anything.
            self._away.put_away([server], PreemptionMode.STOP, 1)
        except StepFailedError as error:
            LOG.warning("%s", error)

    def _lift(self, locked: list[Any]) -> None:
        """Lift our locks that have no purpose any more, for example after a crash."""
        now = self._clock()
        ours = [each for each in locked if self._locks.reason(each) is not None]
        pointless = {each.id: each for each in ours if not self._given_up.is_given_up(each) and not of.is_busy(each)}
        self._pointless = {server_id: self._pointless.get(server_id, now) for server_id in pointless}
        for server_id, server in pointless.items():
            # A shelved server needs no lock: it comes back through nova-scheduler only, and its project may delete it.
            if server.status == of.OFFLOADED or now - self._pointless[server_id] >= _UNDER_WAY:
                LOG.info("server %s is unlocked: no lease needs its room any more", server_id)
                self._locks.unlock(server)
