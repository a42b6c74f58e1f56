"""Haizea's XML-RPC methods, each answered by the REST service (haizea F23)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.haizea.frontend.documents import Translation, body_of, host_of, written_lease
from lease_scheduler.haizea.frontend.lease_xml import read_request, write_lease
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.states import FINAL_STATES, LeaseState

LOG = logging.getLogger(__name__)

#: Haizea's only event: a VM of a lease has ended, which ends the lease.
EVENT_END_VM = 0

#: The microversion whose leases have numbers and show their extras.
_VERSION = "1.16"

#: Result of methods that have nothing to return.
_DONE = 0

_QUEUED = ("queued", "suspended-queued")
_LARGEST = 2_147_483_647


class Methods:
    """The methods that clients may call; their names and those of their parameters are part of the interface.

    The id of a lease is its number in the service, which is its place in the order of all requests. The service keeps
    it, so ids survive a restart of the front and are the same at every front.

    :param client: client of the REST service
    :param now: returns the present instant
    :param all_projects: whether to show the leases of all projects, which only administrators may see
    """

    def __init__(
        self, client: LeaseClient, now: Callable[[], int], translation: Translation, all_projects: bool = False
    ) -> None:
        self._client = client
        self._now = now
        self._translation = translation
        self._query: Document = {"all_projects": True} if all_projects else {}

    def by_name(self) -> dict[str, Callable[..., Any]]:
        """Return the methods by name."""
        return {
            "create_lease": self.create_lease,
            "cancel_lease": self.cancel_lease,
            "get_leases": self.get_leases,
            "get_lease": self.get_lease,
            "get_queue": self.get_queue,
            "get_hosts": self.get_hosts,
            "notify_event": self.notify_event,
            "test_func": self.test_func,
        }

    def create_lease(self, lease_xml: Any) -> int:
        """Request a lease, and return its id.

        :param lease_xml: the request in Haizea's XML, as text or in base64
        :raises InvalidValueError: the text is not a lease, or the service does not support it
        :raises osc_lib.exceptions.CommandError: the service refuses the request
        """
        if not isinstance(lease_xml, str | bytes):
            raise InvalidValueError("lease_xml", f"must be a text, not {type(lease_xml).__name__}")
        request, says_mode = read_request(lease_xml, self._now())
        body = body_of(request, says_mode, self._translation)
        made = self._client.one("POST", "/leases", _VERSION, "lease", body)
        LOG.info("lease %d is %s", made["number"], made["id"])
        return int(made["number"])

    def cancel_lease(self, lease_id: Any) -> int:
        """Cancel a lease.

        :raises InvalidValueError: there is no such lease, or it has ended
        """
        lease = self._find(lease_id)
        if LeaseState(lease["state"]) in FINAL_STATES:
            raise InvalidValueError("lease_id", f"lease {lease_id} is over: it is {lease['state']}")
        self._client.request("DELETE", f"/leases/{lease['id']}", _VERSION)
        return _DONE

    def get_leases(self) -> list[str]:
        """Return the live leases in XML, in the order of their submission."""
        return self._all_xml(self.live_leases())

    def get_lease(self, lease_id: Any) -> str:
        """Return a lease in XML, even if it has ended.

        :raises InvalidValueError: there is no lease with this id
        """
        return self._xml(self._find(lease_id, deleted=True))

    def get_queue(self) -> list[str]:
        """Return the leases in the queue in XML, in the order of the queue."""
        queue = [lease for state in _QUEUED for lease in self._client.leases(_VERSION, self._query | {"state": state})]
        return self._all_xml(sorted(queue, key=lambda lease: int(lease["number"])))

    def get_hosts(self) -> list[Document]:
        """Return the hosts of the pool, each with ``id``, ``hostname``, ``cpu`` and ``mem``."""
        hosts = self._client.request("GET", "/os-hosts", _VERSION)["hosts"]
        return [host_of(host, self._translation) for host in hosts]

    def notify_event(self, lease_id: Any, enactment_id: Any, event: Any) -> int:
        """Handle an event: the end of a VM ends its whole lease early.

        :param enactment_id: id of the VM, which is ignored because the lease ends as a whole
        :raises InvalidValueError: there is no such lease or event
        """
        del enactment_id
        if isinstance(event, bool) or event != EVENT_END_VM:
            raise InvalidValueError("event", f"must be {EVENT_END_VM} (a VM has ended), not {event!r}")
        path = f"/leases/{self._find(lease_id)['id']}/action"
        self._client.request("POST", path, _VERSION, {"end": {}})
        return _DONE

    def test_func(self) -> int:
        """Do nothing, so that clients can check that the front answers."""
        LOG.info("test_func was called")
        return _DONE

    def live_leases(self) -> list[Document]:
        """Return the live leases as the REST service shows them."""
        return self._client.leases(_VERSION, self._query | {"live": True})

    def _find(self, lease_id: Any, deleted: bool = False) -> Document:
        if isinstance(lease_id, bool) or not isinstance(lease_id, int) or not 1 <= lease_id <= _LARGEST:
            raise InvalidValueError("lease_id", f"must be the number of a lease, not {lease_id!r:.40}")
        query = self._query | {"number": lease_id} | ({"deleted": True} if deleted else {})
        found = self._client.leases(_VERSION, query)
        if not found:
            raise InvalidValueError("lease_id", f"there is no lease {lease_id}")
        return found[0]

    def _all_xml(self, leases: Iterable[Document]) -> list[str]:
        """Return leases in XML, without those that Haizea's XML cannot express.

        Such a lease, which was requested over REST, must not make the whole list fail.
        """
        found = []
        for lease in leases:
            try:
                found.append(self._xml(lease))
            except InvalidValueError as error:
                LOG.warning("lease %s is left out of a list: %s", lease["number"], error)
        return found

    def _xml(self, lease: Document) -> str:
        return write_lease(written_lease(lease, self._translation))
