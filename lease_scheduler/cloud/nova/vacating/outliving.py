"""Servers that outlive their lease. They get an ordinary flavor, and with it a host outside of the lease.

The flavor of a lease is removed at its end, and Nova could not place a server with it again. So each server is resized
to the smallest public flavor that is large enough, and nova-scheduler finds a host for it as for any other server.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from threading import Lock
from typing import Any

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.shelving import Shelving

LOG = logging.getLogger(__name__)

#: Maximum number of attempts to resize a server.
_ATTEMPTS = 3

#: Seconds after the end of a lease at which servers that are still busy with other things are given up.
_PATIENCE = 60

#: Tasks of a resize and of shelving, which take long if the data is large.
_OURS = frozenset(
    {"resize_prep", "resize_migrating", "resize_migrated", "resize_finish", "shelving", "shelving_image_pending_upload"}
    | {"shelving_image_uploading", "shelving_offloading"}
)

_CAN_RESIZE = frozenset({of.ACTIVE, of.STOPPED})


class OutlivingServers:
    """Detachment of servers from their lease.

    :param nova: novaclient's client with administrator rights
    :param lost: detects commands that Nova has lost
    :param locks: locks servers against their projects until they are detached
    """

    def __init__(self, nova: Any, throttle: Throttle, lost: LostCommands, locks: Locks) -> None:
        self._nova = nova
        self._throttle = throttle
        self._lost = lost
        self._locks = locks
        self._shelving = Shelving(nova)
        self._lock = Lock()
        self._attempts: Counter[str] = Counter()

    def keep(
        self, servers: Iterable[Any], own: Collection[str], waited: int, trust_id: str | None = None, *, shelved: bool
    ) -> bool:
        """Detach servers from their lease. Return whether all servers that can be detached are detached.

        These servers stay as they are:

        * those for which no flavor is large enough or no host has enough capacity;
        * those that Nova does not resize in their present state, or that are busy with other things for too long;
        * those that a user booted with an ordinary flavor and a hint of the lease, because Nova never forgets the hint.

        :param servers: servers with the tag of their lease
        :param own: compute services that the lease has for itself
        :param waited: seconds since the end of the lease began
        :param trust_id: trust of the project, by which its own locks are restored
        :param shelved: whether to shelve the servers instead of letting them run
        """
        flavors: list[Any] = []
        are_through = []
        for server in servers:
            is_through = self._is_through(server, own, flavors, waited, trust_id, shelved=shelved)
            are_through.append(is_through)
        return all(are_through)

    def _is_through(
        self, server: Any, own: Collection[str], flavors: list[Any], waited: int, trust_id: str | None, *, shelved: bool
    ) -> bool:
        is_leased = of.made_for(server) is not None
        if of.is_busy(server):
            self._throttle.go_on(server.id)
            if of.task(server) not in _OURS:
                # Its project may keep it busy.
                if waited > _PATIENCE:
                    LOG.warning("server %s cannot be kept: it is busy (%s)", server.id, of.task(server))
                    return True
                if is_leased:
                    self._locks.lock(server)
            self._lost.repair(server)
            return False
        self._throttle.end(server.id)
        if server.status == of.VERIFY_RESIZE:
            of.settle(self._nova, server)
            return False
        if is_leased:
            return not self._resize(server, flavors)
        if of.service(server) in own:
            return True
        self._locks.unlock(server, trust_id)
        if shelved and server.status in of.CAN_SHELVE and not self._throttle.begin(server.id, of.host(server)):
            return False
        with self._lock:
            self._attempts.pop(server.id, None)
        for tag in of.tags(server):
            if names.lease_of_tag(tag) is not None or of.is_number_tag(tag):
                of.delete_tag(server, tag)
        if shelved and server.status in of.CAN_SHELVE:
            # This comes last, because Nova does not change the tags of a shelved server.
            self._shelving.shelve(server)
            self._throttle.end(server.id)
        return True

    def _resize(self, server: Any, flavors: list[Any]) -> bool:
        """Tell Nova to resize a server. Return False if it cannot be resized."""
        if server.status not in _CAN_RESIZE:
            return False
        if not flavors:
            flavors += all_flavors(self._nova, is_public=True)
        flavor = _smallest(server, flavors)
        if flavor is None:
            LOG.warning("server %s cannot be kept: no public flavor is large enough", server.id)
            return False
        with self._lock:
            attempts = self._attempts[server.id]
        if attempts >= _ATTEMPTS:
            LOG.warning("server %s cannot be kept: Nova finds no host for it: %s", server.id, of.fault(server))
            return False
        if self._throttle.begin(server.id, of.host(server)):
            with self._lock:
                self._attempts[server.id] += 1
            of.command(self._nova.servers.resize, server, flavor)
        return True


def _smallest(server: Any, flavors: Sequence[Any]) -> Any:
    """Return the smallest public flavor without devices that gives a server at least what it has, or None."""
    size = (server.flavor["vcpus"], server.flavor["ram"], server.flavor["disk"])
    found = [
        each
        for each in flavors
        if all(has >= needed for has, needed in zip((each.vcpus, each.ram, each.disk), size, strict=True))
        and not of.flavor_gives_way(each)
        and not of.flavor_has_devices(each)
        # Nova also lists private flavors of our own project.
        and getattr(each, "os-flavor-access:is_public")
    ]
    return min(found, key=lambda each: (each.vcpus, each.ram, each.disk, each.id), default=None)
