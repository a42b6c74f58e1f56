"""Resource providers, with their traits, aggregates, allocations and usages."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.placement.records import Provider
from lease_scheduler.rehearsal.cloud.placement.store import CONCURRENT_UPDATE, Store


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of resource providers."""
    handlers = _Providers(store)
    routes.add("GET", "/resource_providers", handlers.list)
    routes.add("POST", "/resource_providers", handlers.create)
    routes.add("GET", "/resource_providers/{provider_id}", handlers.show)
    routes.add("PUT", "/resource_providers/{provider_id}", handlers.rename)
    routes.add("DELETE", "/resource_providers/{provider_id}", handlers.delete, 204)
    routes.add("GET", "/resource_providers/{provider_id}/traits", handlers.traits)
    routes.add("PUT", "/resource_providers/{provider_id}/traits", handlers.set_traits)
    routes.add("GET", "/resource_providers/{provider_id}/aggregates", handlers.aggregates)
    routes.add("PUT", "/resource_providers/{provider_id}/aggregates", handlers.set_aggregates)
    routes.add("GET", "/resource_providers/{provider_id}/usages", handlers.usages)
    routes.add("GET", "/resource_providers/{provider_id}/allocations", handlers.allocations)


def check_generation(provider: Provider, generation: object) -> None:
    """Check that a client knows the present state of a provider.

    :raises Refusal: the provider has changed since
    """
    if provider.generation != generation:
        raise Refusal(409, "resource provider generation conflict", CONCURRENT_UPDATE)


class _Providers:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, request: Request) -> dict[str, Any]:
        query, found = request.query, [*self._store.providers.values()]
        if "in_tree" in query:
            found = self._store.tree(query["in_tree"])
        for name, attribute in (("name", "name"), ("uuid", "id")):
            if name in query:
                found = [each for each in found if getattr(each, attribute) == query[name]]
        if "member_of" in query:
            wanted = set(query["member_of"].removeprefix("in:").split(","))
            found = [each for each in found if wanted & each.aggregates]
        if "required" in query:
            found = [each for each in found if set(query["required"].split(",")) <= each.traits]
        if "resources" in query:
            amounts = {name: int(amount) for name, _, amount in _parted(query["resources"])}
            found = [each for each in found if self._store.has_room(each, amounts)]
        return {"resource_providers": [each.shown() for each in found]}

    def create(self, request: Request) -> dict[str, Any]:
        said = request.body
        made = self._store.add_provider(said["uuid"], said["name"], said.get("parent_provider_uuid"))
        return made.shown()

    def show(self, request: Request, provider_id: str) -> dict[str, Any]:
        return self._store.provider(provider_id).shown()

    def rename(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        found.name = request.body["name"]
        return found.shown()

    def delete(self, request: Request, provider_id: str) -> None:
        self._store.remove_provider(provider_id)

    def traits(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        return {"traits": sorted(found.traits), "resource_provider_generation": found.generation}

    def set_traits(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        check_generation(found, request.body["resource_provider_generation"])
        unknown = [each for each in request.body["traits"] if each not in self._store.traits]
        if unknown:
            raise Refusal(400, f"No such trait {', '.join(unknown)}.")
        found.traits = frozenset(request.body["traits"])
        found.generation += 1
        return self.traits(request, provider_id)

    def aggregates(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        return {"aggregates": sorted(found.aggregates), "resource_provider_generation": found.generation}

    def set_aggregates(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        check_generation(found, request.body["resource_provider_generation"])
        found.aggregates = frozenset(request.body["aggregates"])
        found.generation += 1
        return self.aggregates(request, provider_id)

    def usages(self, request: Request, provider_id: str) -> dict[str, Any]:
        found = self._store.provider(provider_id)
        used = dict.fromkeys(found.inventories, 0) | self._store.usages(provider_id)
        return {"usages": used, "resource_provider_generation": found.generation}

    def allocations(self, request: Request, provider_id: str) -> Answer:
        found = self._store.provider(provider_id)
        consumers = self._store.consumers
        listed = {
            consumer_id: {"resources": amounts, "consumer_generation": consumers[consumer_id].generation}
            for consumer_id, amounts in self._store.on(provider_id).items()
        }
        return Answer(200, {"allocations": listed, "resource_provider_generation": found.generation})


def _parted(text: str) -> list[tuple[str, str, str]]:
    return [each.partition(":") for each in text.split(",")]
