"""Keystone trusts, with which the service later boots and unshelves the servers of projects."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any

from keystoneauth1 import exceptions
from keystoneauth1.adapter import Adapter

from lease_scheduler.api.doubtful_trusts import DoubtfulTrusts
from lease_scheduler.api.errors import ApiError

LOG = logging.getLogger(__name__)

_NO_ANSWER = "The identity service does not create the trust that booting servers needs; try again"


class KeystoneTrusts:
    """Trusts in Keystone (see ``api.interfaces.Trusts``).

    A trust does not expire, since its lease may be extended; it is deleted with its lease. Its number of remaining uses
    marks it as one of this site.

    :param identity: the identity service, authenticated as the user that is trusted
    :param uses: returns the number of uses for a new trust (see ``records.trust_marks``)
    :param known: returns those of the given trusts that a lease has, live or ended
    """

    def __init__(
        self, identity: Adapter, uses: Callable[[], int], known: Callable[[Collection[str]], Collection[str]]
    ) -> None:
        self._identity = identity
        self._uses = uses
        self._doubtful = DoubtfulTrusts(known, self._delete)

    def give(self, token: Any) -> str:
        """Create a trust by which the sender of a request delegates roles to the service, and return its id.

        :raises ApiError: 403, the identity service refuses; 503, it does not answer
        """
        user = token.user
        trust = {
            "trustor_user_id": user.user_id,
            "trustee_user_id": self._identity.get_user_id(),
            "project_id": user.project_id,
            "impersonation": True,
            "remaining_uses": self._uses(),
            "roles": [{"name": name} for name in sorted(user.role_names)],
        }
        try:
            answer = self._ask("POST", "/OS-TRUST/trusts", token, json={"trust": trust})
        except exceptions.HttpError as error:
            if error.http_status < 500:
                message = f"servers: Keystone refuses the trust that booting them needs: {error.message}"
                raise ApiError(403, message, "servers") from error
            raise ApiError(503, _NO_ANSWER) from error
        except exceptions.ClientException as error:
            raise ApiError(503, _NO_ANSWER) from error
        return str(answer.json()["trust"]["id"])

    def take_back(self, token: Any, trust_id: str) -> None:
        """Delete a trust. A failure is only logged, since the trust is of no use without its lease."""
        try:
            self._ask("DELETE", f"/OS-TRUST/trusts/{trust_id}", token)
        except exceptions.ClientException:
            LOG.warning("trust %s could not be removed", trust_id, exc_info=True)

    def decide_later(self, trusts: Iterable[str]) -> None:
        """Delete trusts of a request whose outcome is unknown, later, unless a lease has them by then."""
        self._doubtful.add(trusts)

    def _delete(self, trust_id: str) -> None:
        """Delete a trust in the name of the service itself, if it exists."""
        with suppress(exceptions.NotFound):
            self._identity.delete(f"/OS-TRUST/trusts/{trust_id}")

    def _ask(self, method: str, path: str, token: Any, **options: Any) -> Any:
        """Send a request to the identity service in the name of the sender."""
        headers = {"X-Auth-Token": token.get_token(self._identity.session)}
        url = f"{self._identity.get_endpoint()}{path}"
        return self._identity.session.request(url, method, authenticated=False, headers=headers, **options)
