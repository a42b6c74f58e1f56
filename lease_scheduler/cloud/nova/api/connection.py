"""Clients of the services of an OpenStack."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import NotFound
from keystoneauth1.session import Session
from novaclient import client

#: Versions of the compute API. 2.91 added unshelving to a host; 2.87 is the last with VCPUs and CPU of hypervisors.
_MICROVERSION = "2.93"
_MICROVERSION_OF_FACTS = "2.87"

#: Maximum number of clients for trusts that are kept, each with its token.
_KEPT_SESSIONS = 1_000


class LogIn(Protocol):
    """Login as the service. Given login options replace the configured ones."""

    def __call__(self, **options: Any) -> Session:
        """Return a session."""
        ...


class Connection:
    """Clients for the service itself, and for users who gave it a trust.

    :param interface: interface of the services in Keystone's catalogue, such as ``internal``
    :param region_name: region of the services; None for the only one
    """

    def __init__(self, log_in: LogIn, interface: str | None, region_name: str | None) -> None:
        self._log_in = log_in
        self._interface = interface
        self._region_name = region_name
        self._session = log_in()
        self._for_trust = lru_cache(_KEPT_SESSIONS)(self._of_trust)

    @property
    def nova(self) -> Any:
        """Nova for the service itself."""
        return self._nova(self._session, _MICROVERSION)

    @property
    def nova_with_facts(self) -> Any:
        """Nova for the service itself, with an API version that shows all facts of hypervisors."""
        return self._nova(self._session, _MICROVERSION_OF_FACTS)

    @property
    def placement(self) -> Adapter:
        """Placement for the service itself."""
        return self._adapter(service_type="placement")

    @property
    def network(self) -> Adapter:
        """Neutron for the service itself."""
        return self._adapter(service_type="network")

    @property
    def glance(self) -> Adapter:
        """Glance for the service itself."""
        return self._adapter(service_type="image")

    def on_behalf_of(self, trust_id: str | None) -> Any:
        """Return Nova for the user who gave a trust, or for the service itself if there is none."""
        return self.nova if trust_id is None else self._for_trust(trust_id)

    def user_id(self) -> str | None:
        """Return the id of the service's own user."""
        found: str | None = self._session.get_user_id()
        return found

    def end_trust(self, trust_id: str) -> None:
        """Delete a trust, if it exists."""
        identity = self._adapter(service_type="identity", min_version="3", max_version="3.latest")
        with suppress(NotFound):
            identity.delete(f"/OS-TRUST/trusts/{trust_id}")

    def trusts(self) -> dict[str, int | None]:
        """Return id -> remaining uses of the trusts that were given to our own user; None for unlimited uses."""
        identity = self._adapter(service_type="identity", min_version="3", max_version="3.latest")
        found = identity.get("/OS-TRUST/trusts", params={"trustee_user_id": self.user_id()}).json()["trusts"]
        return {str(each["id"]): each.get("remaining_uses") for each in found}

    def _of_trust(self, trust_id: str) -> Any:
        # The trust itself determines the project.
        scope = {"project_id": None, "project_name": None, "project_domain_id": None, "project_domain_name": None}
        return self._nova(self._log_in(trust_id=trust_id, **scope), _MICROVERSION)

    def _adapter(self, **options: Any) -> Adapter:
        return Adapter(self._session, interface=self._interface, region_name=self._region_name, **options)

    def _nova(self, session: Session, version: str) -> Any:
        return client.Client(version, session=session, endpoint_type=self._interface, region_name=self._region_name)
