"""What extra specs of flavors say about resources, in groups and outside of them (issue 18)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.cloud.nova.api import extra_specs
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.flavors import WantedFlavor, read_flavor
from lease_scheduler.cloud.nova.api.names import labels
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources

GPU = ProviderGroup(Resources({"VGPU": 1}), frozenset({"CUSTOM_A100"}))
NETWORK = ProviderGroup(Resources({"NET_BW_EGR_KILOBIT_PER_SEC": 10, "NET_BW_IGR_KILOBIT_PER_SEC": 20}))


def test_numbered_and_named_groups() -> None:
    said = {
        "resources:VCPU": "0",
        "resources1:NET_BW_EGR_KILOBIT_PER_SEC": "10",
        "resources1:NET_BW_IGR_KILOBIT_PER_SEC": "20",
        "resources_GPU:VGPU": "1",
        "trait_GPU:CUSTOM_A100": "required",
        "trait_GPU:CUSTOM_T4": "forbidden",
        "trait7:CUSTOM_LONELY": "required",
        "group_policy": "none",
    }
    flavor = SimpleNamespace(vcpus=2, ram=512, disk=0, swap="", extra_specs=said)
    assert read_flavor(flavor, PciAliases()) == Flavor({"MEMORY_MB": 512}, frozenset(), (NETWORK, GPU))


def test_the_flavor_of_a_lease_asks_for_its_groups() -> None:
    wanted = WantedFlavor(labels("an-id", 0), {"VCPU": 2}, shared=True, claims=False, groups=(GPU, GPU))
    said = wanted.extra_specs("an-id")
    assert said["resources:VCPU"] == "0"
    assert {
        key: value for key, value in said.items() if "_LEASE" in key and key[0] in "rt" and "CUSTOM_LEASE" not in key
    } == {
        "resources_LEASE0:VGPU": "1",
        "trait_LEASE0:CUSTOM_A100": "required",
        "resources_LEASE1:VGPU": "1",
        "trait_LEASE1:CUSTOM_A100": "required",
    }
    assert said["group_policy"] == "none"
    assert extra_specs.groups(said) == (GPU, GPU)
    assert all(extra_specs.is_asked(key) for key in said if key.startswith(("resources", "trait")))
    for groups in ((), (GPU,)):
        # Nova's AggregateInstanceExtraSpecsFilter would look for it in the metadata of aggregates.
        plain = WantedFlavor(labels("an-id", 0), {"VCPU": 2}, shared=True, claims=False, groups=groups)
        assert "group_policy" not in plain.extra_specs("an-id")


def test_the_second_disk_of_a_server_is_not_part_of_its_root_disk() -> None:
    wanted = WantedFlavor(labels("an-id", 0), {"VCPU": 2, "DISK_GB": 25}, shared=True, claims=False, ephemeral_gb=20)
    assert wanted.size == (1, 2, 5)


def test_a_server_claims_what_its_groups_say() -> None:
    flavor = {
        "vcpus": 2,
        "ram": 512,
        "disk": 1,
        "extra_specs": extra_specs.asking_for([GPU, NETWORK, GPU], PciAliases()),
    }
    server = SimpleNamespace(flavor=flavor)
    assert of.claims(server)["VGPU"] == 2
    assert of.has_some_of(server, {"VGPU": 1})
    assert not of.has_some_of(server, {"VGPU": 0, "CUSTOM_PCI_A": 1})


@pytest.mark.parametrize(("vcpus", "shares_per_vcpu", "said"), [(4, 100, "400"), (1, 1, "2"), (128, 100, "10000")])
def test_cpu_time_is_weighed_by_cpus_within_what_cgroups_accept(vcpus: int, shares_per_vcpu: int, said: str) -> None:
    wanted = WantedFlavor(
        labels("an-id", 0), {"VCPU": vcpus}, shared=True, claims=False, shares_per_vcpu=shares_per_vcpu
    )
    assert wanted.extra_specs("an-id")["quota:cpu_shares"] == said


@pytest.mark.parametrize(("fluid", "said"), [(3, "100"), (4, "2")])
def test_a_server_of_a_fluid_lease_is_weighed_by_the_cpus_that_it_holds(fluid: int, said: str) -> None:
    """So servers that hold all their CPUs get these, whatever the fluid ones would use."""
    wanted = WantedFlavor(labels("an-id", 0), {"VCPU": 4}, shared=True, claims=False, shares_per_vcpu=100, fluid=fluid)
    assert wanted.extra_specs("an-id")["quota:cpu_shares"] == said


def test_by_default_cpu_time_is_not_weighed() -> None:
    wanted = WantedFlavor(labels("an-id", 0), {"VCPU": 4}, shared=True, claims=False)
    assert not [key for key in wanted.extra_specs("an-id") if key.startswith("quota")]
