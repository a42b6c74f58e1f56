from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.service.requests.blazar_import.findings import NotTakenError
from lease_scheduler.service.requests.blazar_import.flavors import source_flavor

_PLAIN: dict[str, Any] = {"id": "7", "vcpus": 2, "ram": 512, "disk": 10, "extra_specs": {}}


def _needs(**changes: Any) -> dict[str, int]:
    return dict(source_flavor(json.dumps({**_PLAIN, **changes})).needs.resources)


def test_a_server_needs_what_nova_asks_placement_for() -> None:
    assert _needs() == {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 10}
    # Swap is in MB, and an empty text if there is none.
    assert _needs(swap=1025, **{"OS-FLV-EXT-DATA:ephemeral": 3})["DISK_GB"] == 15
    assert _needs(swap="", disk=0) == {"VCPU": 2, "MEMORY_MB": 512}
    assert _needs(extra_specs={"hw:cpu_policy": "dedicated"}) == {"PCPU": 2, "MEMORY_MB": 512, "DISK_GB": 10}
    special = _needs(extra_specs={"resources:CUSTOM_GPU": "1", "resources:VCPU": "0", "hw:numa_nodes": "1"})
    assert special == {"CUSTOM_GPU": 1, "MEMORY_MB": 512, "DISK_GB": 10}


def test_traits() -> None:
    found = source_flavor(json.dumps({**_PLAIN, "extra_specs": {"trait:FAST": "required", "trait:OLD": "forbidden"}}))
    assert found.flavor_id == "7"
    assert found.needs.traits == {"FAST"}
    assert found.forbidden == {"OLD"}


@pytest.mark.parametrize("text", [None, "", "nonsense", "[]", '"text"', '{"id": "7"}', '{"id": "7", "vcpus": "many"}'])
def test_what_is_no_flavor(text: str | None) -> None:
    with pytest.raises(NotTakenError, match="flavor"):
        source_flavor(text)
