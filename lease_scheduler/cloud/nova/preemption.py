"""Servers that make room: put away, brought back, or moved on; each call looks and does what comes next."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.guests import Guests
from lease_scheduler.cloud.nova.lost import LostCommands
from lease_scheduler.cloud.nova.throttle import Throttle
from lease_scheduler.model.lease import PreemptionMode

LOG = logging.getLogger(__name__)

#: States in which a server has nothing of its host but its place on the disk.
_ASIDE = frozenset({of.STOPPED, of.SUSPENDED})

#: How often a server that comes back as it was is unshelved or moved before that counts as failed.
_ATTEMPTS = 3


class Escalation(Enum):
    """What may be done to servers that are not out of the way in time, beyond shelving them."""

    NONE = "none"
    STOP = "stop"
    DELETE = "delete"


@dataclass(frozen=True)
class PreemptionOptions:
    """What an operator allows.

    :ivar escalation: the last thing that may be done
    :ivar escalate_after: seconds after the planned end of an operation when the next thing is done
    """

    escalation: Escalation = Escalation.STOP
    escalate_after: int = 60


class Preemption:
    """Puts servers away and brings them back.

    :param nova: novaclient's client, of an administrator
    :param listed: gives all servers that satisfy a query of Nova's
    :param guests: makes those of no lease come back
    :param lost: tells Nova again what it has lost
    """

    def __init__(
        self,
        nova: Any,
        listed: Callable[..., list[Any]],
        guests: Guests,
        throttle: Throttle,
        lost: LostCommands,
        options: PreemptionOptions,
    ) -> None:
        self._nova = nova
        self._listed = listed
        self._guests = guests
        self._throttle = throttle
        self._lost = lost
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()

    # -- out of the way --------------------------------------------------------------------------------------

    def put_away(self, servers: Iterable[Any], mode: PreemptionMode, late: int) -> bool:
        """Have servers out of the way; whether all of them are.

        :param mode: how; whatever does not keep the state of a lease is shelved, too
        :param late: seconds since the operation should have been over, negative if it still has time
        :raises StepFailedError: one of them cannot be, or not in time
        """
        # Every one is looked at, whatever the others are up to.
        are_away = [self._is_away(server, mode, late) for server in servers]
        return all(are_away)

    def _is_away(self, server: Any, mode: PreemptionMode, late: int) -> bool:
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            self._give_up_if_too_late(server, late)
            self._lost.repair(server)
            return False
        self._throttle.end(server.id)
        mode = self._mode_of(server, mode, late)
        if server.status == of.OFFLOADED or (mode is not PreemptionMode.SHELVE and server.status in _ASIDE):
            return True
        if server.status not in of.CAN_SHELVE and server.status != of.SHELVED:
            raise StepFailedError(f"server {server.id} is {server.status} and cannot be put away", of.host(server))
        self._give_up_if_too_late(server, late)
        if self._throttle.begin(server.id, of.host(server)):
            of.command(self._command(server, mode), server)
        return False

    def _command(self, server: Any, mode: PreemptionMode) -> Callable[[Any], Any]:
        servers = self._nova.servers
        shelve: Callable[[Any], Any] = servers.shelve
        commands: dict[PreemptionMode, Callable[[Any], Any]] = {
            PreemptionMode.STOP: servers.stop,
            PreemptionMode.SUSPEND: servers.suspend,
        }
        if server.status == of.SHELVED:
            shelve = servers.shelve_offload
        return commands.get(mode, shelve) if server.status == of.ACTIVE else shelve

    def _mode_of(self, server: Any, mode: PreemptionMode, late: int) -> PreemptionMode:
        """What is done to a server: stop, suspend or shelve.

        One that stays on its host makes room only if nothing is counted for it there.
        """
        options = self._options
        if not of.claims_nothing(server):
            return PreemptionMode.SHELVE
        if options.escalation is not Escalation.NONE and late > options.escalate_after:
            # Too late to copy anything; what is switched off needs nothing, and keeps its disk.
            return PreemptionMode.STOP
        return mode if mode in (PreemptionMode.STOP, PreemptionMode.SUSPEND) else PreemptionMode.SHELVE

    def _give_up_if_too_late(self, server: Any, late: int) -> None:
        options = self._options
        if options.escalation is Escalation.DELETE and late > 2 * options.escalate_after:
            raise StepFailedError(f"server {server.id} made no room in time", of.host(server))

    def vacate(self, host: str, service: str, lease_id: str, late: int) -> bool:
        """Have a host free of servers that are not the lease's; whether it is.

        :param host: name of the compute host, for messages
        :param late: as in ``put_away``
        :raises StepFailedError: one of them does not give way
        """
        tag = names.tag(lease_id)
        others = [
            each for each in self._listed(host=service) if tag not in of.tags(each) and each.status != of.OFFLOADED
        ]
        free = [each for each in others if not of.leases(each)]
        firm = [each for each in free if not of.gives_way(each)]
        if firm:
            raise StepFailedError(f"server {firm[0].id} is on it and does not give way", host)
        # Those of another lease are on their way already: its operation comes first in the plan, and is late.
        leased = [each for each in others if of.leases(each) and (of.is_busy(each) or each.status not in _ASIDE)]
        self._guests.mark(free)
        try:
            is_free = self.put_away(free, PreemptionMode.SHELVE, late)
        except StepFailedError:
            if self._options.escalation is not Escalation.DELETE:
                raise
            for each in free:
                LOG.warning("server %s is deleted: it made no room for lease %s in time", each.id, lease_id)
                of.command(self._nova.servers.delete, each)
            return False
        return is_free and not leased

    # -- back ------------------------------------------------------------------------------------------------

    def bring_back(self, servers: Sequence[Any], planned: Mapping[int, str]) -> bool:
        """Have servers run again; whether all of them do.

        :param planned: number of the VM -> compute host for it; Nova chooses for those that are not in it
        :raises StepFailedError: one of them finds no host
        """
        self._check(servers)
        are_back = [self._is_back(server, _of_number(server, planned)) for server in servers]
        is_over = all(are_back)
        if is_over:
            self.forget(servers)
        return is_over

    def _is_back(self, server: Any, planned: str | None) -> bool:
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            if self._lost.repair(server) and server.status != of.ACTIVE:
                # It counts as running now, which it does not.
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
        if server.status == of.OFFLOADED and planned is not None:
            of.command(self._unshelve_to(planned), server)
        else:
            of.command(commands.get(server.status, self._nova.servers.start), server)
        return False

    def _unshelve_to(self, host: str) -> Callable[[Any], Any]:
        return lambda server: self._nova.servers.unshelve(server, host=host)

    # -- elsewhere -------------------------------------------------------------------------------------------

    def follow(self, servers: Sequence[Any], services: Collection[str], is_up: Callable[[str], bool]) -> bool:
        """Have servers on these compute services, running on as far as that is possible; whether all of them are.

        :param is_up: whether a compute service is there; servers of one that is not are built anew from their images
        :raises StepFailedError: one of them cannot be moved
        """
        self._check(servers)
        are_there = [self._is_there(server, services, is_up) for server in servers]
        is_over = all(are_there)
        if is_over:
            self.forget(servers)
        return is_over

    def _is_there(self, server: Any, services: Collection[str], is_up: Callable[[str], bool]) -> bool:
        here = of.service(server)
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            self._lost.repair(server)
            return False
        self._throttle.end(server.id)
        if server.status == of.VERIFY_RESIZE:
            of.command(self._nova.servers.confirm_resize, server)
            return False
        if here is None or here in services or server.status == of.OFFLOADED:
            return True
        if not self._throttle.begin(server.id, of.host(server)):
            return False
        self._count(server, "cannot be moved")
        if not is_up(here):
            of.command(self._nova.servers.evacuate, server)
        elif server.status == of.ACTIVE:
            of.command(self._nova.servers.live_migrate, server, None, "auto")
        else:
            of.command(self._nova.servers.migrate, server)
        return False

    def forget(self, servers: Iterable[Any]) -> None:
        """Whatever is being done with servers keeps nobody else waiting any more."""
        for server in servers:
            self._throttle.end(server.id)
            with self._lock:
                self._attempts.pop(server.id, None)

    # -- helpers ---------------------------------------------------------------------------------------------

    def _count(self, server: Any, complaint: str) -> None:
        with self._lock:
            self._attempts[server.id] += 1
            attempts = self._attempts[server.id]
        if attempts > _ATTEMPTS:
            self.forget([server])
            raise StepFailedError(f"server {server.id} {complaint}", of.host(server))

    def _check(self, servers: Iterable[Any]) -> None:
        for server in servers:
            if server.status == of.ERROR:
                raise StepFailedError(f"server {server.id} failed: {of.fault(server)}", of.host(server))


def _of_number(server: Any, planned: Mapping[int, str]) -> str | None:
    number = of.number(server)
    return None if number is None else planned.get(number)
