"""What a flavor of Nova amounts to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue, read_flavor
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases


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


class FakeNova:
    """Nova with one private flavor.

    :ivar projects: may use it
    :ivar asked: number of times that these were read
    """

    def __init__(self) -> None:
        self.projects = ["physics"]
        self.asked = 0
        self.flavor = _flavor({})
        self.flavor.id = "big"
        setattr(self.flavor, "os-flavor-access:is_public", False)
        self.client = SimpleNamespace(get=lambda url: (None, {"flavors": [self.flavor]}))
        self.flavors = SimpleNamespace(resource_class=lambda manager, each, loaded: each, get=self._get)
        self.flavor_access = SimpleNamespace(list=self._access)

    def _get(self, flavor_id: str) -> Any:
        if flavor_id != "big":
            raise NotFound(404)
        return self.flavor

    def _access(self, flavor: Any) -> list[Any]:
        self.asked += 1
        return [SimpleNamespace(tenant_id=each) for each in self.projects]


def test_the_projects_of_a_private_flavor_are_read_when_it_is_looked_up() -> None:
    """Leases have many private flavors, which requests do not name."""
    nova, now = FakeNova(), 0.0
    catalogue = FlavorCatalogue(nova, PciAliases(), lambda: now)
    catalogue.refresh()
    assert nova.asked == 0
    assert catalogue["big"].is_for("physics")
    assert not catalogue["big"].is_for("biology")
    assert nova.asked == 1
    nova.projects.append("biology")
    now = 10.0
    assert catalogue["big"].is_for("biology")


def test_a_flavor_that_was_deleted_is_none() -> None:
    nova, now = FakeNova(), 0.0
    catalogue = FlavorCatalogue(nova, PciAliases(), lambda: now)
    assert "big" in catalogue
    assert "small" not in catalogue
    nova.flavor.id = "other"
    nova.flavors.get = lambda flavor_id: (_ for _ in ()).throw(NotFound(404))
    now = 10.0
    assert "big" not in catalogue
