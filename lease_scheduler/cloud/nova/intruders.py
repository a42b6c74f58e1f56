"""Ordinary servers on hosts that a lease is to have: they have no right to be there, and do not give way by themselves.

They were forced there by an administrator, were there before the host came into the pool, or use an
``on_demand_horizon`` that did not see the lease coming. What is done with them is the operator's choice; whatever they
choose, a lease does not wait for them for ever.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.guests import Guests
from lease_scheduler.cloud.nova.lost import LostCommands
from lease_scheduler.cloud.nova.room import IntruderAction, RoomOptions
from lease_scheduler.cloud.nova.throttle import Throttle

LOG = logging.getLogger(__name__)

#: How often a server is told to go before that counts as impossible.
_ATTEMPTS = 4

#: Seconds that leases have to give capacity back before ordinary servers count as what is in the way.
_LEAVING_TIME = 10


class Intruders:
    """Has them go, as far as the operator allows.

    :param nova: novaclient's client, of an administrator
    :param listed: gives all servers that satisfy a query of Nova's
    :param guests: remembers who is to come back
    :param lost: tells Nova again what it has lost
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        guests: Guests,
        throttle: Throttle,
        lost: LostCommands,
        options: RoomOptions,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._guests = guests
        self._throttle = throttle
        self._lost = lost
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()
        # Servers that were told to leave a host -> its name.
        self._left: dict[str, str] = {}

    def clear(self, host: str, servers: Iterable[Any], late: int) -> bool:
        """Have these servers leave a host; return whether there are none.

        :param host: name of the compute host
        :param late: seconds since the operation should have been over, negative if it still has time
        :raises HostsOccupiedError: one of them does not go
        """
        present = {each.id: each for each in servers}
        staying = [each for each in present.values() if not self._sent_away(each, late)]
        if staying:
            self.refuse(host, staying)
        return not present and self._is_confirmed(host)

    @staticmethod
    def refuse(host: str, servers: Iterable[Any]) -> None:
        """Say that a host cannot be had.

        :raises HostsOccupiedError: always
        """
        raise HostsOccupiedError({host: [each.id for each in servers]})

    def is_patience_over(self, late: int) -> bool:
        """Return whether nobody waits any longer for servers that should have gone."""
        return late > self._options.intruder_patience

    def make_room(self, host: str, service: str, missing: Callable[[], Mapping[str, int]], waited: int) -> None:
        """Have as many ordinary servers go from a shared host as are in the way of a lease, the youngest first.

        :param host: name of the compute host
        :param service: name of its compute service
        :param missing: gives resource class -> amount that is to come free
        :param waited: seconds for which the lease has waited for its capacity
        :raises HostsOccupiedError: they are in the way and do not go
        """
        here = [each for each in self._listed(host=service) if of.is_ordinary(each) and each.status != of.OFFLOADED]
        still = Counter({name: amount for name, amount in missing().items() if amount > 0})
        in_the_way = []
        for each in sorted(here, key=lambda server: (str(server.created), str(server.id)), reverse=True):
            if any(amount > 0 for amount in still.values()):
                in_the_way.append(each)
                still.subtract(of.claims(each))
        if any(amount > 0 for amount in still.values()) or not in_the_way:
            # Others have not given back yet what the lease is to have: what is in the way is seen when they have.
            return
        # Whoever had the capacity before may be giving it back at this moment.
        if waited > _LEAVING_TIME:
            self.clear(host, in_the_way, waited)

    def send_away(self, server: Any) -> None:
        """Have a server go from a host that a lease has for itself, if the operator wants that."""
        if of.is_ordinary(server) and not of.is_busy(server):
            self._sent_away(server, 0)

    def _is_confirmed(self, host: str) -> bool:
        """Return whether nothing is kept on a host for servers that have left it.

        What is not running is migrated as by a resize, which waits for a confirmation and keeps its place until then.
        """
        with self._lock:
            gone = [server_id for server_id, left in self._left.items() if left == host]
        is_over = True
        for server_id in gone:
            waiting = [each for each in self._listed(uuid=server_id) if each.status == of.VERIFY_RESIZE]
            for server in waiting:
                is_over = False
                if not of.is_busy(server):
                    of.command(self._nova.servers.confirm_resize, server)
            if not waiting:
                self._forget(server_id)
        return is_over

    def _forget(self, server_id: str) -> None:
        self._throttle.end(server_id)
        with self._lock:
            self._attempts.pop(server_id, None)
            self._left.pop(server_id, None)

    def _sent_away(self, server: Any, late: int) -> bool:
        """Tell a server to go, or see how far it is; return false if it does not go."""
        if self._options.intruders is IntruderAction.REFUSE:
            return False
        if self.is_patience_over(late):
            self._forget(server.id)
            return False
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            self._lost.repair(server)
            return True
        self._throttle.end(server.id)
        if of.settle(self._nova, server):
            return self._may_try_again(server)
        if not self._throttle.begin(server.id, of.host(server)):
            return True
        if not self._may_try_again(server):
            return False
        LOG.warning(
            "server %s is in the way of a lease on %s: %s", server.id, of.host(server), self._options.intruders.value
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
            offload: Callable[[Any], Any] = servers.shelve_offload
            return offload
        if self._options.intruders is IntruderAction.MIGRATE:
            if server.status == of.ACTIVE:
                return lambda each: servers.live_migrate(each, None, "auto")
            migrate: Callable[[Any], Any] = servers.migrate
            return migrate
        self._guests.mark([server])
        shelve: Callable[[Any], Any] = servers.shelve
        return shelve
