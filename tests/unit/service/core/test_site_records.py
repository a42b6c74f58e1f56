"""The records of a site follow the hosts that come, go, and are out of service."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from lease_scheduler.records.pool import HostRecord, ProviderRecord
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.service.core.provider_terms import NestedClasses
from lease_scheduler.service.core.site_records import SiteRecords
from lease_scheduler.service.core.unit_of_work import UnitOfWork


def _host(number: int, out_until: int | None = None) -> HostRecord:
    return HostRecord(
        host_id=number,
        name=f"compute-{number}",
        vcpus=8,
        memory_mb=1_024,
        local_gb=10,
        created_at=0,
        capacity={"VCPU": 8},
        out_until=out_until,
    )


def _records(*hosts: HostRecord) -> SiteRecords:
    empty: dict[str, Any] = {each.name: () for each in fields(Snapshot)}
    return SiteRecords(
        Snapshot(**{**empty, "hosts": hosts, "private_properties": {}, "policy_state": {}}), UnitOfWork(1)
    )


def test_hosts_out_of_service_are_known_after_a_restart_and_every_change() -> None:
    records = _records(_host(1), _host(2, out_until=50))
    assert records.out_of_service == {2}
    records.put_host(replace(records.hosts[1], out_until=60))
    assert records.out_of_service == {1, 2}
    records.put_host(replace(records.hosts[2], out_until=None))
    assert records.out_of_service == {1}
    records.remove_host(1)
    assert records.out_of_service == set()


def test_what_hosts_nest_is_known_after_every_change_and_found_anew_only_then() -> None:
    gpu = ProviderRecord("gpu", {"VGPU": 1}, traits=("CUSTOM_A100",))
    records = _records(_host(1), _host(2))
    assert records.nested_in(None) == NestedClasses()
    records.put_host(replace(records.hosts[1], providers=(gpu,), traits=("HW_CPU_X86_VMX",)))
    found = records.nested_in(None)
    assert found == NestedClasses({"VGPU": frozenset({"CUSTOM_A100"})}, frozenset({"HW_CPU_X86_VMX"}))
    records.put_host(replace(records.hosts[1], out_until=60))
    assert records.nested_in(None) is found
    records.put_host(replace(records.hosts[2], traits=("CUSTOM_FAST",)))
    assert records.nested_in(None).of_hosts == {"HW_CPU_X86_VMX", "CUSTOM_FAST"}
    records.remove_host(1)
    assert records.nested_in(None) == NestedClasses()


def test_a_pool_nests_what_its_own_hosts_do() -> None:
    gpu = ProviderRecord("gpu", {"VGPU": 1}, traits=("CUSTOM_A100",))
    records = _records(
        replace(_host(1), pool="a", providers=(gpu,)), replace(_host(2), pool="b", traits=("CUSTOM_A100",))
    )
    nested = NestedClasses({"VGPU": frozenset({"CUSTOM_A100"})})
    assert (records.nested_in("a"), records.nested_in("b")) == (nested, NestedClasses())
    records.put_host(replace(records.hosts[1], pool="b"))
    assert records.nested_in("a") == NestedClasses()
    assert records.nested_in("b") == replace(nested, of_hosts=frozenset({"CUSTOM_A100"}))
