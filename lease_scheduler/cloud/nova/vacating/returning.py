"""Servers that are brought back after they made room, and servers that follow their lease to other hosts.

Each call checks the present state and does what comes next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from novaclient.exceptions import BadRequest, ClientException

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.attempts import MOST, Attempts
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)

#: States in which Nova moves no server, but takes it off its host.
_NOT_MOVED = frozenset({of.SUSPENDED, of.SHELVED})


class Returning:
    """Brings servers back, and moves them.

    :param nova: novaclient's client with administrator rights
    :param lost: detects commands that Nova has lost
    :param locks: locks servers against their projects while they are moved or away
    :param away: puts servers away that cannot be moved
    :param given_up: knows what stopped servers have given up
    :param arrivals: tells when moves are over
    :param attempts: counts attempts
    """

    def __init__(
        self,
        nova: Any,
        throttle: Throttle,
        lost: LostCommands,
        locks: Locks,
        away: PuttingAway,
        given_up: GivenUpRoom,
        arrivals: Arrivals,
        attempts: Attempts,
    ) -> None:
        self._nova = nova
        self._throttle = throttle
        self._lost = lost
        self._locks = locks
        self._away = away
        self._given_up = given_up
        self._arrivals = arrivals
        self._attempts = attempts

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
        self._attempts.forget(mended)
        others = [each for each in servers if each not in mended]
        # One that failed before this operation began may have failed by what its project did.
        self._check(each for each in others if self._attempts.of(each))
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
            return not self._attempts.of(server) or self._arrivals.is_over(server)
        is_here = is_up(here)
        if is_here and server.status == of.ERROR and self._attempts.may_revive(server):
            of.revive(self._nova, server)
            return False
        if is_here and of.settle(self._nova, server):
            return False
        if is_here and server.status in _NOT_MOVED:
            return self._away.put_away([server], PreemptionMode.SHELVE, late)
        if not self._throttle.begin(server.id, of.host(server)):
            return False
        if not self._attempts.may_try_again(server) and (not is_here or server.status not in of.CAN_SHELVE):
            self._give_up(server, "cannot be moved")
        # If that fails, Nova chooses: another server of the lease may be where this one was planned.
        to = planned if self._attempts.of(server) == 1 else None
        if not is_here:
            self._evacuate(server, to)
        elif self._attempts.of(server) > MOST:
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
        except BadRequest:
            # For a moment at the end of an evacuation, Nova shows the server without a task on the host that it left.
            if of.service(self._nova.servers.get(server.id)) == of.service(server):
                raise
        except ClientException as error:
            if not of.is_gone_or_busy(error):
                raise

    def forget(self, servers: Collection[Any]) -> None:
        """Forget operations on servers, so that they do not count for the throttle any more."""
        for server in servers:
            self._throttle.end(server.id)
        self._attempts.forget(servers)
        self._away.forget(servers)

    # -- helpers ---------------------------------------------------------------------------------------------

    def _count(self, server: Any, complaint: str) -> None:
        if not self._attempts.may_try_again(server):
            self._give_up(server, complaint)

    def _give_up(self, server: Any, complaint: str) -> None:
        self.forget([server])
        raise StepFailedError(f"server {server.id} {complaint}", of.host(server))

    def _check(self, servers: Iterable[Any]) -> None:
        for server in servers:
            if server.status == of.ERROR:
                raise StepFailedError(f"server {server.id} failed: {of.fault(server)}", of.host(server))


def _of_number(server: Any, planned: Mapping[int, str]) -> str | None:
    number = of.number(server)
    return None if number is None else planned.get(number)
