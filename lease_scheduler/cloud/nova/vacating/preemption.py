"""Servers that leave hosts for leases. ``returning`` brings servers back, or moves them.

Each call checks the present state, and does the next step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.vacating.attempts import Attempts
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.options import Escalation, RoomOptions
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """The names of a compute host in the plan and in Nova.

    :ivar host: its name in the plan
    :ivar service: the name of its compute service
    """

    host: str
    service: str


class ServerPreemption:
    """Preemption of servers on hosts.

    :param nova: novaclient's client with administrator rights
    :param listed: returns all servers that satisfy a query to Nova
    :param guests: marks servers without a lease, which are unshelved later
    :param intruders: moves or shelves ordinary servers
    :param away: puts servers away
    :param given_up: knows which stopped servers have released their claims
    :param attempts: counts attempts to bring servers back; the count is reset when they were put away
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        guests: Guests,
        intruders: Intruders,
        away: PuttingAway,
        given_up: GivenUpRoom,
        attempts: Attempts,
        options: RoomOptions,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._guests = guests
        self._intruders = intruders
        self._away = away
        self._given_up = given_up
        self._attempts = attempts
        self._options = options

    def put_away(self, servers: Collection[Any], mode: PreemptionMode, late: int, *, must_leave: bool = False) -> bool:
        """Put servers away. Return whether all of them are.

        :param mode: how; servers are shelved if the mode is neither stop nor suspend
        :param late: seconds since the planned end of the operation, negative before it
        :param must_leave: as in ``PuttingAway.put_away``
        :raises StepFailedError: a server cannot be put away, or not in time
        """
        is_over = self._away.put_away(servers, mode, late, must_leave=must_leave)
        if is_over:
            # The servers may come from failed attempts to bring them back, which do not count for the next time.
            self._attempts.forget(servers)
        return is_over

    def put_lease_away(
        self, servers: Collection[Any], services: Collection[str], mode: PreemptionMode, late: int
    ) -> bool:
        """Put the servers of a lease away. Servers elsewhere than on its hosts cannot keep it from leaving these.

        :param services: compute services of the hosts of the lease
        :raises StepFailedError: a server on these hosts cannot be put away, or not in time
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
        """Return whether a server is a guest that is stopped on its host until no lease needs its capacity."""
        return of.is_guest(server) and self._given_up.is_given_up(server)

    def send_away(self, server: Any, own: str) -> None:
        """Make a server leave a host that a lease has for itself, or stop it if a stopped server may stay there.

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
            # It should not be there at all, so do not wait for copies that are not necessary.
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
        """Clear all servers that do not belong to a lease off a host. Return whether this is done.

        :param own: project whose servers may be there because the lease runs; None before it runs
        :param leaving: (compute service, project) for those that other leases still have for themselves
        :param apart: servers of other leases that are stopped there until images of them are complete
        :param late: as in ``put_away``
        :raises HostsOccupiedError: a server does not give way
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
        # Servers of another lease are leaving, as its operation was planned before this one and is late.
        leased = [each for each in others if of.made_for(each) is not None]
        moving = [each for each in leased if not _is_aside(each)]
        firm = [each for each in others if of.is_ordinary(each) and each.tenant_id != own]
        expected = [each for each in firm if (place.service, each.tenant_id) in leaving]
        guests = [each for each in others if of.is_guest(each) and each.tenant_id != own]
        # Guests first, so that they are told to leave even if others stay.
        are_away = self._shelve_guests(place, guests, lease_id, late)
        if (moving or expected) and self._intruders.is_patience_over(late):
            self._intruders.refuse(place.host, [*moving, *expected])
        is_clear = self._intruders.clear(place.host, [each for each in firm if each not in expected], late, own)
        return is_clear and are_away and not moving and not expected

    def is_patience_over(self, late: int) -> bool:
        """Return whether the wait for servers in the way of a lease is over.

        :param late: as in ``put_away``
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


def _is_aside(server: Any) -> bool:
    """Return whether a server uses only disk space. It may be busy with an image, as projects can make one any time."""
    return server.status in of.ASIDE and (not of.is_busy(server) or of.makes_image(server))
