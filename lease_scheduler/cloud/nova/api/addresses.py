"""Floating IPs of leases. They exist in Neutron while the lease runs (Blazar's ``virtual:floatingip``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import BadRequest, Conflict, HttpError, NotFound

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api import names

_PATH = "/v2.0/floatingips"


class Addresses:
    """The floating IPs of leases.

    :param adapter: returns an adapter for the service ``network``; called when it is first needed
    """

    def __init__(self, adapter: Callable[[], Adapter]) -> None:
        self._make_adapter = adapter
        self._made: Adapter | None = None

    @property
    def _adapter(self) -> Adapter:
        if self._made is None:
            self._made = self._make_adapter()
        return self._made

    def ensure(self, lease_id: str, reservation_id: str, network_id: str, address: str, project_id: str) -> None:
        """Create an address for a project, with the tags by which Blazar's clients find it.

        :raises StepFailedError: another project has the address, or there is no such network
        """
        query = {"floating_network_id": network_id, "floating_ip_address": address}
        found = self._list(query)
        made = found[0] if found else self._create(query, project_id)
        if made["project_id"] != project_id:
            raise StepFailedError(f"floating IP {address} is in use by project {made['project_id']}")
        tags = {names.tag(lease_id), "blazar", f"reservation:{reservation_id}"}
        if not tags <= set(made.get("tags") or ()):
            self._adapter.put(f"{_PATH}/{made['id']}/tags", json={"tags": sorted(tags | set(made.get("tags") or ()))})

    def remove(self, lease_id: str) -> None:
        """Delete all floating IPs of a lease."""
        for found in self._list({"tags": names.tag(lease_id)}):
            try:
                self._adapter.delete(f"{_PATH}/{found['id']}")
            except NotFound:
                continue

    def _create(self, query: Mapping[str, str], project_id: str) -> dict[str, Any]:
        try:
            answer = self._adapter.post(_PATH, json={"floatingip": {**query, "project_id": project_id}})
        except (BadRequest, Conflict, NotFound) as error:
            raise StepFailedError(f"floating IP {query['floating_ip_address']}: {_message(error)}") from error
        made: dict[str, Any] = answer.json()["floatingip"]
        return made

    def _list(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._adapter.get(_PATH, params=dict(query)).json()["floatingips"]
        return found


def _message(error: HttpError) -> str:
    """Return Neutron's message, from a form of errors that keystoneauth does not know."""
    if error.response is None:
        return str(error.message)
    try:
        return str(error.response.json()["NeutronError"]["message"])
    except (ValueError, KeyError, TypeError):
        return str(error.message)
