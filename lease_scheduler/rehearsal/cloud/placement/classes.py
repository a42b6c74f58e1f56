"""Resource classes and traits."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.placement.store import Store

#: Classes that exist in every Placement and that hosts or devices use.
STANDARD = ("VCPU", "MEMORY_MB", "DISK_GB", "PCPU", "VGPU", "PCI_DEVICE", "SRIOV_NET_VF", "NUMA_NODE", "FPGA")

_CUSTOM = "CUSTOM_"


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of classes and traits."""
    handlers = _Classes(store)
    routes.add("GET", "/resource_classes", handlers.list)
    routes.add("GET", "/resource_classes/{name}", handlers.show)
    routes.add("PUT", "/resource_classes/{name}", handlers.ensure)
    routes.add("DELETE", "/resource_classes/{name}", handlers.delete, 204)
    routes.add("GET", "/traits", handlers.traits)
    routes.add("PUT", "/traits/{name}", handlers.ensure_trait)


class _Classes:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, request: Request) -> dict[str, Any]:
        return {"resource_classes": [{"name": name} for name in self._store.classes]}

    def show(self, request: Request, name: str) -> dict[str, Any]:
        self._check(name)
        return {"name": name}

    def ensure(self, request: Request, name: str) -> Answer:
        if not name.startswith(_CUSTOM):
            raise Refusal(400, f"The resource class {name} does not begin with {_CUSTOM}.")
        is_known = name in self._store.classes
        self._store.classes[name] = None
        return Answer(204 if is_known else 201)

    def delete(self, request: Request, name: str) -> None:
        self._check(name)
        if not name.startswith(_CUSTOM):
            raise Refusal(400, f"Error in delete resource class: Cannot delete standard resource class {name}.")
        if any(name in each.inventories for each in self._store.providers.values()):
            raise Refusal(409, f"Error in delete resource class: {name} is in use in inventory.")
        del self._store.classes[name]

    def traits(self, request: Request) -> dict[str, Any]:
        return {"traits": sorted(self._store.traits)}

    def ensure_trait(self, request: Request, name: str) -> Answer:
        if not name.startswith(_CUSTOM):
            raise Refusal(400, f"The trait {name} does not begin with {_CUSTOM}.")
        is_known = name in self._store.traits
        self._store.traits[name] = None
        return Answer(204 if is_known else 201)

    def _check(self, name: str) -> None:
        if name not in self._store.classes:
            raise Refusal(404, f"No such resource class {name}.")
