"""Hosts and sites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources

SMALL = Resources({VCPU: 4, MEMORY_MB: 4096})
LARGE = Resources({VCPU: 32, MEMORY_MB: 65_536, DISK_GB: 500})
MIXED = Site.of([Host("b", LARGE, frozenset({"SSD"})), Host("a", SMALL)])


@pytest.mark.parametrize(
    ("demand", "required", "expected"),
    [
        (Resources({VCPU: 4, MEMORY_MB: 4096}), set(), True),
        (Resources({VCPU: 5, MEMORY_MB: 1}), set(), False),
        (Resources({VCPU: 1, DISK_GB: 1}), set(), False),
        (Resources({VCPU: 1}), {"SSD"}, True),
        (Resources({VCPU: 1}), {"SSD", "IB"}, True),
        (Resources({VCPU: 1}), {"GPU"}, False),
        (Resources({VCPU: 1}), {"SSD", "GPU"}, False),
    ],
)
def test_what_an_empty_host_can_hold(demand: Resources, required: set[str], expected: bool) -> None:
    """haizea F2, F3: every class must fit and every required attribute must be there."""
    host = Host("h", SMALL, frozenset({"SSD", "IB"}))
    assert host.can_ever_hold(demand, frozenset(required)) is expected


def test_one_vm_takes_no_more_than_one_instance() -> None:
    """haizea F2: two half CPUs hold two VMs of one half each, but no VM of a whole one."""
    host = Host("h", Resources({VCPU: 100, MEMORY_MB: 1024}), max_unit=Resources({VCPU: 50}))
    assert host.can_ever_hold(Resources({VCPU: 50, MEMORY_MB: 1024}), frozenset())
    assert not host.can_ever_hold(Resources({VCPU: 51}), frozenset())


def test_a_homogeneous_site() -> None:
    """haizea F4: equal hosts, numbered from 1 in their names and from 0 in the plan."""
    site = Site.homogeneous(3, SMALL)
    assert [host.name for host in site.hosts] == ["host-1", "host-2", "host-3"]
    assert {host.capacity for host in site.hosts} == {SMALL}
    assert site.index == {"host-1": 0, "host-2": 1, "host-3": 2}
    assert Site.homogeneous(1, SMALL, prefix="node").hosts[0].name == "node-1"


def test_a_site_keeps_the_order_of_its_hosts() -> None:
    """haizea F1: the number of a host in the plan is its position, not the rank of its name."""
    assert MIXED.index == {"b": 0, "a": 1}
    assert len(MIXED) == 2


def test_classes_and_totals_are_over_all_hosts() -> None:
    """haizea F1: hosts need not offer the same classes."""
    assert MIXED.resource_classes == (DISK_GB, MEMORY_MB, VCPU)
    assert (MIXED.total(VCPU), MIXED.total(DISK_GB), MIXED.total("CUSTOM_FPGA")) == (36, 500, 0)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=20))
def test_the_total_is_the_sum_of_the_capacities(amounts: list[int]) -> None:
    """haizea F4: of any hosts."""
    site = Site.of(Host(str(number), Resources({VCPU: amount})) for number, amount in enumerate(amounts))
    assert site.total(VCPU) == sum(amounts)


def test_a_site_without_hosts_is_refused() -> None:
    """haizea F4: there would be nothing to plan on."""
    with pytest.raises(InvalidValueError, match=r"^hosts: a site needs at least one host$"):
        Site(())
    with pytest.raises(InvalidValueError, match=r"^hosts: "):
        Site.homogeneous(0, SMALL)


def test_two_hosts_of_one_name_are_refused() -> None:
    """haizea F1: hosts are identified to a cloud by their names."""
    message = r"^hosts: two hosts of a site have the same name; names must be unique$"
    with pytest.raises(InvalidValueError, match=message):
        Site.of([Host("a", SMALL), Host("a", LARGE)])
