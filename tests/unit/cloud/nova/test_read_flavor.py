"""What a flavor of Nova amounts to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.cloud.nova.flavors import read_flavor
from lease_scheduler.cloud.nova.pci_aliases import PciAliases


def _flavor(listed: dict[str, str] | None, asked: dict[str, str] | None = None) -> Any:
    def get_keys() -> dict[str, str]:
        assert asked is not None, "Nova has said it already"
        return asked

    said = {} if listed is None else {"extra_specs": listed}
    return SimpleNamespace(vcpus=2, ram=512, disk=1, swap="", get_keys=get_keys, **said)


@pytest.mark.parametrize(
    "found", [_flavor({}), _flavor(None, {}), _flavor({"hw:cpu_policy": "shared"})], ids=["listed", "asked", "more"]
)
def test_a_flavor_without_extra_specs_is_not_asked_for_again(found: Any) -> None:
    """Every flavor is read at each interval, and one without extra specs would cost a request each time."""
    assert read_flavor(found, PciAliases()) == Flavor({"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 1}, frozenset())


def test_extra_specs_that_count() -> None:
    said = {"resources:CUSTOM_GPU": "1", "resources:VCPU": "0", "trait:HW_GPU": "required", "trait:SLOW": "forbidden"}
    found = Flavor({"MEMORY_MB": 512, "DISK_GB": 1, "CUSTOM_GPU": 1}, frozenset({"HW_GPU"}))
    assert read_flavor(_flavor(None, said), PciAliases()) == read_flavor(_flavor(said), PciAliases()) == found
