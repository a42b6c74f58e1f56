"""GPUs of simulated hosts, leased by the printed command and shown by every interface (issue 18)."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.cloud.simulated_hypervisors import SimulatedHypervisors
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.records.pool import ProviderRecord
from tests.compat.inside import InsideShell
from tests.compat.printed import blocks
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, until
from tests.servers.reservation import ReservationService

_A100 = "CUSTOM_NVIDIA_A100"
_CAPACITY = {"VCPU": 32, "MEMORY_MB": 65_536, "DISK_GB": 500, HOST_SHARE: WHOLE_HOST}


def _gpu_host(name: str) -> Hypervisor:
    gpus = tuple(ProviderRecord(f"{name}_gpu{number}", {"VGPU": 2}, {"VGPU": 2}, (_A100,)) for number in range(2))
    return Hypervisor(name, 32, 65_536, 500, _CAPACITY, service_name=name, hypervisor_id=name, providers=gpus)


def _started(made: ReservationService) -> ReservationService:
    """Start a service with ``gpu-1``, which has two GPUs of two units each, beside two hosts without GPUs."""
    made.start()
    path = next(made.folder.rglob("simulated-cloud.sqlite"))
    with closing(sqlite3.connect(path)) as cloud, cloud:
        SimulatedHypervisors(cloud).add([_gpu_host("gpu-1")])
    rest = Rest(made)
    rest.register(2)
    rest.post("os-hosts", {"name": "gpu-1"})
    return made


@pytest.fixture
def service(make: Make) -> ReservationService:
    return _started(make(configuration="[simulated_cloud]\nhosts = 2\n"))


def _printed() -> list[str]:
    (block,) = [each for each in blocks() if each.script.startswith("openstack lease create training")]
    (command,) = block.commands
    return shlex.split(command)[1:]


def _group(reservation: Mapping[str, Any]) -> list[Any]:
    return [(each["resources"], each["traits"]) for each in reservation["groups"]]


def test_the_printed_command_leases_gpus(service: ReservationService) -> None:
    rest, shell = Rest(service), InsideShell(service)
    made = shell.openstack(*_printed(), "-f", "json").document
    until(lambda: rest.state(made) == "active")
    lease = rest.get(f"leases/{made['id']}")["lease"]
    assert _group(lease["reservations"][0]) == [({"VGPU": 1}, [_A100])] * 2
    assert [each["hypervisor_hostname"] for each in rest.get(f"leases/{made['id']}/hosts")["hosts"]] == ["gpu-1"]
    # Four units are all that there are.
    refused = shell.openstack("lease", "quote", "more", *_printed()[3:], "-f", "json").document
    assert refused["granted"] is False
    assert f"not enough 1 VGPU with {_A100}: at most 0 at once" in refused["reason"]
    free = shell.openstack("lease", "availability", "--duration", "1h", "--nodes", "vcpus=1,group=VGPU:1", "-f", "json")
    assert not any(window["Start"] < lease["end_date"] for window in free.document)


def test_restarts_and_accounts_know_them(service: ReservationService) -> None:
    rest = Rest(service)
    nodes = [{"count": 1, "resources": {"VCPU": 1, "VGPU": 2}, "traits": [_A100]}]
    body = {"name": "gpu", "kind": "immediate", "duration": 86_400, "nodes": nodes}
    made = rest.post("leases", body)["lease"]
    until(lambda: rest.state(made) == "active")
    assert service.interrupt() == 0
    service.start()
    host = next(each for each in rest.get("os-hosts")["hosts"] if each["hypervisor_hostname"] == "gpu-1")
    assert [each["name"] for each in host["providers"]] == ["gpu-1_gpu0", "gpu-1_gpu1"]
    assert (host["resources"]["VCPU"], host["providers"][0]["resources"]) == (32, {"VGPU": 2})
    # Another two of one GPU fit only if the plan knew how the rest is spread over both, which Placement decides.
    again = rest.ask("POST", "leases", {**body, "nodes": [{**nodes[0], "resources": {"VCPU": 1, "VGPU": 2}}]})
    assert again.status_code == 409
    units = rest.ask("POST", "leases", {**body, "nodes": [{**nodes[0], "resources": {"VCPU": 1, "VGPU": 1}}]})
    assert units.status_code == 201, units.text
    usage = rest.get("usage?all_projects=true")["usage"]
    assert usage[0]["resource_hours"].keys() >= {"VCPU", "VGPU"}


def test_a_pool_has_the_devices_of_its_own_hosts_only(make: Make) -> None:
    """A request that names no pool goes where the devices are, by what its project may use; also after a host moved."""
    pools = "[pools]\nnames = general, gpu\n[pool:gpu]\nhosts = gpu-*\nprojects = physics\n"
    service = _started(make(configuration=f"[simulated_cloud]\nhosts = 2\n{pools}"))
    admin, member = Rest(service), Rest(service, X_Project_Id="physics", X_User_Id="ada", X_Roles="member")
    other = Rest(service, X_Project_Id="biology", X_User_Id="bob", X_Roles="member")
    groups = [{"resources": {"VGPU": 2}, "traits": [_A100]}]
    times = {"kind": "immediate", "duration": 86_400}
    body = {"name": "gpu", **times, "nodes": [{"count": 1, "resources": {"VCPU": 1}, "groups": groups}]}
    plain = {"name": "plain", **times, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}

    made = member.post("leases", body)["lease"]
    assert (made["pool"], member.post("leases", plain)["lease"]["pool"]) == ("gpu", "general")
    assert [each["hypervisor_hostname"] for each in member.get(f"leases/{made['id']}/hosts")["hosts"]] == ["gpu-1"]
    elsewhere = member.ask("POST", "leases", {**body, "pool": "general"})
    assert elsewhere.status_code == 409
    assert (
        f"pool general: nodes: no host with {_A100} is large enough for a node of VCPU:1,VGPU:2"
        in (elsewhere.json()["error_message"])
    )
    forbidden = other.post("quotes", body)["quote"]
    assert forbidden["granted"] is False
    assert "pool gpu" not in forbidden["reason"]
    for pool, has_some in (("general", False), ("gpu", True)):
        found = member.get(f"availability?vcpus=1&groups=VGPU:1@{_A100}&duration=3600&pool={pool}")["availability"]
        assert bool(found["windows"]) is has_some

    member.ask("DELETE", f"leases/{made['id']}")
    until(lambda: admin.ask("PUT", "os-hosts/3", {"pool": "general"}).status_code == 200)
    assert other.post("leases", body)["lease"]["pool"] == "general"
    assert not member.post("quotes", {**body, "pool": "gpu"})["quote"]["granted"]
