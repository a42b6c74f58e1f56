"""Requests to the REST API, each with the lowest microversion that suffices."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from keystoneauth1 import adapter
from osc_lib import exceptions

from lease_scheduler.model.documents import Document

SERVICE_TYPE = "reservation"

#: Number of times that a patient request is repeated, after 0.5 s at first and twice as long each time: for half a
#: minute.
_RETRIES = 6
_RETRIABLE = [429, 502, 503, 504]


class LeaseClient:
    """A client of the reservation service.

    :param http: adapter for the endpoint of the service, authenticated as the user
    """

    def __init__(self, http: adapter.Adapter) -> None:
        self._http = http

    def request(
        self,
        method: str,
        path: str,
        version: str,
        body: Document | None = None,
        query: Mapping[str, Any] | None = None,
        patient: bool = False,
    ) -> Document:
        """Send a request, and return the JSON object in the answer, or an empty one.

        :param path: path below the endpoint, which ends in ``/v1``
        :param version: microversion
        :param query: parameters; those that are None are left out
        :param patient: repeat the request for half a minute while the service cannot be reached
        :raises osc_lib.exceptions.CommandError: the service refuses the request; its message is put in one line
        """
        answer = self._ask(method, path, version, body, query, "application/json", patient)
        content = _json(answer)
        return content if isinstance(content, dict) else {}

    def one(
        self,
        method: str,
        path: str,
        version: str,
        key: str,
        body: Document | None = None,
        query: Mapping[str, Any] | None = None,
        patient: bool = False,
    ) -> Document:
        """Send a request, and return the object that the answer has under a key."""
        found: Document = self.request(method, path, version, body, query, patient)[key]
        return found

    def text(self, path: str, version: str, media_type: str, query: Mapping[str, Any] | None = None) -> str:
        """Return a document that is not JSON."""
        return str(self._ask("GET", path, version, None, query, media_type).text)

    def _ask(
        self,
        method: str,
        path: str,
        version: str,
        body: Document | None,
        query: Mapping[str, Any] | None,
        media_type: str,
        patient: bool = False,
    ) -> Any:
        given = {key: _query_value(value) for key, value in (query or {}).items() if value is not None}
        keywords: dict[str, Any] = {} if body is None else {"json": body}
        if patient:
            keywords |= {"connect_retries": _RETRIES, "status_code_retries": _RETRIES}
            keywords["retriable_status_codes"] = _RETRIABLE
        answer = self._http.request(
            f"{path}?{urlencode(given)}" if given else path,
            method,
            microversion=version,
            microversion_service_type=SERVICE_TYPE,
            headers={"Accept": media_type},
            raise_exc=False,
            **keywords,
        )
        if answer.status_code >= 400:
            raise exceptions.CommandError(_problem(answer.status_code, _json(answer), answer.text))
        return answer

    def leases(self, version: str, query: Mapping[str, Any], limit: int | None = None) -> list[Document]:
        """Return leases from as many pages as necessary.

        :param limit: maximum number of leases; None means all
        """
        found: list[Document] = []
        asked = dict(query)
        while True:
            asked["limit"] = None if limit is None else limit - len(found)
            page = self.request("GET", "/leases", version, query=asked)
            found += page["leases"]
            if not page["leases"] or "leases_links" not in page or (limit is not None and len(found) >= limit):
                return found
            asked["marker"] = found[-1]["id"]

    def find_lease(self, name_or_id: str) -> str:
        """Return the id of the lease with this name or id.

        :raises osc_lib.exceptions.CommandError: no lease has the name, or several have
        """
        return _find_id("lease", name_or_id, lambda: self.leases("1.1", {"name": name_or_id}))

    def host_names(self, lease_id: str) -> list[str]:
        """Return the names of the hosts that a lease has or will have."""
        found = self.request("GET", f"/leases/{lease_id}/hosts", "1.7")["hosts"]
        return sorted({host["hypervisor_hostname"] for host in found})

    def find_series(self, name_or_id: str) -> str:
        """Return the id of the series with this name or id.

        :raises osc_lib.exceptions.CommandError: no series has the name, or several have
        """
        return _find_id("series", name_or_id, lambda: list(self.request("GET", "/series", "1.9")["series"]))

    def find_host(self, name_or_id: str) -> str:
        """Return the id of the host of the pool with this name or id.

        :raises osc_lib.exceptions.CommandError: there is no such host
        """
        for host in self.request("GET", "/os-hosts", "1.0")["hosts"]:
            if name_or_id in (host["id"], host["hypervisor_hostname"]):
                return str(host["id"])
        raise exceptions.CommandError(f"No host of the pool found with a name or ID of '{name_or_id}'.")

    def act(self, lease: str, action: str, terms: Document, version: str = "1.7") -> Document:
        """Perform an action on a lease, and return the lease as it is afterwards.

        :param lease: name or id
        :param action: extend, shrink, move, end, cancel, accept, reject or counter
        :param terms: arguments of the action
        """
        path = f"/leases/{quote(self.find_lease(lease), safe='')}/action"
        return self.one("POST", path, version, "lease", {action: terms})


def _find_id(what: str, name_or_id: str, candidates: Callable[[], list[Document]]) -> str:
    try:
        return str(uuid.UUID(name_or_id))
    except ValueError:
        ids = [candidate["id"] for candidate in candidates() if candidate["name"] == name_or_id]
    if not ids:
        raise exceptions.CommandError(f"No {what} found with a name or ID of '{name_or_id}'.")
    if len(ids) > 1:
        raise exceptions.CommandError(f"{len(ids)} {what}s are called '{name_or_id}'; name one of them by its ID.")
    return str(ids[0])


def _query_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _problem(status: int, content: Any, text: str) -> str:
    """Return the message for an error: what the service says, and the alternatives that it names."""
    if not isinstance(content, dict) or "error_message" not in content:
        return " ".join(f"HTTP {status}: {text[:200]}".split())
    message = str(content["error_message"])
    alternatives = [
        ", ".join(f"{key} {value}" for key, value in alternative.items() if value is not None)
        for alternative in content.get("alternatives", [])
    ]
    if alternatives:
        message = f"{message.rstrip('.')}. Possible: {'; '.join(alternatives)}"
    return " ".join(f"{message} (HTTP {status})".split())
