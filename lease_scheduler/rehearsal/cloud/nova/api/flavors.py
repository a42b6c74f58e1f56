"""Flavors, their extra specs, and the projects that may use them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova.api.context import Context, page
from lease_scheduler.rehearsal.cloud.nova.api.listing import is_true
from lease_scheduler.rehearsal.cloud.nova.records import Flavor


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of flavors."""
    handlers = _Flavors(context)
    routes.add("GET", "/flavors", handlers.list)
    routes.add("GET", "/flavors/detail", handlers.list)
    routes.add("POST", "/flavors", handlers.create)
    routes.add("GET", "/flavors/{flavor_id}", handlers.show)
    routes.add("DELETE", "/flavors/{flavor_id}", handlers.delete, 202)
    routes.add("GET", "/flavors/{flavor_id}/os-extra_specs", handlers.extra_specs)
    routes.add("POST", "/flavors/{flavor_id}/os-extra_specs", handlers.set_extra_specs)
    routes.add("DELETE", "/flavors/{flavor_id}/os-extra_specs/{key}", handlers.delete_extra_spec, 200)
    routes.add("GET", "/flavors/{flavor_id}/os-flavor-access", handlers.access)
    routes.add("POST", "/flavors/{flavor_id}/action", handlers.change_access)


class _Flavors:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._flavors = context.store.flavors

    def list(self, request: Request) -> dict[str, Any]:
        identity, wanted = self._context.who(request), request.query.get("is_public")
        found = sorted(self._flavors.values(), key=lambda each: each.id)
        if not identity.is_admin:
            found = [each for each in found if _may_use(each, identity)]
        elif wanted is None:
            found = [each for each in found if each.is_public or identity.project_id in each.projects]
        elif wanted.lower() != "none":
            found = [each for each in found if each.is_public is is_true(wanted)]
        listed, more = page(found, request)
        answer: dict[str, Any] = {"flavors": [_shown(each) for each in listed]}
        if more:
            href = f"http://compute/v2.1/flavors/detail?marker={listed[-1].id}"
            answer["flavors_links"] = [{"rel": "next", "href": href}]
        return answer

    def create(self, request: Request) -> dict[str, Any]:
        self._context.admin(request, "os-flavor-manage:create")
        said = request.body["flavor"]
        flavor_id = str(said.get("id") or self._context.store.timing.new_id())
        if flavor_id in self._flavors or any(each.name == said["name"] for each in self._flavors.values()):
            raise Refusal(409, f"Flavor with name {said['name']} or ID {flavor_id} already exists.")
        made = Flavor(
            flavor_id,
            said["name"],
            int(said["ram"]),
            int(said["vcpus"]),
            int(said["disk"]),
            int(said.get("OS-FLV-EXT-DATA:ephemeral") or 0),
            int(said.get("swap") or 0),
            bool(said.get("os-flavor-access:is_public", True)),
            said.get("description"),
        )
        self._flavors[made.id] = made
        return {"flavor": _shown(made)}

    def show(self, request: Request, flavor_id: str) -> dict[str, Any]:
        return {"flavor": _shown(self._flavor(request, flavor_id))}

    def delete(self, request: Request, flavor_id: str) -> None:
        self._context.admin(request, "os-flavor-manage:delete")
        self._flavor(request, flavor_id)
        del self._flavors[flavor_id]

    def extra_specs(self, request: Request, flavor_id: str) -> dict[str, Any]:
        return {"extra_specs": dict(self._flavor(request, flavor_id).extra_specs)}

    def set_extra_specs(self, request: Request, flavor_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-flavor-extra-specs:create")
        found = self._flavor(request, flavor_id)
        found.extra_specs.update({key: str(value) for key, value in request.body["extra_specs"].items()})
        return {"extra_specs": dict(found.extra_specs)}

    def delete_extra_spec(self, request: Request, flavor_id: str, key: str) -> None:
        self._context.admin(request, "os-flavor-extra-specs:delete")
        found = self._flavor(request, flavor_id)
        if found.extra_specs.pop(unquote(key), None) is None:
            raise Refusal(404, f"Flavor {flavor_id} has no extra specs with key {key}.")

    def access(self, request: Request, flavor_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-flavor-access")
        found = self._flavor(request, flavor_id)
        if found.is_public:
            raise Refusal(404, "Access list not available for public flavors.")
        return {"flavor_access": [{"flavor_id": found.id, "tenant_id": each} for each in found.projects]}

    def change_access(self, request: Request, flavor_id: str) -> dict[str, Any]:
        self._context.admin(request, "os-flavor-access:add_tenant_access")
        found = self._flavor(request, flavor_id)
        ((action, said),) = request.body.items()
        project_id = said["tenant"]
        if action == "addTenantAccess":
            if found.is_public:
                raise Refusal(409, "Can not add access to a public flavor.")
            if project_id in found.projects:
                raise Refusal(409, f"Flavor access already exists for flavor {flavor_id} and project {project_id}.")
            found.projects[project_id] = None
        elif project_id not in found.projects:
            raise Refusal(404, f"Flavor access not found for {flavor_id} / {project_id} combination.")
        else:
            del found.projects[project_id]
        return {"flavor_access": [{"flavor_id": found.id, "tenant_id": each} for each in found.projects]}

    def _flavor(self, request: Request, flavor_id: str) -> Flavor:
        found = self._flavors.get(unquote(flavor_id))
        if found is None or not _may_use(found, self._context.who(request)):
            raise Refusal(404, f"Flavor {flavor_id} could not be found.")
        return found


def _may_use(flavor: Flavor, identity: Identity) -> bool:
    return identity.is_admin or flavor.is_public or identity.project_id in flavor.projects


def _shown(flavor: Flavor) -> dict[str, Any]:
    return {
        "id": flavor.id,
        "name": flavor.name,
        "ram": flavor.ram,
        "vcpus": flavor.vcpus,
        "disk": flavor.disk,
        "swap": flavor.swap,
        "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral,
        "OS-FLV-DISABLED:disabled": False,
        "os-flavor-access:is_public": flavor.is_public,
        "rxtx_factor": 1.0,
        "description": flavor.description,
        "extra_specs": dict(flavor.extra_specs),
        "links": [],
    }
