"""What a lease occupies for accounting."""

from __future__ import annotations

from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST

BIG, SMALL = {"VCPU": 16, "MEMORY_MB": 64, HOST_SHARE: WHOLE_HOST}, {"VCPU": 4, "MEMORY_MB": 8, HOST_SHARE: WHOLE_HOST}


def test_a_vm_occupies_what_it_needs() -> None:
    nodes = [(2, {"VCPU": 2, HOST_SHARE: 1}), (1, {"VCPU": 1, "MEMORY_MB": 3, HOST_SHARE: 1})]
    assert occupation(nodes, [BIG, BIG, SMALL]) == (3, {"VCPU": 5, "MEMORY_MB": 3})


def test_a_whole_host_is_occupied_with_all_that_it_has() -> None:
    assert occupation([(2, {HOST_SHARE: WHOLE_HOST})], [BIG, SMALL]) == (2, {"VCPU": 20, "MEMORY_MB": 72})


def test_an_address_is_no_vm() -> None:
    nodes = [(1, {"VCPU": 1, HOST_SHARE: 1}), (2, {FLOATING_IP: 1})]
    assert occupation(nodes, [BIG, {FLOATING_IP: 1}, {FLOATING_IP: 1}]) == (1, {"VCPU": 1, FLOATING_IP: 2})


def test_no_nodes_occupy_nothing() -> None:
    assert occupation([], []) == (0, {})
