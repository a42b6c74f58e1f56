"""Intruders: ordinary servers on hosts that a lease needs, which do not give way by themselves.

An administrator forced them there, they were there before the host came into the pool, or they came within
``on_demand_horizon`` before the lease was known. The operator chooses what is done with them. In any case, a lease does
not wait for them forever.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from threading import Lock
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.departures import Departures
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.options import IntruderAction, RoomOptions
from lease_scheduler.cloud.nova.vacating.shelving import Shelving

LOG = logging.getLogger(__name__)

#: Maximum number of attempts to move or shelve a server.
_ATTEMPTS = 4

#: Seconds for which other leases may take to release capacity, before ordinary servers count as being in the way.
_LEAVING_TIME = 10


class Intruders:
    """The treatment of intruders: they are moved or shelved if the operator allows this.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    :param guests: marks servers that are unshelved later
    :param lost: detects commands that Nova has lost
    :param departures: finishes moves
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        guests: Guests,
        throttle: Throttle,
        lost: LostCommands,
        departures: Departures,
        options: RoomOptions,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._guests = guests
        self._throttle = throttle
        self._lost = lost
        self._departures = departures
        self._shelving = Shelving(nova)
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()
        # Server that was told to leave its host -> name of that host.
        self._left: dict[str, str] = {}

    def clear(self, host: str, servers: Iterable[Any], late: int, own: str | None = None) -> bool:
        """Make these servers leave a host. Return whether all have left.

        :param host: name of the compute host
        :param late: seconds since the planned end of the operation, negative before it
        :param own: project whose servers may be there
        :raises HostsOccupiedError: a server does not leave
        """
        present = {each.id: each for each in servers}
        staying = [each for each in present.values() if not self._sent_away(each, late)]
        if staying:
            self.refuse(host, staying)
        if present:
            return False
        self._forget_those_gone(host, present)
        return self._have_left(host, late, own)

    @staticmethod
    def refuse(host: str, servers: Iterable[Any]) -> None:
        """Raise the error that a host is not available because of these servers.

        :raises HostsOccupiedError: always
        """
        raise HostsOccupiedError({host: [each.id for each in servers]})

    def is_patience_over(self, late: int) -> bool:
        """Return whether the wait for servers that should have left is over."""
        return late > self._options.intruder_patience

    def make_room(
        self, host: str, service: str, missing: Callable[[], Mapping[str, int]], waited: int, lease_id: str
    ) -> None:
        """Make ordinary servers leave a shared host, youngest first and only those that are in the way of a lease.

        :param host: name of the compute host
        :param service: name of its compute service
        :param missing: returns resource class -> amount that must become free
        :param waited: seconds for which the lease has waited for its capacity
        :raises HostsOccupiedError: a server in the way does not leave, or another lease does not release its capacity
            in time
        """
        if not self._have_left(host, waited):
            return
        present = [each for each in self._listed(host=service) if each.status != of.OFFLOADED]
        here = [each for each in present if of.is_ordinary(each)]
        self._forget_those_gone(host, {each.id for each in here})
        still = Counter({name: amount for name, amount in missing().items() if amount > 0})
        in_the_way = []
        for each in sorted(here, key=lambda server: (str(server.created), str(server.id)), reverse=True):
            if of.has_some_of(each, still):
                in_the_way.append(each)
                still.subtract(of.claims(each))
        if any(amount > 0 for amount in still.values()) or not in_the_way:
            # Other leases have not yet released what this one needs. Only after that it is known what is in the way.
            if waited > self._options.guest_patience:
                # They may never do so, as a server whose hypervisor hangs is not deleted.
                self.refuse(host, [each for each in present if of.made_for(each) not in (None, lease_id)])
            return
        # The previous lease may just be releasing the capacity.
        if waited > _LEAVING_TIME:
            self.clear(host, in_the_way, waited)

    def send_away(self, server: Any) -> None:
        """Make an ordinary server leave a host that a lease has for itself, if the operator allows this."""
        if of.is_ordinary(server) and not of.is_busy(server):
            self._sent_away(server, 0)

    def _have_left(self, host: str, late: int, own: str | None = None) -> bool:
        """Return whether no server that was moved, resized or deleted still has capacity of a host.

        :raises HostsOccupiedError: such servers do not release it in time
        """
        moving = self._departures.unfinished(host, own)
        if moving and self.is_patience_over(late):
            self.refuse(host, moving)
        return not moving

    def _forget_those_gone(self, host: str, present: Collection[str]) -> None:
        with self._lock:
            gone = [each for each, left in self._left.items() if left == host and each not in present]
        for server_id in gone:
            self._forget(server_id)

    def _forget(self, server_id: str) -> None:
        self._throttle.end(server_id)
        with self._lock:
            self._attempts.pop(server_id, None)
            self._left.pop(server_id, None)

    def _sent_away(self, server: Any, late: int) -> bool:
        """Make a server leave its host, or check one that is leaving. Return False if it does not leave."""
        if self.is_patience_over(late):
            self._forget(server.id)
            return False
        if self._options.intruders is IntruderAction.REFUSE:
            # It may just be leaving, for example because the lease that had the host before has ended.
            return of.is_going(server)
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            self._lost.repair(server)
            return True
        self._throttle.end(server.id)
        if server.status == of.ERROR and not self._attempts[server.id]:
            of.revive(self._nova, server)
            return self._may_try_again(server)
        if of.settle(self._nova, server):
            return self._may_try_again(server)
        if not self._throttle.begin(server.id, of.host(server)):
            return True
        if not self._may_try_again(server):
            return False
        LOG.warning(
            "server %s is in the way of a lease on %s; action: %s",
            server.id,
            of.host(server),
            self._options.intruders.value,
        )
        with self._lock:
            self._left[server.id] = str(of.host(server))
        of.command(self._command(server), server)
        return True

    def _may_try_again(self, server: Any) -> bool:
        with self._lock:
            self._attempts[server.id] += 1
            attempts = self._attempts[server.id]
        if attempts <= _ATTEMPTS:
            return True
        self._forget(server.id)
        return False

    def _command(self, server: Any) -> Callable[[Any], Any]:
        servers = self._nova.servers
        if server.status == of.SHELVED:
            return self._shelving.shelve
        # Nova does not migrate servers that are suspended.
        if self._options.intruders is IntruderAction.MIGRATE and server.status != of.SUSPENDED:
            if server.status in (of.ACTIVE, of.PAUSED):
                return lambda each: servers.live_migrate(each, None, "auto")
            migrate: Callable[[Any], Any] = servers.migrate
            return migrate
        self._guests.mark([server])
        return self._shelving.shelve
