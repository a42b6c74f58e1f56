"""What servers of a lease see, and what is held for them."""

from __future__ import annotations

from lease_scheduler.cloud.nova.lease.lease_parts import Vm, held, of_server
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, Resources


def test_servers_of_a_fluid_lease_see_all_vcpu_but_hold_a_part() -> None:
    """Two servers of four VCPU on one host, of which the lease holds a quarter (issue 22)."""
    nodes = NodeSet(1, Resources({VCPU: 8, MEMORY_MB: 128, HOST_SHARE: 2})).made_fluid(0.25)
    vm = Vm(0, 0, "compute-1", nodes.resources, 2, fluid=nodes.fluid)
    assert held(vm) == {VCPU: 2, MEMORY_MB: 128}
    assert of_server(vm) == {VCPU: 4, MEMORY_MB: 64, HOST_SHARE: 1}


def test_servers_of_other_leases_see_what_is_held() -> None:
    vm = Vm(0, 0, "compute-1", Resources({VCPU: 8, HOST_SHARE: 2}), 2)
    assert held(vm) == {VCPU: 8}
    assert of_server(vm) == {VCPU: 4, HOST_SHARE: 1}
