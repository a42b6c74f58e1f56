"""Server groups of reservations that state an affinity.

The slots of a reservation are on the right hosts even without a group. The group exists for Blazar's clients, which get
its id when a lease is created, and boot servers with it as a scheduler hint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from novaclient.exceptions import BadRequest, Forbidden, NotFound

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.model.errors import RefusedError

LOG = logging.getLogger(__name__)

_POLICIES = {True: "affinity", False: "anti-affinity"}


class ServerGroups:
    """The server groups of reservations.

    :param nova: novaclient's client with administrator rights
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    """

    def __init__(self, nova: Any, on_behalf_of: Callable[[str | None], Any]) -> None:
        self._nova = nova
        self._on_behalf_of = on_behalf_of

    def make(self, lease: Mapping[str, Any]) -> dict[str, str]:
        """Create groups for the reservations of a lease that state an affinity. Return reservation -> id of its group.

        :param lease: lease document
        :raises RefusedError: Nova creates no more groups
        """
        made: dict[str, str] = {}
        for reservation in lease["reservations"]:
            if reservation.get("affinity") is None:
                continue
            try:
                group = self._on_behalf_of(lease.get("trust_id")).server_groups.create(
                    names.reservation(reservation["id"]), _POLICIES[reservation["affinity"]]
                )
            except (BadRequest, Forbidden) as error:
                self.remove(made.values())
                raise RefusedError(409, f"Nova makes no server group: {error.message}") from error
            made[reservation["id"]] = str(group.id)
        return made

    def remove(self, groups: Iterable[str]) -> None:
        """Delete groups, if they exist. The servers in them stay as they are."""
        for group in groups:
            with suppress(NotFound):
                self._nova.server_groups.delete(group)
