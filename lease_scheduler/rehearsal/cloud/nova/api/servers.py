"""Servers: list, show, create, rename, delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova.api import views
from lease_scheduler.rehearsal.cloud.nova.api.context import Context, page
from lease_scheduler.rehearsal.cloud.nova.api.listing import wanted
from lease_scheduler.rehearsal.cloud.nova.api.locks import check_lock
from lease_scheduler.rehearsal.cloud.nova.records import Asked, Flavor, Server, Volume
from lease_scheduler.rehearsal.cloud.nova.store import DEFAULT_ZONE

_LONGEST_NAME = 255

#: Hint that nova-api takes for itself, and removes from requests.
_INTERNAL_HINT = "_nova_check_type"


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of servers."""
    handlers = _Servers(context)
    routes.add("GET", "/servers", handlers.list_short)
    routes.add("GET", "/servers/detail", handlers.list)
    routes.add("POST", "/servers", handlers.create)
    routes.add("GET", "/servers/{server_id}", handlers.show)
    routes.add("PUT", "/servers/{server_id}", handlers.change)
    routes.add("DELETE", "/servers/{server_id}", handlers.delete, 204)


class _Servers:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store

    def list_short(self, request: Request) -> dict[str, Any]:
        found, more = page(wanted(self._store, request, self._context.who(request)), request)
        return _paged([views.short(each) for each in found], more)

    def list(self, request: Request) -> dict[str, Any]:
        identity = self._context.who(request)
        found, more = page(wanted(self._store, request, identity), request)
        version = request.microversion
        return _paged([views.full(self._store, each, identity, version) for each in found], more)

    def show(self, request: Request, server_id: str) -> dict[str, Any]:
        identity = self._context.who(request)
        found = self._store.server(server_id, identity)
        return {"server": views.full(self._store, found, identity, request.microversion)}

    def change(self, request: Request, server_id: str) -> dict[str, Any]:
        found, said = self._context.server(request, server_id), request.body["server"]
        if len(said.get("name", "")) > _LONGEST_NAME:
            raise Refusal(400, f"Invalid input for field/attribute name. Value: {said['name']}.")
        known = {key: said[key] for key in ("name", "description") if key in said}
        self._store.change(found, **known)
        self._store.notices.server("update", found, None)
        return self.show(request, server_id)

    def delete(self, request: Request, server_id: str) -> None:
        identity = self._context.who(request)
        found = self._store.server(server_id, identity)
        check_lock(found, identity)
        # A server that has never run is not kept.
        softly = self._store.options.reclaim_instance_interval > 0 and found.launched_at is not None
        action = self._store.act(found, "delete", identity)
        if not self._context.deleting.delete(found, action, softly=softly):
            found.actions.remove(action)

    # -- creation --------------------------------------------------------------------------------------------

    def create(self, request: Request) -> Answer:
        identity, said = self._context.who(request), request.body["server"]
        flavor = self._flavor(said["flavorRef"], identity)
        volumes = self._volumes(said)
        image_id = said.get("imageRef") or None
        self._check_image(image_id, volumes, flavor, identity)
        asked = self._asked(
            said, request.body.get("os:scheduler_hints") or said.get("os:scheduler_hints") or {}, identity
        )
        least = int(said.get("min_count", 1))
        count = max(int(said.get("max_count", least)), least)
        self._check_quota(identity, count)
        made = [self._made(said, number, count, identity, flavor, image_id, asked, volumes) for number in range(count)]
        first = made[0]
        return Answer(202, {"server": {"id": first.id, "links": views.short(first)["links"], "adminPass": "secret"}})

    def _made(
        self,
        said: Mapping[str, Any],
        number: int,
        count: int,
        identity: Identity,
        flavor: Flavor,
        image_id: str | None,
        asked: Asked,
        volumes: Sequence[Volume],
    ) -> Server:
        store, timing = self._store, self._store.timing
        server = Server(
            timing.new_id(),
            said["name"] if count == 1 else f"{said['name']}-{number + 1}",
            identity.project_id,
            identity.user_id,
            flavor.copy(),
            None if any(each.is_root for each in volumes) else image_id,
            asked,
            timing.stamp(),
            timing.stamp(),
            store.next_server,
            metadata=dict(said.get("metadata") or {}),
            tags=sorted(said.get("tags") or ()),
            description=said.get("description"),
            key_name=said.get("key_name"),
            user_data=said.get("user_data"),
            security_groups=tuple(each["name"] for each in said.get("security_groups") or ({"name": "default"},)),
            networks=said.get("networks"),
            volumes=[Volume(each.id or timing.new_id(), *_rest(each)) for each in volumes],
            changed=timing.time(),
        )
        store.add(server)
        group_id = next(iter(asked.hints.get("group", ())), None)
        if group_id is not None:
            server.group_id = group_id
            store.groups[group_id].members.append(server.id)
        action = store.act(server, "create", identity)
        self._context.building.build(server, action)
        return server

    def _flavor(self, flavor_id: str, identity: Identity) -> Flavor:
        found = self._store.flavors.get(str(flavor_id).rpartition("/")[2])
        if found is None or not (identity.is_admin or found.is_public or identity.project_id in found.projects):
            raise Refusal(400, f"Flavor {flavor_id} could not be found.")
        return found

    def _check_image(self, image_id: str | None, volumes: Sequence[Volume], flavor: Flavor, identity: Identity) -> None:
        if image_id is None:
            if not any(each.is_root for each in volumes):
                raise Refusal(400, "Block Device Mapping is Invalid: Boot sequence for the instance is invalid.")
            return
        found = self._store.glance.images.get(image_id)
        if found is None or not self._store.glance.may_see(found, identity.project_id, is_admin=identity.is_admin):
            raise Refusal(400, f"Image {image_id} could not be found.")
        if found.status != "active":
            raise Refusal(400, f"Image {image_id} is not active.")
        if found.min_ram > flavor.ram:
            raise Refusal(400, "Flavor's memory is too small for requested image.")
        if flavor.disk and found.min_disk > flavor.disk and not any(each.is_root for each in volumes):
            raise Refusal(400, "Flavor's disk is too small for requested image.")

    def _check_quota(self, identity: Identity, count: int) -> None:
        limit = self._store.options.instances_quota
        used = sum(each.project_id == identity.project_id for each in self._store.present())
        if 0 <= limit < used + count:
            raise Refusal(403, f"Quota exceeded for instances: Requested {count}, but already used {used} of {limit}")

    def _asked(self, said: Mapping[str, Any], hints: Mapping[str, Any], identity: Identity) -> Asked:
        named = {
            key: [str(each) for each in value] if isinstance(value, list) else [str(value)]
            for key, value in hints.items()
            if key != _INTERNAL_HINT
        }
        for group_id in named.get("group", ()):
            if group_id not in self._store.groups:
                raise Refusal(400, f"Instance group {group_id} could not be found.")
        zone, forced = said.get("availability_zone"), None
        if zone is not None and ":" in zone:
            zone, _, host = zone.partition(":")
            if not identity.is_admin:
                raise Refusal(403, "Policy doesn't allow os_compute_api:servers:create:forced_host to be performed.")
            forced = host.partition(":")[0] or None
            zone = zone or None
        destination = said.get("host") or said.get("hypervisor_hostname")
        if destination is not None:
            if not identity.is_admin:
                raise Refusal(403, "Policy doesn't allow compute:servers:create:requested_destination to be performed.")
            if destination not in self._store.hosts:
                raise Refusal(400, f"Compute host {destination} could not be found.")
        known = {DEFAULT_ZONE, *(each.availability_zone for each in self._store.aggregates.values())}
        if zone is not None and zone not in known:
            raise Refusal(400, "The requested availability zone is not available")
        # A forced host is meant whatever the zone that is named with it.
        return Asked(named, None if forced is not None else zone, forced, destination)

    @staticmethod
    def _volumes(said: Mapping[str, Any]) -> Sequence[Volume]:
        found = []
        for each in said.get("block_device_mapping_v2") or ():
            if each.get("destination_type") != "volume":
                continue
            is_root = str(each.get("boot_index")) == "0"
            source, size = each.get("source_type"), each.get("volume_size")
            found.append(
                Volume(
                    each["uuid"] if source == "volume" else "",
                    is_root,
                    bool(each.get("delete_on_termination", False)),
                    each.get("uuid") if source == "image" else None,
                    None if size is None else int(size),
                    each.get("volume_type"),
                )
            )
        return found


def _rest(volume: Volume) -> tuple[Any, ...]:
    return volume.is_root, volume.delete_on_termination, volume.image_id, volume.size_gb, volume.volume_type


def _paged(found: list[dict[str, Any]], more: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {"servers": found}
    if more:
        answer["servers_links"] = [{"rel": "next", "href": f"http://compute/v2.1/servers?marker={found[-1]['id']}"}]
    return answer
