"""Servers that make room. Hosts are vacated for leases, and servers are brought back, or moved.

Each call checks the present state and does what comes next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from novaclient.exceptions import BadRequest, Conflict, NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.options import Escalation, RoomOptions
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)

#: Maximum number of attempts to bring a server back or to move it.
_ATTEMPTS = 3

#: States in which Nova moves no server, but takes it off its host.
_NOT_MOVED = frozenset({of.SUSPENDED, of.SHELVED})


@dataclass(frozen=True)
class Place:
    """The names of a compute host in the plan and in Nova.

    :ivar host: its name in the plan
    :ivar service: the name of its compute service
    """

    host: str
    service: str


class ServerPreemption:
    """Makes servers leave hosts and brings them back.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query of Nova's
    :param guests: marks servers without a lease, which are unshelved later
    :param intruders: moves or shelves ordinary servers
    :param lost: detects commands that Nova has lost
    :param locks: locks servers against their projects while they are moved or away
    :param away: puts servers away
    :param given_up: knows what stopped servers have given up
    :param arrivals: tells when moves are over
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        guests: Guests,
        intruders: Intruders,
        throttle: Throttle,
        lost: LostCommands,
        locks: Locks,
        away: PuttingAway,
        given_up: GivenUpRoom,
        arrivals: Arrivals,
        options: RoomOptions,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._guests = guests
        self._intruders = intruders
        self._throttle = throttle
        self._lost = lost
        self._locks = locks
        self._away = away
        self._given_up = given_up
        self._arrivals = arrivals
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()
        #: Failed servers that were rebooted before they are moved.
        self._revived: set[str] = set()

    # -- out of the way --------------------------------------------------------------------------------------

    def put_away(self, servers: Collection[Any], mode: PreemptionMode, late: int, *, must_leave: bool = False) -> bool:
        """Put servers away. Return whether all of them are.

        :param mode: how; servers are shelved if the mode is neither stop nor suspend
        :param late: seconds since the planned end of the operation, negative before it
        :param must_leave: as for ``PuttingAway``
        :raises StepFailedError: a server cannot be put away, or not in time
        """
        is_over = self._away.put_away(servers, mode, late, must_leave=must_leave)
        if is_over:
            # They may have come from a failed attempt to bring them back. The next one begins anew.
            self._forget_attempts(servers)
        return is_over

    def put_lease_away(
        self, servers: Collection[Any], services: Collection[str], mode: PreemptionMode, late: int
    ) -> bool:
        """Put the servers of a lease away. Those on none of its hosts cannot keep it from leaving these.

        :param services: compute services of the hosts of the lease
        :raises StepFailedError: a server on them cannot be put away, or not in time
        """
        here = [each for each in servers if of.service(each) in (None, *services)]
        elsewhere = [each for each in servers if each not in here]
        are_away = self.put_away(here, mode, late)
        try:
            return self.put_away(elsewhere, mode, late) and are_away
        except StepFailedError as error:
            LOG.warning("a lease leaves its hosts, and does not wait for a server elsewhere: %s", error)
            return are_away

    def is_guest_put_away(self, server: Any) -> bool:
        """Return whether a server without a lease is stopped on its host, and waits until no lease needs its room."""
        return of.is_guest(server) and self._given_up.is_given_up(server)

    def send_away(self, server: Any, own: str) -> None:
        """Make a server leave a host that a lease has for itself, or stop it there if its own lease is put away.

        :param own: id of the lease that has the host
        """
        if of.is_ordinary(server):
            self._intruders.send_away(server)
            return
        if of.made_for(server) == own:
            return
        if of.is_guest(server):
            self._guests.mark([server])
        try:
            # It should not be there at all, so there is no time to copy what need not be copied.
            self.put_away([server], PreemptionMode.STOP, 1)
        except StepFailedError as error:
            LOG.warning("%s", error)

    def vacate(
        self,
        place: Place,
        lease_id: str,
        own: str | None,
        leaving: Collection[tuple[str, str]],
        apart: Collection[str],
        late: int,
    ) -> bool:
        """Free a host of all servers that do not belong to a lease. Return whether it is free.

        :param own: project whose servers may be there because the lease runs; None before it runs
        :param leaving: compute services that other leases still have for themselves, with the projects of these leases
        :param apart: servers of other leases that are stopped there until images of them are complete
        :param late: as for ``put_away``
        :raises HostsOccupiedError: a server does not make room
        """
        tag = names.tag(lease_id)
        others = [
            each
            for each in self._listed(host=place.service)
            if tag not in of.tags(each)
            and of.made_for(each) != lease_id
            and each.status != of.OFFLOADED
            and each.id not in apart
        ]
        others = [each for each in others if not self._given_up.is_given_up(each)]
        # Servers of another lease are leaving: its operation is planned before this one, and is late.
        leased = [each for each in others if of.made_for(each) is not None]
        moving = [each for each in leased if not _is_aside(each)]
        firm = [each for each in others if of.is_ordinary(each) and each.tenant_id != own]
        expected = [each for each in firm if (place.service, each.tenant_id) in leaving]
        guests = [each for each in others if of.is_guest(each) and each.tenant_id != own]
        # Guests first: they are told to go even if others stay.
        are_away = self._shelve_guests(place, guests, lease_id, late)
        if (moving or expected) and self._intruders.is_patience_over(late):
            self._intruders.refuse(place.host, [*moving, *expected])
        is_clear = self._intruders.clear(place.host, [each for each in firm if each not in expected], late, own)
        return is_clear and are_away and not moving and not expected

    def is_patience_over(self, late: int) -> bool:
        """Return whether the wait for servers in the way of a lease is over.

        :param late: as for ``put_away``
        """
        return self._intruders.is_patience_over(late)

    def _shelve_guests(self, place: Place, guests: Sequence[Any], lease_id: str, late: int) -> bool:
        """Shelve guests. Return whether all of them are shelved.

        :raises HostsOccupiedError: a guest is not shelved in time
        """
        self._guests.mark(guests)
        try:
            are_away = self.put_away(guests, PreemptionMode.SHELVE, late)
        except StepFailedError as error:
            if self._options.escalation is Escalation.DELETE:
                for each in guests:
                    LOG.warning("server %s is deleted: it made no room for lease %s in time", each.id, lease_id)
                    of.command(self._nova.servers.delete, each)
                return False
            if not self._intruders.is_patience_over(late):
                return False
            LOG.warning("host %s cannot be vacated: %s", place.host, error)
            self._intruders.refuse(place.host, guests)
        return are_away

    # -- back ------------------------------------------------------------------------------------------------

    def bring_back(
        self,
        servers: Sequence[Any],
        planned: Mapping[int, str],
        services: Collection[str],
        trust_id: str | None = None,
    ) -> bool:
        """Make servers run again. Return whether all of them run.

        :param planned: number of the VM -> compute host for it; Nova chooses a host for VMs that are not in it
        :param services: compute services of the lease
        :param trust_id: trust of the project, in whose name its own locks are restored
        :raises StepFailedError: a server finds no host
        """
        present = [each for each in servers if not (each.status == of.ERROR and of.service(each) is None)]
        self._check(present)
        are_back = [self._is_back(server, _of_number(server, planned), services) for server in present]
        is_over = all(are_back)
        if is_over:
            for server in present:
                self._locks.unlock(server, trust_id)
            self.forget(servers)
        return is_over

    def _is_back(self, server: Any, planned: str | None, services: Collection[str]) -> bool:
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            if self._lost.repair(server):
                # Its hypervisor may hang, and then it does not come back however often its state is reset.
                self._count(server, "does not come back")
                if server.status != of.ACTIVE:
                    # The reset state says that it runs, but it does not.
                    of.command(self._nova.servers.reboot, server, "HARD")
            return False
        self._throttle.end(server.id)
        if server.status == of.ACTIVE:
            return True
        commands = {
            of.OFFLOADED: self._nova.servers.unshelve,
            of.SHELVED: self._nova.servers.unshelve,
            of.SUSPENDED: self._nova.servers.resume,
            of.PAUSED: self._nova.servers.unpause,
        }
        if not self._throttle.begin(server.id, of.host(server)):
            return False
        self._count(server, "finds no host")
        if of.settle(self._nova, server):
            return False
        if self._given_up.is_given_up(server) and (
            of.service(server) not in services or not self._given_up.take_back(server)
        ):
            # Nova can move it only if it shelves it, which it does not.
            return False
        if server.status == of.OFFLOADED and planned is not None:
            of.command(self._unshelve_to(planned), server)
        else:
            of.command(commands.get(server.status, self._nova.servers.start), server)
        return False

    def _unshelve_to(self, host: str) -> Callable[[Any], Any]:
        return lambda server: self._nova.servers.unshelve(server, host=host)

    # -- elsewhere -------------------------------------------------------------------------------------------

    def follow(
        self,
        servers: Sequence[Any],
        services: Collection[str],
        planned: Mapping[int, str],
        is_up: Callable[[str], bool],
        late: int,
        trust_id: str | None = None,
    ) -> bool:
        """Move servers to these compute services, live if possible. Return whether all of them are there.

        :param planned: number of the VM -> compute service for it; Nova chooses one for VMs that are not in it
        :param is_up: returns whether a compute service is up; servers of one that is down are rebuilt from their images
        :param late: as for ``put_away``
        :param trust_id: as for ``bring_back``
        :raises StepFailedError: a server cannot be moved
        """
        mended = [each for each in servers if of.service(each) in services and self._arrivals.mend(each)]
        self._forget_attempts(mended)
        others = [each for each in servers if each not in mended]
        # One that failed before this operation began may have failed by what its project did.
        self._check(each for each in others if self._attempts[each.id])
        are_there = [self._is_there(server, services, _of_number(server, planned), is_up, late) for server in others]
        is_over = all(are_there) and not mended
        if is_over:
            for server in servers:
                if of.service(server) in (None, *services):
                    self._locks.unlock(server, trust_id)
            self.forget(servers)
        return is_over

    def _is_there(
        self, server: Any, services: Collection[str], planned: str | None, is_up: Callable[[str], bool], late: int
    ) -> bool:
        here = of.service(server)
        leaves = here is not None and here not in services
        if leaves:
            # Its project could keep it busy.
            self._locks.lock(server)
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            if leaves and late > 0 and of.makes_image(server):
                self._lost.reset(server)
            self._lost.repair(server)
            return False
        self._throttle.end(server.id)
        if server.status == of.VERIFY_RESIZE:
            of.settle(self._nova, server)
            return False
        if here is None or server.status == of.OFFLOADED:
            return True
        if here in services:
            return not self._attempts[server.id] or self._arrivals.is_over(server)
        is_here = is_up(here)
        if is_here and server.status == of.ERROR and server.id not in self._revived:
            self._revived.add(server.id)
            of.revive(self._nova, server)
            return False
        if is_here and of.settle(self._nova, server):
            return False
        if is_here and server.status in _NOT_MOVED:
            return self._away.put_away([server], PreemptionMode.SHELVE, late)
        if not self._throttle.begin(server.id, of.host(server)):
            return False
        if not self._may_try_again(server) and (not is_here or server.status not in of.CAN_SHELVE):
            self._give_up(server, "cannot be moved")
        # If that fails, Nova chooses: another server of the lease may be where this one was planned.
        to = planned if self._attempts[server.id] == 1 else None
        if not is_here:
            self._evacuate(server, to)
        elif self._attempts[server.id] > _ATTEMPTS:
            # It cannot stay, because the lease does not have the host any more.
            LOG.warning("server %s cannot be moved from %s; it is shelved", server.id, here)
            return self._away.put_away([server], PreemptionMode.SHELVE, late)
        elif server.status in (of.ACTIVE, of.PAUSED):
            of.command(self._nova.servers.live_migrate, server, to, "auto")
        else:
            of.command(self._nova.servers.migrate, server, to)
        return False

    def _evacuate(self, server: Any, to: str | None) -> None:
        try:
            self._nova.servers.evacuate(server, to)
        except (Conflict, NotFound):
            return
        except BadRequest:
            # For a moment at the end of an evacuation, Nova shows the server without a task on the host that it left.
            if of.service(self._nova.servers.get(server.id)) == of.service(server):
                raise

    def forget(self, servers: Collection[Any]) -> None:
        """Forget operations on servers, so that they do not count for the throttle any more."""
        for server in servers:
            self._throttle.end(server.id)
        self._forget_attempts(servers)
        self._away.forget(servers)

    def _forget_attempts(self, servers: Collection[Any]) -> None:
        with self._lock:
            for server in servers:
                self._attempts.pop(server.id, None)
                self._revived.discard(server.id)
                self._arrivals.forget(server.id)

    # -- helpers ---------------------------------------------------------------------------------------------

    def _count(self, server: Any, complaint: str) -> None:
        if not self._may_try_again(server):
            self._give_up(server, complaint)

    def _may_try_again(self, server: Any) -> bool:
        with self._lock:
            self._attempts[server.id] += 1
            return self._attempts[server.id] <= _ATTEMPTS

    def _give_up(self, server: Any, complaint: str) -> None:
        self.forget([server])
        raise StepFailedError(f"server {server.id} {complaint}", of.host(server))

    def _check(self, servers: Iterable[Any]) -> None:
        for server in servers:
            if server.status == of.ERROR:
                raise StepFailedError(f"server {server.id} failed: {of.fault(server)}", of.host(server))


def _is_aside(server: Any) -> bool:
    """Return whether a server uses only disk space, also if Nova copies its disk: projects may have that done."""
    return server.status in of.ASIDE and (not of.is_busy(server) or of.makes_image(server))


def _of_number(server: Any, planned: Mapping[int, str]) -> str | None:
    number = of.number(server)
    return None if number is None else planned.get(number)
