"""The server groups of leases whose servers must share a host, or must not."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.service.core.transactions import SiteTransactions

LOG = logging.getLogger(__name__)


class ServerGroups:
    """Creation of server groups. When a lease ends, its groups are removed with everything else that it has.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    def given(self, lease: Document) -> tuple[Document, list[str]]:
        """Make the groups of a new lease.

        :return: the lease document with the ids of the groups, which the project sees at once; and these ids
        :raises EngineUnavailableError: the cloud does not answer
        """
        if not are_wanted(lease):
            return lease, []
        made = self._make(lease)
        reservations = [
            {**each, "server_group_id": made[each["id"]]} if each["id"] in made else each
            for each in lease["reservations"]
        ]
        return {**lease, "reservations": reservations}, list(made.values())

    def missing(self, lease: Document) -> dict[str, str]:
        """Make the groups that reservations of an existing lease should have but lack.

        :return: reservation -> id of its new group
        :raises EngineUnavailableError: the cloud does not answer
        """
        without = [each for each in lease["reservations"] if each.get("server_group_id") is None]
        wanted = {**lease, "reservations": without}
        return self._make(wanted) if are_wanted(wanted) else {}

    def _make(self, lease: Document) -> dict[str, str]:
        try:
            return dict(self._site.driver.server_groups.make(lease))
        except RefusedError:
            raise
        except Exception as error:
            LOG.exception("server groups for lease %s could not be made", lease["id"])
            raise EngineUnavailableError("the cloud makes no server groups at present; try again later") from error

    def remove(self, groups: Iterable[str]) -> None:
        """Remove the groups of a lease that was refused. Errors are only logged."""
        try:
            self._site.driver.server_groups.remove(groups)
        except Exception:
            LOG.exception("the server groups of a lease that was refused could not be removed")


def are_wanted(lease: Document) -> bool:
    """Return whether a lease asks for server groups."""
    return any(each.get("affinity") is not None for each in lease["reservations"])
