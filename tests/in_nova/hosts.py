"""Hosts and requests in the form in which nova-scheduler has them."""

from __future__ import annotations

from typing import Any

from nova import objects
from nova.scheduler import host_manager
from nova.tests import fixtures  # noqa: F401  (patches the standard library, as every service of Nova does)

objects.register_all()


def aggregate(name: str, zone: str | None = None, **metadata: str) -> Any:
    """Return a host aggregate; double underscores in metadata names become colons."""
    found = {key.replace("__", ":"): value for key, value in metadata.items()}
    if zone is not None:
        found["availability_zone"] = zone
    return objects.Aggregate(id=1, uuid="d4d1f1d0-27f2-4e3c-a0c3-7ea7a6d6ac2a", name=name, hosts=[], metadata=found)


def host(*aggregates: Any, name: str = "compute-1") -> Any:
    """Return a host that is in these aggregates."""
    state = host_manager.HostState(name, name, "7f1a5e3c-0f10-4b1c-9a59-3a5d6d0b8a1f")
    state.aggregates = list(aggregates)
    return state


def request(project: str = "physics", hints: dict[str, list[str]] | None = None, **extra_specs: str) -> Any:
    """Return a request to place a server; double underscores in the names of extra specs become colons."""
    flavor = objects.Flavor(extra_specs={key.replace("__", ":"): value for key, value in extra_specs.items()})
    return objects.RequestSpec(
        project_id=project,
        flavor=flavor,
        scheduler_hints=hints or {},
        instance_uuid="0a6a5f3b-26d2-4a3f-a8b1-2f9d9b6d2c11",
    )
