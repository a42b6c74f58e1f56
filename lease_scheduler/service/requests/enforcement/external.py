"""``ExternalServiceFilter``: asks another service (Blazar's filter of this name, with its payloads)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import exceptions

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, InvalidValueError, RefusedError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.requests.enforcement.base import ChangeProposal, FilterOptions, Proposal
from lease_scheduler.service.requests.enforcement.views import lease_body

LOG = logging.getLogger(__name__)

_ALLOWED = 204
_REFUSED = 403
#: Status codes of a service that is up, but asks to be called later.
_BUSY = frozenset({408, 425, 429})
#: Maximum number of characters of a refusal that are passed on.
_LONGEST = 1_000

#: Options that name a URL, with the path added to ``external_service_endpoint`` when one is not given.
_PATHS = {
    "external_service_check_create": "check-create",
    "external_service_check_update": "check-update",
    "external_service_on_end": "on-end",
}


class OutageError(EngineUnavailableError):
    """The external service does not answer, or says that it cannot at present."""


class ExternalServiceFilter:
    """Filter that asks another service over HTTP. doc/source/admin/limits.rst describes payloads and answers.

    :raises InvalidValueError: no URL is configured, or one is invalid
    """

    follows = True

    def __init__(self, options: FilterOptions) -> None:
        values = options.values
        self._urls = {name: _url(name, values) for name in _PATHS}
        if not any(self._urls.values()):
            raise InvalidValueError(
                "enforcement.external_service_endpoint", "is needed with ExternalServiceFilter, e.g. https://host/path"
            )
        self._token: str = values["external_service_token"]
        self._timeout: float = values["external_service_timeout"]
        self._lets_through: bool = values["external_service_unreachable"] == "allow"
        self._context = {name: values[f"external_service_{name}"] for name in ("auth_url", "region_name")}
        self._session = options.session()

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Ask the service whether a lease may be made."""
        lease = proposal.lease
        body = {"context": self._context_of(lease), "lease": lease_body(lease, proposal.allocations)}
        self._ask("external_service_check_create", body)

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Ask the service whether a lease may be changed."""
        current = change.current
        body = {
            "context": self._context_of(current.lease),
            "current_lease": lease_body(current.lease, current.allocations),
            "lease": lease_body(change.changes, current.allocations),
        }
        self._ask("external_service_check_update", body)

    def on_end(self, lease: Document) -> None:
        """Tell the service that a lease has ended.

        :raises OutageError: the service cannot be reached
        :raises RefusedError: it did not confirm
        """
        body = {"context": self._context_of(lease), "lease": dict(lease)}
        answer = self._post("external_service_on_end", body)
        if answer is not None and not 200 <= answer.status_code < 300:
            raise RefusedError(409, f"the external service answers on-end with {answer.status_code}")

    def _context_of(self, lease: Document) -> dict[str, Any]:
        return {"user_id": lease["user_id"], "project_id": lease["project_id"], **self._context}

    def _ask(self, option: str, body: Document) -> None:
        try:
            answer = self._post(option, body)
        except OutageError as error:
            if not self._lets_through:
                raise
            LOG.warning("%s; the request is allowed, as configured", error)
            return
        if answer is None or answer.status_code == _ALLOWED:
            return
        if answer.status_code == _REFUSED:
            raise RefusedError(403, _message(answer), reason=RefusalReason.EXTERNAL)
        LOG.error("%s answers with %d; only 204 and 403 mean something", self._urls[option], answer.status_code)
        message = f"The external service that decides on leases answered with {answer.status_code}"
        raise RefusedError(403, message, reason=RefusalReason.EXTERNAL)

    def _post(self, option: str, body: Document) -> Any:
        """Return the answer, or None if no URL is configured for this call.

        :raises OutageError: there is no answer
        """
        url = self._urls[option]
        if not url:
            return None
        try:
            answer = self._session.request(
                url,
                "POST",
                json=body,
                headers={"X-Auth-Token": self._token} if self._token else {},
                authenticated=False if self._token else None,
                raise_exc=False,
                redirect=False,
                timeout=self._timeout,
                # The session would log the whole lease at every request.
                log=False,
            )
        except exceptions.ClientException as error:
            LOG.warning("%s: %s", url, error)
            raise OutageError("The external service that decides on leases does not answer; try again") from error
        if answer.status_code >= 500 or answer.status_code in _BUSY:
            raise OutageError(f"The external service that decides on leases answers with {answer.status_code}")
        return answer


def _url(option: str, values: Mapping[str, Any]) -> str:
    base: str = values["external_service_endpoint"]
    url: str = values[option] or (f"{base.rstrip('/')}/{_PATHS[option]}" if base else "")
    if url and not url.startswith(("http://", "https://")):
        named = option if values[option] else "external_service_endpoint"
        raise InvalidValueError(f"enforcement.{named}", f"must begin with http:// or https://, not {url!r}")
    return url


def _message(answer: Any) -> str:
    """Return the reason for a refusal, as the service gives it."""
    message: Any = None
    try:
        body = answer.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        message = body.get("message")
    if not isinstance(message, str) or not message.strip():
        LOG.error("a refusal of the external service has no message: %.200r", answer.text)
        return "The external service that decides on leases refuses this one without giving a reason"
    return message[:_LONGEST]
