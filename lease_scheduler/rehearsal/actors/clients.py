"""The clients that people of a world use: the REST interface of the service, and Nova."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from keystoneauth1.exceptions import ClientException as KeystoneError
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session
from novaclient import client
from novaclient.exceptions import ClientException as NovaError

from lease_scheduler.rehearsal.cloud.cloud import Cloud
from lease_scheduler.rehearsal.runtime.rest import URL, session
from lease_scheduler.rehearsal.site import PASSWORD
from lease_scheduler.rehearsal.story import Ledger

#: The version of the interface that they use.
_HEADERS = {"OpenStack-API-Version": "reservation latest"}

#: Seconds that people wait for an answer.
_PATIENCE = 120.0

#: Statuses from which on an answer is an error of the service.
_ERRORS = 500

#: Errors of requests to which there is no useful answer: whoever asked tries again or goes on with something else.
NO_ANSWER = (requests.RequestException, KeystoneError, NovaError)


class Rest:
    """The REST interface as somebody uses it who is not asked who they are.

    :param project: id of their project
    :ivar nova: None, as there is no Nova
    """

    nova: Any = None

    def __init__(self, project: str) -> None:
        self._session = session()
        self._session.headers.update(_HEADERS | {"X-Project-Id": project, "X-User-Id": project})

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """Send a request and return the answer.

        :raises requests.RequestException: there was none
        """
        return self._session.request(method, f"{URL}/v1/{path}", json=body, timeout=_PATIENCE)


class Person:
    """Somebody with an account in Keystone, who uses the service and Nova.

    :param user: name of the user
    :param project: name of the project
    """

    def __init__(self, user: str, project: str) -> None:
        self.user, self.project = user, project
        login = Password(
            Cloud.auth_url,
            username=user,
            password=PASSWORD,
            user_domain_id="default",
            project_name=project,
            project_domain_id="default",
        )
        self._keystone = Session(login, session=session(), timeout=_PATIENCE)
        self.nova: Any = client.Client("2.93", session=self._keystone)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """Send a request to the service and return the answer, whatever its status.

        :raises NO_ANSWER: there was none, or Keystone gave no token
        """
        options: dict[str, Any] = {} if body is None else {"json": body}
        found: requests.Response = self._keystone.request(
            f"{URL}/v1/{path}", method, headers=dict(_HEADERS), raise_exc=False, connect_retries=0, **options
        )
        return found

    def command(self, service: str, method: str, path: str, version: str) -> requests.Response:
        """Send a request to another service of the cloud, and return the answer, whatever its status.

        :param service: type in the catalogue
        :param version: microversion, such as ``placement 1.38``
        :raises NO_ANSWER: there was none, or Keystone gave no token
        """
        found: requests.Response = self._keystone.request(
            path,
            method,
            endpoint_filter={"service_type": service},
            headers={"OpenStack-API-Version": version},
            raise_exc=False,
            connect_retries=0,
        )
        return found


class Observed:
    """A client whose answers are observed: nobody should get an error of the service.

    :param who: name in the ledger
    :ivar nova: as that of the client
    """

    def __init__(self, client: Rest | Person, who: str, ledger: Ledger) -> None:
        self.client, self.nova = client, client.nova
        self._who, self._ledger = who, ledger

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """See ``Person.ask``."""
        began, what = self._ledger.now, f"{method} {path}"
        try:
            answer = self.client.ask(method, path, body)
        except NO_ANSWER:
            self._ledger.got(self._who, what, began, 0)
            raise
        if answer.status_code >= _ERRORS:
            self._ledger.got(self._who, what, began, answer.status_code)
        return answer
