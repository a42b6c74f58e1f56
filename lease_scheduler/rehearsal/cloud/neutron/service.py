"""Neutron as a service."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.keystone.tokens import Guard
from lease_scheduler.rehearsal.cloud.neutron.store import FloatingIp, Store


class NeutronService:
    """Answers requests to Neutron.

    :param guard: returns who a token belongs to
    """

    def __init__(self, url: str, guard: Guard, store: Store) -> None:
        self._url = url
        self._guard = guard
        self._store = store
        self._routes = routes = Routes()
        routes.add("GET", "/v2.0/networks", self._networks)
        routes.add("GET", "/v2.0/networks/{network_id}", self._network)
        routes.add("GET", "/v2.0/ports", self._ports)
        routes.add("GET", "/v2.0/floatingips", self._list)
        routes.add("POST", "/v2.0/floatingips", self._create, 201)
        routes.add("GET", "/v2.0/floatingips/{address_id}", self._show)
        routes.add("PUT", "/v2.0/floatingips/{address_id}", self._attach)
        routes.add("DELETE", "/v2.0/floatingips/{address_id}", self._delete, 204)
        routes.add("PUT", "/v2.0/floatingips/{address_id}/tags", self._set_tags)

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        try:
            if request.path == "/":
                links = [{"rel": "self", "href": f"{self._url}/v2.0/"}]
                return Answer(200, {"versions": [{"id": "v2.0", "status": "CURRENT", "links": links}]})
            return self._routes.answer(request, request.path)
        except Refusal as refusal:
            error = {"type": refusal.code or "HTTPError", "message": refusal.message, "detail": ""}
            return Answer(refusal.status, {"NeutronError": error})

    def _networks(self, request: Request) -> dict[str, Any]:
        self._guard(request)
        return {"networks": [each.shown() for each in self._store.networks.values()]}

    def _network(self, request: Request, network_id: str) -> dict[str, Any]:
        self._guard(request)
        if network_id not in self._store.networks:
            raise Refusal(404, f"Network {network_id} could not be found.", "NetworkNotFound")
        return {"network": self._store.networks[network_id].shown()}

    def _ports(self, request: Request) -> dict[str, Any]:
        identity = self._guard(request)
        found = [each for each in self._store.ports.values() if _may_see(identity, each.project_id)]
        if "device_id" in request.query:
            found = [each for each in found if each.device_id == request.query["device_id"]]
        return {"ports": [each.shown() for each in found]}

    def _list(self, request: Request) -> dict[str, Any]:
        identity = self._guard(request)
        found = [each.shown() for each in self._store.floating_ips.values() if _may_see(identity, each.project_id)]
        query = dict(request.query)
        tags = set(filter(None, query.pop("tags", "").split(",")))
        found = [each for each in found if tags <= set(each["tags"])]
        return {"floatingips": [each for each in found if all(str(each.get(k)) == v for k, v in query.items())]}

    def _create(self, request: Request) -> dict[str, Any]:
        identity, said = self._guard(request), request.body["floatingip"]
        project_id = said.get("project_id") or said.get("tenant_id") or identity.project_id
        if not _may_see(identity, project_id):
            raise Refusal(403, "Operation create_floatingip is disallowed by policy", "PolicyNotAuthorized")
        made = self._store.add_floating_ip(
            said["floating_network_id"], said.get("floating_ip_address"), project_id, is_admin=identity.is_admin
        )
        return {"floatingip": made.shown()}

    def _show(self, request: Request, address_id: str) -> dict[str, Any]:
        return {"floatingip": self._address(request, address_id).shown()}

    def _attach(self, request: Request, address_id: str) -> dict[str, Any]:
        found = self._address(request, address_id)
        port_id = request.body["floatingip"].get("port_id")
        if port_id is not None and port_id not in self._store.ports:
            raise Refusal(404, f"Port {port_id} could not be found.", "PortNotFound")
        found.port_id = port_id
        return {"floatingip": found.shown()}

    def _delete(self, request: Request, address_id: str) -> None:
        self._address(request, address_id)
        del self._store.floating_ips[address_id]

    def _set_tags(self, request: Request, address_id: str) -> dict[str, Any]:
        found = self._address(request, address_id)
        found.tags = tuple(sorted(set(request.body["tags"])))
        return {"tags": list(found.tags)}

    def _address(self, request: Request, address_id: str) -> FloatingIp:
        identity = self._guard(request)
        found = self._store.floating_ips.get(address_id)
        if found is None or not _may_see(identity, found.project_id):
            raise Refusal(404, f"Floating IP {address_id} could not be found.", "FloatingIPNotFound")
        return found


def _may_see(identity: Identity, project_id: str) -> bool:
    return identity.is_admin or identity.project_id == project_id
