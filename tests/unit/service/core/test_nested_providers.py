"""Leases of GPUs and other devices, which are nested resource providers of hosts (issue 18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cloud.facts import Flavor, Hypervisor
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import HOST_SHARE, Resources
from lease_scheduler.records.pool import HostRecord, ProviderRecord
from lease_scheduler.service.core.policies import PoolPlanning
from lease_scheduler.service.core.provider_terms import Needs, NestedClasses, divide
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies
from tests.unit.service.conftest import BEGIN, HOUR

A100, T4 = "CUSTOM_A100", "CUSTOM_T4"
ONE = Resources({"VGPU": 1})


def _gpu(name: str, total: int, trait: str) -> ProviderRecord:
    return ProviderRecord(name, {"VGPU": total}, {"VGPU": total}, (trait,))


def _host(name: str, *providers: ProviderRecord) -> Hypervisor:
    (plain,) = hypervisors([name])
    return replace(plain, providers=providers, traits=("HW_CPU_X86_VMX",))


@pytest.fixture
def gpus(core: Any) -> Any:
    """Beside two hosts without GPUs, one with two GPUs of different types and one with one."""
    core.cloud.add_hypervisors(
        [_host("gpu-1", _gpu("gpu-1_a", 2, A100), _gpu("gpu-1_b", 2, T4)), _host("gpu-2", _gpu("gpu-2_a", 1, T4))]
    )
    core.pool.create_hosts({}, ["gpu-1", "gpu-2"])
    return core


def _nodes(count: int = 1, **more: Any) -> list[Mapping[str, Any]]:
    nodes = {"count": count, "resources": {"VCPU": 1}, "properties": "", **more}
    terms = {"vcpus": 1, "memory_mb": 0, "disk_gb": 0, "amount": count, "affinity": None, "nodes": [nodes]}
    return [{"id": str(uuid4()), "resource_type": "virtual:instance", **terms}]


def _ask(core: Any, count: int = 1, **more: Any) -> list[str]:
    """Ask for a lease and return the names of its hosts, sorted."""
    return _hosts(core, core.ask(reservations=_nodes(count, **more), preemption_mode="shelve"))


def _gpu_group(trait: str | None = None, amount: int = 1) -> dict[str, Any]:
    return {"resources": {"VGPU": amount}, "traits": [] if trait is None else [trait]}


def test_a_class_of_a_provider_is_asked_for_like_any_other(gpus: Any) -> None:
    """Its trait too: no host has it itself."""
    assert _ask(gpus, resources={"VCPU": 1, "VGPU": 1}, traits=[A100]) == ["gpu-1"]
    assert _ask(gpus, 3, resources={"VCPU": 1, "VGPU": 1}, traits=[T4]) == ["gpu-1", "gpu-1", "gpu-2"]
    with pytest.raises(RefusedError, match="no place"):
        _ask(gpus, resources={"VCPU": 1, "VGPU": 1}, traits=[T4])
    assert _ask(gpus, groups=[_gpu_group(A100)]) == ["gpu-1"]


def test_groups_come_from_one_provider_each(gpus: Any) -> None:
    assert _ask(gpus, groups=[_gpu_group(A100), _gpu_group(T4)]) == ["gpu-1"]
    # The second one might come from the A100 too, so both of its units must be free.
    with pytest.raises(RefusedError, match="no place"):
        _ask(gpus, groups=[_gpu_group(A100), _gpu_group()])
    with pytest.raises(RefusedError, match="no host is large enough for a node of VCPU:1 and 3 VGPU"):
        _ask(gpus, groups=[_gpu_group(amount=3)])
    with pytest.raises(RefusedError, match="1 VGPU with CUSTOM_H100"):
        _ask(gpus, groups=[_gpu_group("CUSTOM_H100")])


def test_refusals_say_how_many_there_are_at_once(gpus: Any) -> None:
    with pytest.raises(RefusedError, match="not enough 1 VGPU with CUSTOM_A100: at most 2 at once, 3 needed"):
        _ask(gpus, 3, groups=[_gpu_group(A100)])
    _ask(gpus, groups=[_gpu_group(A100)])
    terms: dict[str, Any] = {"start": BEGIN + HOUR, "end": BEGIN + 2 * HOUR, "preemption_mode": "shelve"}
    document = lease_document("quote", "reservation", **terms, reservations=_nodes(2, groups=[_gpu_group(A100)]))
    reason = gpus.quotes.quote({"sees_site": True}, document)["reason"]
    assert "there is not enough 1 VGPU with CUSTOM_A100: at most 1 at once, 2 needed" in reason


def test_availability_counts_devices(gpus: Any) -> None:
    query = {"start": BEGIN, "end": BEGIN + HOUR, "duration": 60, "count": 2}
    nodes = _nodes(groups=[_gpu_group(A100)])[0]["nodes"][0]
    found = gpus.quotes.availability({}, {**query, "nodes": nodes})
    assert [window["count"] for window in found["windows"]] == [2]
    assert not gpus.quotes.availability({}, {**query, "nodes": nodes, "count": 3})["windows"]


@pytest.mark.parametrize("mode", ["suspend", "stop"])
def test_servers_that_stay_would_keep_their_devices(gpus: Any, mode: str) -> None:
    with pytest.raises((RefusedError, InvalidValueError), match="keep their devices"):
        gpus.ask(reservations=_nodes(groups=[_gpu_group()]), preemption_mode=mode)


def test_a_flavor_with_groups_is_leased_with_its_devices(gpus: Any) -> None:
    gpus.cloud.flavors = {
        "gpu": Flavor({"VCPU": 1, "MEMORY_MB": 10, "VGPU": 1}, frozenset({A100})),
        "two": Flavor({"VCPU": 1}, groups=(ProviderGroup(ONE, frozenset({T4})),)),
    }
    reservation = {"resource_type": "flavor:instance", "amount": 2, "affinity": None}
    for flavor_id, trait in (("gpu", A100), ("two", T4)):
        terms = [{"id": str(uuid4()), "flavor_id": flavor_id, **reservation}]
        lease = gpus.lease(gpus.ask(reservations=terms, preemption_mode="shelve"))
        assert lease.request.nodes[0].groups == (ProviderGroup(ONE, frozenset({trait})),)
        assert "VGPU" not in lease.request.nodes[0].resources


def test_instances_that_stay_together_need_the_devices_of_all(gpus: Any) -> None:
    gpus.cloud.flavors = {"gpu": Flavor({"VCPU": 1, "VGPU": 1})}
    terms = {"id": str(uuid4()), "resource_type": "flavor:instance", "flavor_id": "gpu", "amount": 2, "affinity": True}
    lease = gpus.lease(gpus.ask(reservations=[terms], preemption_mode="shelve"))
    assert lease.request.nodes[0].groups == (ProviderGroup(ONE), ProviderGroup(ONE))


def test_a_lost_gpu_moves_its_lease(gpus: Any) -> None:
    """The cloud says that the host has one GPU less."""
    lease_id = gpus.ask(reservations=_nodes(groups=[_gpu_group(T4)]), preemption_mode="shelve")
    assert _hosts(gpus, lease_id) == ["gpu-1"]
    gpus.cloud.add_hypervisors([_host("gpu-1", _gpu("gpu-1_a", 2, A100))])
    gpus.pool.refresh(["gpu-1"])
    gpus.site.step()
    assert _hosts(gpus, lease_id) == ["gpu-2"]


def _hosts(core: Any, lease_id: str) -> list[str]:
    return sorted(core.site.engine.site.hosts[number].name for number in core.lease(lease_id).holdings[0].assignment)


def test_ranges_are_of_the_host_only(gpus: Any) -> None:
    """Elastic nodes: CPUs in a range beside a GPU are granted, GPUs in a range are refused."""
    lease = gpus.lease(
        gpus.ask(
            reservations=_nodes(resources={"VCPU": 4, "VGPU": 1}, least_resources={"VCPU": 1}),
            preemption_mode="shelve",
        )
    )
    assert lease.request.nodes[0].needs == {"VCPU": 4, HOST_SHARE: 1, "VGPU": 1}
    with pytest.raises((RefusedError, InvalidValueError), match="least_resources.VGPU"):
        gpus.ask(
            reservations=_nodes(resources={"VCPU": 4, "VGPU": 2}, least_resources={"VGPU": 1}),
            preemption_mode="shelve",
        )


def test_devices_that_servers_could_not_use_are_refused(gpus: Any) -> None:
    """On whole hosts, the project chooses the flavors, unless the engine boots the servers."""
    gpus.cloud.devices.problem = lambda group: "no alias" if A100 in group.traits else None
    lease_id = gpus.ask(reservations=_nodes(groups=[_gpu_group(T4)]), preemption_mode="shelve")
    unusable = _nodes(groups=[_gpu_group(A100)])
    with pytest.raises((RefusedError, InvalidValueError), match="nodes.groups.*no alias"):
        gpus.ask(reservations=unusable, preemption_mode="shelve")
    changed = {"id": gpus.site.work.documents[lease_id].reservations[0].reservation_id, "nodes": unusable[0]["nodes"]}
    with pytest.raises((RefusedError, InvalidValueError), match="nodes.groups.*no alias"):
        gpus.leases.update({}, lease_id, {"reservations": [changed]})
    whole = _nodes(groups=[_gpu_group(A100)], exclusive=True)
    later: dict[str, Any] = {"start": BEGIN + 4 * HOUR, "end": BEGIN + 5 * HOUR, "preemption_mode": "shelve"}
    assert _hosts(gpus, gpus.ask(reservations=whole, **later)) == ["gpu-1"]


def test_flavors_whose_devices_cannot_be_leased_are_refused(gpus: Any) -> None:
    gpus.cloud.flavors = {"pci": Flavor({"VCPU": 1}, problem="no alias fpga")}
    terms = {"id": str(uuid4()), "resource_type": "flavor:instance", "flavor_id": "pci", "amount": 1, "affinity": None}
    with pytest.raises((RefusedError, InvalidValueError), match=r"reservations\[0\].flavor_id.*no alias fpga"):
        gpus.ask(reservations=[terms])


@pytest.fixture
def two_pools(lead: Any) -> Any:
    """In one pool, a GPU is a provider of its own; in the other one, a host has it itself, with its trait."""
    planning = PoolPlanning(site_policies(), EngineOptions(explain_refusals=False))
    core = lead(pools={"nested": planning, "flat": planning})
    (flat,) = hypervisors(["flat-1"], VGPU=1)
    core.cloud.add_hypervisors([_host("gpu-1", _gpu("gpu-1_a", 1, T4)), replace(flat, traits=(T4,))])
    core.pool.create_hosts({}, ["gpu-1"], pool="nested")
    core.pool.create_hosts({}, ["flat-1"], pool="flat")
    return core


def test_what_hosts_of_another_pool_have_makes_no_difference(two_pools: Any) -> None:
    wanted: dict[str, Any] = {"resources": {"VCPU": 1, "VGPU": 1}, "traits": [T4]}
    nested = two_pools.lease(two_pools.ask(reservations=_nodes(**wanted), pool="nested", preemption_mode="shelve"))
    assert nested.request.nodes[0].groups == (ProviderGroup(ONE, frozenset({T4})),)
    assert _hosts(two_pools, nested.lease_id) == ["gpu-1"]
    # Servers that are suspended claim nothing there.
    flat = two_pools.lease(two_pools.ask(reservations=_nodes(**wanted), pool="flat", preemption_mode="suspend"))
    assert (flat.request.nodes[0].groups, flat.request.nodes[0].required_traits) == ((), frozenset({T4}))
    assert _hosts(two_pools, flat.lease_id) == ["flat-1"]


def test_a_request_is_divided_for_each_pool_that_is_tried(two_pools: Any) -> None:
    wanted: dict[str, Any] = {"resources": {"VCPU": 1, "VGPU": 1}, "traits": [T4]}
    leases = [two_pools.ask(reservations=_nodes(**wanted), preemption_mode="shelve") for _ in range(2)]
    assert [_hosts(two_pools, lease_id) for lease_id in leases] == [["gpu-1"], ["flat-1"]]
    with pytest.raises(RefusedError, match="pool nested: .*; pool flat: "):
        two_pools.ask(reservations=_nodes(**wanted), preemption_mode="shelve")


def test_a_pool_in_which_a_request_makes_no_sense_is_left_out(two_pools: Any) -> None:
    wanted: dict[str, Any] = {"resources": {"VCPU": 1, "VGPU": 1}, "traits": [T4]}
    lease_id = two_pools.ask(reservations=_nodes(**wanted), preemption_mode="suspend")
    assert _hosts(two_pools, lease_id) == ["flat-1"]
    with pytest.raises((RefusedError, InvalidValueError), match="keep their devices"):
        two_pools.ask(reservations=_nodes(**wanted), preemption_mode="suspend", pools=["nested"])


def test_a_lease_that_is_changed_is_divided_for_its_pool(two_pools: Any) -> None:
    wanted: dict[str, Any] = {"resources": {"VCPU": 1, "VGPU": 1}, "traits": [T4]}
    lease_id = two_pools.ask(reservations=_nodes(**wanted), pool="flat", preemption_mode="suspend")
    (reservation,) = two_pools.site.work.documents[lease_id].reservations
    nodes = {**reservation.terms["nodes"][0], "resources": {"VCPU": 2, "VGPU": 1}}
    changed = [{"id": reservation.reservation_id, "nodes": [nodes]}]
    two_pools.leases.update({}, lease_id, {"reservations": changed})
    assert two_pools.lease(lease_id).request.nodes[0].groups == ()


def test_availability_is_that_of_a_pool(two_pools: Any) -> None:
    query = {"start": BEGIN, "end": BEGIN + HOUR, "duration": 60, "count": 1}
    nodes = _nodes(resources={"VCPU": 1, "VGPU": 1}, traits=[T4])[0]["nodes"][0]
    for pool in ("nested", "flat"):
        found = two_pools.quotes.availability({}, {**query, "nodes": nodes, "pool": pool})
        assert [window["count"] for window in found["windows"]] == [1]


def test_division() -> None:
    """What no host nests is needed of the host itself; so are traits that a host has itself."""
    gpus, nothing = NestedClasses.of([_record(_gpu("a", 1, A100)), _record()]), NestedClasses.of([_record()])
    wanted = Needs({"VCPU": 1, "VGPU": 1}, frozenset({A100, "HW_CPU_X86_VMX"}))
    group = ProviderGroup(ONE, frozenset({A100}))
    assert divide(wanted, gpus) == Needs({"VCPU": 1}, frozenset({"HW_CPU_X86_VMX"}), (group,))
    assert divide(wanted, nothing) == wanted
    cpus = ProviderGroup(Resources({"VCPU": 2}), frozenset({"HW_CPU_X86_VMX"}))
    assert divide(Needs({"VCPU": 1}, groups=(cpus, group)), gpus) == Needs(
        {"VCPU": 3}, frozenset({"HW_CPU_X86_VMX"}), (group,)
    )


def _record(*providers: ProviderRecord) -> HostRecord:
    return HostRecord(1, "host", 8, 1024, 0, BEGIN, {"VCPU": 8}, {}, ("HW_CPU_X86_VMX",), providers=providers)


def test_a_node_needs_its_host_and_its_devices() -> None:
    nodes = NodeSet(2, Resources({"VCPU": 1, HOST_SHARE: 1}), groups=(ProviderGroup(ONE), ProviderGroup(ONE)))
    assert nodes.needs == {"VCPU": 1, HOST_SHARE: 1, "VGPU": 2}
