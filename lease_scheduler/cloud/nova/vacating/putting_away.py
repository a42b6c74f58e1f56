"""Putting servers away: they are shelved, suspended or stopped. Those that Nova does not shelve release their claims.

Each call checks the present state, and does the next step. A server is locked first, so that its project can neither
delay it nor bring it back. Nothing that a project can do to its server makes it stay: it is brought out of states in
which Nova does not take the command, and if Nova refuses to shelve it, it is stopped and releases what it has in
Placement. If its disk is still being copied when it should be away, it releases that, too.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection
from threading import Lock
from typing import Any

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.options import PATIENCE, Escalation, RoomOptions
from lease_scheduler.cloud.nova.vacating.shelving import Shelving
from lease_scheduler.model.kinds import PreemptionMode

LOG = logging.getLogger(__name__)

#: Number of commands that are refused or have no effect, after which a server is stopped instead.
_ATTEMPTS = 3

_STAYING = frozenset({PreemptionMode.STOP, PreemptionMode.SUSPEND})


class PuttingAway:
    """The putting away of servers.

    :param nova: novaclient's client with administrator rights
    :param lost: detects commands that Nova has lost
    :param release: removes the allocations of a consumer from Placement
    :param given_up: releases the claims of stopped servers
    """

    def __init__(
        self,
        nova: Any,
        throttle: Throttle,
        lost: LostCommands,
        locks: Locks,
        release: Callable[[str], None],
        given_up: GivenUpRoom,
        options: RoomOptions,
    ) -> None:
        self._nova = nova
        self._throttle = throttle
        self._lost = lost
        self._locks = locks
        self._shelving = Shelving(nova)
        self._release = release
        self._given_up = given_up
        self._options = options
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()

    def put_away(self, servers: Collection[Any], mode: PreemptionMode, late: int, *, must_leave: bool = False) -> bool:
        """Put servers away. Return whether all of them are.

        :param mode: how; servers are shelved if the mode is neither stop nor suspend
        :param late: seconds since the planned end of the operation, negative before it
        :param must_leave: whether they have to leave their hosts, so that stopping them does not suffice
        :raises StepFailedError: a server cannot be put away, or not in time; the others are handled nevertheless
        """
        is_over, failure = True, None
        for server in servers:
            try:
                is_over &= self._is_away(server, mode, late, must_leave=must_leave)
            except StepFailedError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return is_over

    def _is_away(self, server: Any, mode: PreemptionMode, late: int, *, must_leave: bool) -> bool:
        if not of.is_busy(server) and self._has_no_host(server):
            self._throttle.end(server.id)
            self._forget(server.id)
            # Its project may delete it, or unshelve it by way of nova-scheduler.
            self._locks.unlock(server)
            return True
        self._locks.lock(server)
        goes = self._is_gone_while_busy if of.is_busy(server) else self._goes
        is_away = goes(server, mode, late, must_leave=must_leave)
        if not is_away:
            # Only after the commands of this call, because an order may be late from its beginning.
            self._give_up_if_too_late(server, late)
        return is_away

    def _is_gone_while_busy(self, server: Any, mode: PreemptionMode, late: int, *, must_leave: bool) -> bool:
        self._throttle.go_on(server.id)
        if server.status == of.OFFLOADED and self._lost.is_stranded(server):
            # It did not come back, and all its data is in the image store. Nova may have claimed capacity for it.
            self._throttle.end(server.id)
            self._release(server.id)
            return True
        if self._may_leave_its_disk(server, late, must_leave=must_leave):
            if not self._given_up.is_given_up(server):
                self._given_up.give_up(server)
            return True
        if not of.makes_image(server):
            self._lost.repair(server)
            return False
        mode = self._mode_of(server, mode, late, must_leave=must_leave)
        if mode in _STAYING and server.status in of.ASIDE and of.claims_nothing(server):
            # An image of a stopped server needs nothing but its disk.
            return True
        if late > 0:
            # In spite of the lock, a project can make images, one after the other.
            LOG.warning("server %s is %s, which is aborted: a lease needs its host", server.id, of.task(server))
            of.command(lambda each: self._nova.servers.reset_state(each, "active"), server)
            self._throttle.end(server.id)
            self._command(server, mode, late)
        return False

    def _may_leave_its_disk(self, server: Any, late: int, *, must_leave: bool) -> bool:
        """Return whether a server that is being shelved counts as away although its disk is still copied.

        It is switched off, and it is time. Servers of leases claim nothing that others could use meanwhile, and those
        with devices keep these until they have left.
        """
        is_due = late > 0 and self._options.escalation is not Escalation.NONE and not must_leave
        return is_due and of.is_copied_away(server) and not (of.claims_nothing(server) or of.claims_devices(server))

    def _goes(self, server: Any, mode: PreemptionMode, late: int, *, must_leave: bool) -> bool:
        self._throttle.end(server.id)
        if self._given_up.is_given_up(server):
            return True
        mode = self._mode_of(server, mode, late, must_leave=must_leave)
        if mode in _STAYING and server.status in of.ASIDE:
            if not of.claims_nothing(server):
                self._given_up.give_up(server)
            return True
        if server.status == of.ERROR and self._is_first_attempt(server):
            of.revive(self._nova, server)
            return False
        # A server whose state is reset takes other commands at once.
        if not of.settle(self._nova, server) or server.status == of.ERROR:
            self._command(server, mode, late)
        return False

    @staticmethod
    def _has_no_host(server: Any) -> bool:
        """Return whether a server needs no host: it is shelved, or found none when it was booted."""
        return server.status == of.OFFLOADED or (server.status == of.ERROR and of.service(server) is None)

    def _command(self, server: Any, mode: PreemptionMode, late: int) -> None:
        # A late stop is not throttled: it takes little time, and is the last resort.
        is_urgent = mode is PreemptionMode.STOP and late > 0
        if not is_urgent and not self._throttle.begin(server.id, of.host(server)):
            return
        servers, runs = self._nova.servers, server.status in (of.ACTIVE, of.ERROR)
        with self._lock:
            # Earlier commands had no effect: otherwise the server would be busy, or away.
            self._attempts[server.id] += 1
        if mode in _STAYING and server.status == of.PAUSED:
            # Nova stops and suspends only servers that run.
            of.command(servers.unpause, server)
        elif mode in _STAYING and runs:
            of.command(servers.suspend if mode is PreemptionMode.SUSPEND else servers.stop, server)
        else:
            self._shelving.shelve(server)

    def _mode_of(self, server: Any, mode: PreemptionMode, late: int, *, must_leave: bool) -> PreemptionMode:
        """Return how to put a server away: stop, suspend or shelve.

        A server that stays on its host gives way only if Placement counts nothing for it there.
        """
        options = self._options
        with self._lock:
            attempts = self._attempts[server.id]
        stops = options.escalation is not Escalation.NONE
        if must_leave or of.claims_devices(server):
            return PreemptionMode.SHELVE
        if not of.claims_nothing(server):
            # Nova does not shelve servers with a virtual TPM, for example, for which images of projects may ask.
            return PreemptionMode.STOP if stops and attempts >= _ATTEMPTS else PreemptionMode.SHELVE
        if stops and (attempts >= _ATTEMPTS or late > options.escalate_after):
            # It is too late to copy data. A stopped server needs no copy, and keeps its disk.
            return PreemptionMode.STOP
        return mode if mode in _STAYING else PreemptionMode.SHELVE

    def _is_first_attempt(self, server: Any) -> bool:
        """Return whether nothing has been tried with a server yet. If so, count an attempt."""
        with self._lock:
            is_first = not self._attempts[server.id]
            self._attempts[server.id] += is_first
            return is_first

    def _forget(self, server_id: str) -> None:
        with self._lock:
            self._attempts.pop(server_id, None)

    def forget(self, servers: Collection[Any]) -> None:
        """Forget attempts to put servers away."""
        for server in servers:
            self._forget(server.id)

    def _give_up_if_too_late(self, server: Any, late: int) -> None:
        options = self._options
        gives_up = options.escalation is Escalation.DELETE and late > 2 * options.escalate_after
        if gives_up or late > PATIENCE * options.escalate_after:
            raise StepFailedError(f"server {server.id} made no room in time", of.host(server), gives_up=gives_up)
