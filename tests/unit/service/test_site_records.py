"""The records of a site follow the hosts that come, go, and are out of service."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from lease_scheduler.records.pool import HostRecord, ProviderRecord
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.service.provider_terms import NestedClasses
from lease_scheduler.service.site_records import SiteRecords
from lease_scheduler.service.unit_of_work import UnitOfWork


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
    return SiteRecords(Snapshot(**{**empty, "hosts": hosts, "private_properties": {}}), UnitOfWork(1))


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
    assert records.nested == NestedClasses()
    records.put_host(replace(records.hosts[1], providers=(gpu,), traits=("HW_CPU_X86_VMX",)))
    found = records.nested
    assert found == NestedClasses({"VGPU": frozenset({"CUSTOM_A100"})}, frozenset({"HW_CPU_X86_VMX"}))
    records.put_host(replace(records.hosts[1], out_until=60))
    assert records.nested is found
    records.put_host(replace(records.hosts[2], traits=("CUSTOM_FAST",)))
    assert records.nested.of_hosts == {"HW_CPU_X86_VMX", "CUSTOM_FAST"}
    records.remove_host(1)
    assert records.nested == NestedClasses()
