"""Host aggregates and availability zones."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.compute.caching import cache_images
from lease_scheduler.rehearsal.cloud.nova.records import HostAggregate

_ZONE = "availability_zone"


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of aggregates."""
    handlers = _Aggregates(context)
    routes.add("GET", "/os-aggregates", handlers.list)
    routes.add("POST", "/os-aggregates", handlers.create)
    routes.add("GET", "/os-aggregates/{aggregate_id}", handlers.show)
    routes.add("PUT", "/os-aggregates/{aggregate_id}", handlers.change)
    routes.add("DELETE", "/os-aggregates/{aggregate_id}", handlers.delete)
    routes.add("POST", "/os-aggregates/{aggregate_id}/action", handlers.act)
    routes.add("POST", "/os-aggregates/{aggregate_id}/images", handlers.cache, 202)


class _Aggregates:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store

    def list(self, request: Request) -> dict[str, Any]:
        self._context.admin(request, "os-aggregates:index")
        return {"aggregates": [each.shown() for each in self._store.aggregates.values()]}

    def show(self, request: Request, aggregate_id: str) -> dict[str, Any]:
        return {"aggregate": self._aggregate(request, aggregate_id).shown()}

    def create(self, request: Request) -> dict[str, Any]:
        identity = self._context.admin(request, "os-aggregates:create")
        said, store = request.body["aggregate"], self._store
        if any(each.name == said["name"] for each in store.aggregates.values()):
            raise Refusal(409, f"Aggregate {said['name']} already exists.")
        made = HostAggregate(store.next_aggregate, store.timing.new_id(), said["name"], store.timing.precise_stamp())
        if said.get(_ZONE):
            made.metadata[_ZONE] = said[_ZONE]
        store.next_aggregate += 1
        store.aggregates[made.id] = made
        store.notices.aggregate("create.end", made, identity.user_id)
        # As in Nova, a new aggregate is shown without its hosts and metadata.
        shown = made.shown()
        return {"aggregate": {key: value for key, value in shown.items() if key not in ("hosts", "metadata")}}

    def change(self, request: Request, aggregate_id: str) -> dict[str, Any]:
        found, said = self._aggregate(request, aggregate_id), request.body["aggregate"]
        if said.get(_ZONE):
            self._check_zone(found, said[_ZONE])
            found.metadata[_ZONE] = said[_ZONE]
        found.name = said.get("name", found.name)
        self._tell(request, "update_prop.end", found)
        return {"aggregate": found.shown()}

    def delete(self, request: Request, aggregate_id: str) -> Answer:
        found = self._aggregate(request, aggregate_id)
        if found.hosts:
            raise Refusal(400, f"Cannot delete aggregate {found.id}. Host aggregate is not empty.")
        del self._store.aggregates[found.id]
        self._tell(request, "delete.end", found)
        return Answer(200)

    def act(self, request: Request, aggregate_id: str) -> dict[str, Any]:
        found = self._aggregate(request, aggregate_id)
        ((action, said),) = request.body.items()
        if action == "add_host":
            self._add(found, said["host"])
        elif action == "remove_host":
            self._remove(found, said["host"])
        elif action == "set_metadata":
            self._describe(found, said["metadata"])
        else:
            raise Refusal(400, f"Aggregates do not have {action} action")
        event = "update_metadata" if action == "set_metadata" else action
        self._tell(request, f"{event}.end", found)
        return {"aggregate": found.shown()}

    def cache(self, request: Request, aggregate_id: str) -> Answer:
        found = self._aggregate(request, aggregate_id)
        images = [each["id"] for each in request.body["cache"]]
        for image_id in images:
            if image_id not in self._store.glance.images:
                raise Refusal(400, f"Image {image_id} could not be found.")
        request_id = f"req-{self._store.timing.new_id()}"
        cache_images(self._context.computes, self._store, found, images, request_id)
        return Answer(202, None, {"x-openstack-request-id": request_id})

    # -- hosts -----------------------------------------------------------------------------------------------

    def _add(self, found: HostAggregate, host: str) -> None:
        if host not in self._store.hosts:
            raise Refusal(404, f"Compute host {host} could not be found.")
        if host in found.hosts:
            raise Refusal(409, f"Aggregate {found.id} already has host {host}.")
        zone = found.availability_zone
        if zone is not None:
            others = {each.availability_zone for each in self._store.aggregates.values() if host in each.hosts}
            if others - {None, zone}:
                self._refuse(found, f"Host already in availability zone {(others - {None, zone}).pop()}")
            if zone != self._store.zone(host) and self._store.on(host):
                self._refuse(found, "One or more hosts contain instances in this zone")
        found.hosts.append(host)
        self._mirror(found, host, is_there=True)

    def _remove(self, found: HostAggregate, host: str) -> None:
        if host not in found.hosts:
            raise Refusal(404, f"Aggregate {found.id} has no host {host}.")
        before = self._store.zone(host)
        found.hosts.remove(host)
        if self._store.zone(host) != before and self._store.on(host):
            found.hosts.append(host)
            self._refuse(found, f"Cannot remove host {host} from aggregate: it has instances in zone {before}")
        self._mirror(found, host, is_there=False)

    def _describe(self, found: HostAggregate, said: dict[str, str | None]) -> None:
        if said.get(_ZONE):
            self._check_zone(found, str(said[_ZONE]))
        for key, value in said.items():
            if value is None:
                found.metadata.pop(key, None)
            else:
                found.metadata[key] = value

    def _check_zone(self, found: HostAggregate, zone: str) -> None:
        if zone != found.availability_zone and any(self._store.on(host) for host in found.hosts):
            self._refuse(found, "One or more hosts contain instances in this zone")

    def _mirror(self, found: HostAggregate, host: str, *, is_there: bool) -> None:
        """Tell Placement, where a host is in the aggregate, too."""
        provider = self._store.placement.provider(self._store.hosts[host].provider_id)
        mine = frozenset({found.uuid})
        provider.aggregates = provider.aggregates | mine if is_there else provider.aggregates - mine
        provider.generation += 1

    @staticmethod
    def _refuse(found: HostAggregate, why: str) -> None:
        raise Refusal(409, f"Cannot perform action on aggregate {found.id}. Reason: {why}.")

    def _aggregate(self, request: Request, aggregate_id: str) -> HostAggregate:
        self._context.admin(request, "os-aggregates")
        found = self._store.aggregates.get(int(aggregate_id)) if aggregate_id.isdigit() else None
        if found is None:
            raise Refusal(404, f"Aggregate {aggregate_id} could not be found.")
        return found

    def _tell(self, request: Request, event: str, found: HostAggregate) -> None:
        self._store.notices.aggregate(event, found, self._context.who(request).user_id)
