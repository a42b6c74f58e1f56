"""PCI aliases of Nova, by which flavors of leases ask for devices (issue 18)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lease_scheduler.cloud.nova.api import extra_specs
from lease_scheduler.cloud.nova.api.flavors import WantedFlavor, read_flavor
from lease_scheduler.cloud.nova.api.names import labels
from lease_scheduler.cloud.nova.api.pci_aliases import ALIAS, PciAliases, parse
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources

A100, FPGA = "CUSTOM_PCI_10DE_20B0", "CUSTOM_FPGA"
ONE_A100 = ProviderGroup(Resources({A100: 1}))
ONE_FPGA = ProviderGroup(Resources({FPGA: 1}), frozenset({"CUSTOM_FAST", "CUSTOM_NEAR"}))
GPU = ProviderGroup(Resources({"VGPU": 1}))


@pytest.fixture
def aliases() -> PciAliases:
    return parse(
        [
            '{"name": "a100", "vendor_id": "10de", "product_id": "20b0", "device_type": "type-PCI"}',
            '{"name": " fpga ", "resource_class": "CUSTOM_FPGA", "traits": "CUSTOM_NEAR, CUSTOM_FAST"}',
        ]
    )


def test_an_alias_is_spelled_out_as_nova_asks_for_it(aliases: PciAliases) -> None:
    """Each device in a group of its own. What an alias asks for that is not configured is not known."""
    said = {ALIAS: "a100:2, fpga:1,other:3", "resources1:VGPU": "1"}
    assert extra_specs.groups(aliases.spelled_out(said)) == (GPU, ONE_A100, ONE_A100, ONE_FPGA)
    assert (aliases.unknown(said), aliases.unknown({ALIAS: "a100:1"}), aliases.unknown({})) == (["other"], [], [])
    assert aliases.spelled_out({"resources1:VGPU": "1"}) == {"resources1:VGPU": "1"}
    assert extra_specs.groups(aliases.spelled_out({ALIAS: "a100"})) == ()


def test_the_flavor_of_a_lease_asks_by_alias_and_only_once(aliases: PciAliases) -> None:
    groups = (ONE_FPGA, GPU, ProviderGroup(Resources({A100: 2})))
    wanted = WantedFlavor(labels("an-id", 0), {}, shared=True, claims=False, groups=groups, aliases=aliases)
    said = wanted.extra_specs("an-id")
    assert (said[ALIAS], extra_specs.is_asked(ALIAS)) == ("a100:2,fpga:1", True)
    assert extra_specs.groups(said) == (GPU,)
    assert extra_specs.groups(aliases.spelled_out(said)) == (ONE_A100, ONE_A100, ONE_FPGA, GPU)
    without = WantedFlavor(labels("an-id", 0), {}, shared=True, claims=False, groups=groups)
    assert ALIAS not in without.extra_specs("an-id")


def test_devices_without_an_alias_of_their_own_are_a_problem(aliases: PciAliases) -> None:
    """An alias with other traits stands for other devices."""
    for group in (ONE_A100, ONE_FPGA, GPU, ProviderGroup(Resources({A100: 2}))):
        assert aliases.problem(group) is None
    near = ProviderGroup(Resources({FPGA: 1}), frozenset({"CUSTOM_NEAR"}))
    assert aliases.problem(near) == (
        "no PCI alias stands for 1 CUSTOM_FPGA with CUSTOM_NEAR; "
        "ask for 1 CUSTOM_FPGA with CUSTOM_FAST, CUSTOM_NEAR, or for whole hosts (exclusive)"
    )
    both = ProviderGroup(Resources({A100: 1, "VGPU": 1}))
    assert "no PCI alias" in (aliases.problem(both) or "")
    assert PciAliases().problem(ONE_A100) == (
        "no PCI alias stands for 1 CUSTOM_PCI_10DE_20B0; ask for whole hosts (exclusive)"
    )


def test_a_flavor_with_an_alias_that_is_not_configured_has_a_problem(aliases: PciAliases) -> None:
    flavor = SimpleNamespace(vcpus=1, ram=512, disk=0, swap="", extra_specs={ALIAS: "a100:1,other:1"})
    assert "no alias other is configured" in (read_flavor(flavor, aliases).problem or "")
    flavor.extra_specs = {ALIAS: "a100:1"}
    assert read_flavor(flavor, aliases).problem is None


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["{"], "must be JSON as in nova.conf"),
        (["[]"], "must be an object with a name"),
        (['{"name": " "}'], "must be an object with a name"),
        (['{"name": "a", "vendor_id": "10de"}'], "must have a resource_class, or vendor_id and product_id"),
        (['{"name": "a", "vendor_id": "10de", "product_id": "xyz"}'], "four hexadecimal digits"),
        (['{"name": "a", "resource_class": "gpu"}'], "resource_class of a must be as Placement names it, not gpu"),
        (['{"name": "a", "resource_class": "CUSTOM_A", "traits": "x"}'], "traits of a must be as Placement names it"),
        (['{"name": "a", "resource_class": "CUSTOM_A"}'] * 2, "a is there twice"),
        (
            ['{"name": "a", "resource_class": "CUSTOM_A"}', '{"name": "b", "resource_class": "CUSTOM_A"}'],
            "b and a stand for the same devices",
        ),
        (['{"name": "a:1", "resource_class": "CUSTOM_A"}'], "cannot be asked for"),
    ],
)
def test_lines_that_nova_does_not_accept_are_refused(lines: list[str], reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        parse(lines)
