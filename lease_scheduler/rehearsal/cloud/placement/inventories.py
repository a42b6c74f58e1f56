"""Inventories of resource providers."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.placement.providers import check_generation
from lease_scheduler.rehearsal.cloud.placement.records import Provider, inventory_of
from lease_scheduler.rehearsal.cloud.placement.store import UNDEFINED, Store


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of inventories."""
    handlers = _Inventories(store)
    routes.add("GET", "/resource_providers/{provider_id}/inventories", handlers.list)
    routes.add("PUT", "/resource_providers/{provider_id}/inventories", handlers.replace)
    routes.add("DELETE", "/resource_providers/{provider_id}/inventories", handlers.clear, 204)
    routes.add("GET", "/resource_providers/{provider_id}/inventories/{name}", handlers.show)
    routes.add("PUT", "/resource_providers/{provider_id}/inventories/{name}", handlers.set)
    routes.add("DELETE", "/resource_providers/{provider_id}/inventories/{name}", handlers.delete, 204)


class _Inventories:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, request: Request, provider_id: str) -> dict[str, Any]:
        return _shown(self._store.provider(provider_id))

    def replace(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        check_generation(found, request.body["resource_provider_generation"])
        wanted = {name: inventory_of(each) for name, each in request.body["inventories"].items()}
        self._store.set_inventories(found, wanted)
        return _shown(found)

    def clear(self, request: Request, provider_id: str) -> None:
        self._store.set_inventories(self._store.provider(provider_id), {})

    def show(self, request: Request, provider_id: str, name: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        if name not in found.inventories:
            raise Refusal(404, f"No inventory of class {name} for {provider_id}", UNDEFINED)
        return {**found.inventories[name].shown(), "resource_provider_generation": found.generation}

    def set(self, request: Request, provider_id: str, name: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        check_generation(found, request.body["resource_provider_generation"])
        if name not in found.inventories:
            raise Refusal(400, f"No inventory of class {name} for {provider_id}", UNDEFINED)
        self._store.set_inventories(found, {**found.inventories, name: inventory_of(request.body)})
        return self.show(request, provider_id, name)

    def delete(self, request: Request, provider_id: str, name: str) -> None:
        self._store.remove_inventory(self._store.provider(provider_id), name)


def _shown(found: Provider) -> dict[str, Any]:
    return {
        "inventories": {name: each.shown() for name, each in found.inventories.items()},
        "resource_provider_generation": found.generation,
    }
