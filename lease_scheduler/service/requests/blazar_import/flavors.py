"""The flavors that Blazar keeps with the reservations made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.service.requests.blazar_import.findings import NotTakenError

_PCPU = "PCPU"
_RESOURCES = "resources:"
_TRAIT = "trait:"


@dataclass(frozen=True)
class SourceFlavor:
    """The flavor that a reservation was made from, as of that time.

    :ivar needs: resources and required traits
    :ivar forbidden: traits that a host must not have
    """

    flavor_id: str
    needs: Flavor
    forbidden: frozenset[str]


def source_flavor(text: str | None) -> SourceFlavor:
    """Return the flavor that Blazar keeps as JSON (``resource_properties`` of a ``flavor:instance`` reservation).

    :raises NotTakenError: the text does not describe a flavor
    """
    try:
        found = json.loads(text or "")
        return SourceFlavor(
            str(found["id"]), Flavor(_resources(found), _traits(found, "required")), _traits(found, "forbidden")
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotTakenError("the flavor that it was made from cannot be read") from None


def _resources(found: Mapping[str, Any]) -> dict[str, int]:
    """Return the resources of one server, as Nova requests them from Placement."""
    extra_specs: Mapping[str, str] = found.get("extra_specs") or {}
    cpus = _PCPU if extra_specs.get("hw:cpu_policy") == "dedicated" else VCPU
    swap_gb = -(-int(found.get("swap") or 0) // 1024)
    disk_gb = int(found["disk"]) + int(found.get("OS-FLV-EXT-DATA:ephemeral") or 0) + swap_gb
    resources = {cpus: int(found["vcpus"]), MEMORY_MB: int(found["ram"]), DISK_GB: disk_gb}
    for key, value in extra_specs.items():
        if key.startswith(_RESOURCES):
            resources[key.removeprefix(_RESOURCES)] = int(value)
    return {name: amount for name, amount in resources.items() if amount}


def _traits(found: Mapping[str, Any], wanted: str) -> frozenset[str]:
    extra_specs: Mapping[str, str] = found.get("extra_specs") or {}
    return frozenset(
        key.removeprefix(_TRAIT) for key, value in extra_specs.items() if key.startswith(_TRAIT) and value == wanted
    )
