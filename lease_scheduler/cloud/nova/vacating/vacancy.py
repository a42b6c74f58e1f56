"""Detection of servers that are still on their way to hosts that were vacated for a lease.

Between nova-scheduler's choice of a host and the arrival of the server, only Placement knows of it. And nova-scheduler
learns of the aggregate of a lease by a message, so it may choose the host a little longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.lease.lease_parts import is_slot_only

#: Real seconds after which nova-scheduler knows a change of an aggregate, unless it is very busy.
_HEARD_AFTER = 2.0

#: Real seconds after which a lease is forgotten, as its operation may have been given up.
_FORGOTTEN_AFTER = 600.0


class Vacancy:
    """Detector of servers on their way.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    :param clock: returns real seconds
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        placement: Placement,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._placement = placement
        self._clock = clock
        self._lock = Lock()
        #: Lease -> seconds until which nova-scheduler may send servers to its hosts, and at which the lease was noted.
        self._heard_at: dict[str, tuple[float, float]] = {}
        #: Leases for whose hosts servers were on their way when this was last asked.
        self._awaited: set[str] = set()
        #: Lease -> seconds at which nova-scheduler knows that none of its servers may start any more.
        self._ended_at: dict[str, float] = {}

    def note(self, lease_id: str) -> None:
        """Note that the aggregate of a lease has all its hosts. Repeated calls change nothing."""
        with self._lock:
            if lease_id in self._heard_at:
                return
        now = self._clock()
        heard_at = now + _HEARD_AFTER if self._has_preemptible_flavors() else now
        with self._lock:
            recent = {key: value for key, value in self._heard_at.items() if now - value[1] < _FORGOTTEN_AFTER}
            self._heard_at = {**recent, lease_id: (heard_at, now)}

    def forget_all(self) -> None:
        """Forget all leases, because others may have given them other hosts."""
        with self._lock:
            self._heard_at.clear()
            self._awaited.clear()
            self._ended_at.clear()

    def is_noted(self, lease_id: str) -> bool:
        """Return whether a lease was noted, and it is not certain yet that no servers of others can arrive."""
        with self._lock:
            return lease_id in self._heard_at

    def is_heard(self, lease_id: str) -> bool:
        """Return whether nova-scheduler knows the aggregate of a lease. Note the lease if it was not noted before."""
        self.note(lease_id)
        with self._lock:
            heard_at, _ = self._heard_at[lease_id]
        return self._clock() >= heard_at

    def is_certain(
        self, lease_id: str, providers: Mapping[str, str], *, gives_up: bool, own: str | None = None
    ) -> bool:
        """Return whether no servers of others can arrive on the hosts of a lease any more, or have just arrived.

        A server that was on its way may arrive after the caller has looked at the hosts. So the first answer without
        one is that the caller has to look again.

        :param lease_id: id of a lease that was noted
        :param providers: name of each vacated host of the lease -> id of its resource provider
        :param gives_up: whether to stop waiting for servers on their way, as a resize may take forever
        :param own: project whose servers may arrive because the lease runs; None before it runs
        :raises HostsOccupiedError: ``gives_up`` is true, and there are such servers
        """
        with self._lock:
            heard_at, _ = self._heard_at.get(lease_id, (math.inf, 0.0))
        if self._clock() < heard_at:
            return False
        expected = {host: self._expected(provider_id, lease_id, own) for host, provider_id in providers.items()}
        expected = {host: servers for host, servers in expected.items() if servers}
        with self._lock:
            was_awaited = lease_id in self._awaited
            self._awaited.discard(lease_id)
            if expected and gives_up:
                raise HostsOccupiedError(expected)
            if expected:
                self._awaited.add(lease_id)
            if expected or was_awaited:
                return False
            self._heard_at.pop(lease_id, None)
        return True

    def note_end(self, lease_id: str) -> None:
        """Note that the aggregate of a lease now forbids its servers to start."""
        now = self._clock()
        with self._lock:
            self._ended_at = {key: at for key, at in self._ended_at.items() if now - at < _FORGOTTEN_AFTER}
            self._ended_at.setdefault(lease_id, now + _HEARD_AFTER)

    def is_end_heard(self, lease_id: str) -> bool:
        """Return whether nova-scheduler knows that none of a lease's servers may start any more."""
        with self._lock:
            # A lease that is not known was noted before the engine started, which is long enough ago.
            return self._clock() >= self._ended_at.get(lease_id, -math.inf)

    def _has_preemptible_flavors(self) -> bool:
        """Return whether there are preemptible flavors, whose servers may be on their way to hosts of the pool."""
        return any(of.flavor_gives_way(each) for each in all_flavors(self._nova))

    def _expected(self, provider_id: str, lease_id: str, own: str | None) -> list[str]:
        """Return the servers that do not belong to the lease, or to a project, and are on their way to a host."""
        found = []
        for consumer, amounts in self._placement.consumers_on(provider_id).items():
            if is_slot_only(amounts):
                continue
            # If the consumer belongs to a lease or is left over, there is no such server.
            for server in self._listed(uuid=consumer):
                is_own = own is not None and server.tenant_id == own
                if lease_id not in of.leases(server) and of.is_busy(server) and not is_own:
                    found.append(str(server.id))
        return found
