from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.cloud.nova.api.pci_aliases import parse
from lease_scheduler.rehearsal.cloud.cloud import Device
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site


def _boot(site: Site, flavor_id: str, **options: Any) -> str | None:
    """Boot a server and return its host, or None."""
    made = site.nova().servers.create("job", site.image, flavor_id, nics="none", **options)
    site.clock.run(LONG)
    return site.record(made).host


def test_our_filter_keeps_others_off_the_hosts_of_a_lease(site: Site) -> None:
    nova = site.nova()
    site.cloud.add_flavor("spot", 512, 1, 1, id="spot", extra_specs={"lease:preemptible": "true"})
    pool = nova.aggregates.create("freepool", None)
    for host in HOSTS:
        pool.add_host(host)
    assert _boot(site, site.flavor) is None
    assert _boot(site, "spot") in HOSTS
    lease = nova.aggregates.create("lease-L1", None)
    lease.add_host("host2")
    lease.set_metadata({"lease:id": "L1", "lease:project_id": site.project, "lease:exclusive": "true"})
    assert _boot(site, site.flavor, scheduler_hints={"lease": "L1"}) == "host2"
    assert {_boot(site, "spot") for _ in range(4)} <= {"host1", "host3"}


def test_our_filter_reads_the_clock_of_the_model(site: Site) -> None:
    lease = site.nova().aggregates.create("lease-L1", None)
    lease.add_host("host2")
    start = int(site.clock.now + 10 * LONG)
    said = {"lease:id": "L1", "lease:project_id": site.project, "lease:exclusive": "true", "lease:from": str(start)}
    lease.set_metadata(said)
    assert _boot(site, site.flavor, scheduler_hints={"lease": "L1"}) is None
    site.clock.run(10 * LONG)
    assert _boot(site, site.flavor, scheduler_hints={"lease": "L1"}) == "host2"


def test_our_weigher_sends_a_server_to_its_planned_host(site: Site) -> None:
    nova = site.nova()
    lease = nova.aggregates.create("lease-L1", None)
    for host in HOSTS:
        lease.add_host(host)
    lease.set_metadata({"lease:id": "L1", "lease:project_id": site.project, "lease:exclusive": "true"})
    for host in ("host3", "host3", "host1"):
        assert _boot(site, site.flavor, scheduler_hints={"lease": "L1", "lease:host": host}) == host


@pytest.mark.parametrize(("policy", "hosts"), [("affinity", 1), ("anti-affinity", 3)])
def test_server_groups(site: Site, policy: str, hosts: int) -> None:
    group = site.nova().server_groups.create("mine", policy)
    found = {_boot(site, site.flavor, scheduler_hints={"group": group.id}) for _ in range(3)}
    assert len(found) == hosts
    assert None not in found
    if policy == "anti-affinity":
        assert _boot(site, site.flavor, scheduler_hints={"group": group.id}) is None


def test_zones_hosts_and_services_that_are_disabled(site: Site) -> None:
    nova = site.nova()
    east = nova.aggregates.create("east", "east")
    east.add_host("host3")
    assert _boot(site, site.flavor, availability_zone="east") == "host3"
    assert _boot(site, site.flavor, availability_zone="nova:host2") == "host2"
    assert _boot(site, site.flavor, host="host1") == "host1"
    (service,) = nova.services.list(host="host2")
    nova.services.disable(service.id)
    assert _boot(site, site.flavor, availability_zone="nova:host2") is None
    assert _boot(site, site.flavor, host="host2") is None


def test_filters_for_the_aggregates_of_blazar(site: Site) -> None:
    filters = ("ComputeFilter", "AggregateInstanceExtraSpecsFilter", "AggregateMultiTenancyIsolation")
    site.cloud.nova.options = Options(filters=filters)
    specs = {"aggregate_instance_extra_specs:reservation": "R1", "hw:cpu_policy": "dedicated"}
    site.cloud.add_flavor("reserved", 512, 1, 1, id="reserved", extra_specs=specs)
    assert _boot(site, "reserved") is None
    made = site.nova().aggregates.create("R1", None)
    made.add_host("host2")
    made.set_metadata({"reservation": "R1", "filter_tenant_id": site.project})
    assert _boot(site, "reserved") == "host2"
    made.set_metadata({"filter_tenant_id": "another"})
    assert _boot(site, "reserved") is None


def test_devices_by_groups_and_by_aliases(site: Site) -> None:
    site.cloud.nova.options = Options(pci_aliases=parse(['{"name": "fpga", "resource_class": "CUSTOM_FPGA"}']))
    devices = [Device("0000:17:00.0", "CUSTOM_FPGA"), Device("gpu", "VGPU", 2, frozenset({"CUSTOM_T4"}))]
    host = site.cloud.add_host("host4", devices=devices)
    site.cloud.add_flavor("alias", 64, 1, 1, id="alias", extra_specs={"pci_passthrough:alias": "fpga:1"})
    gpu = {"resources_G:VGPU": "1", "trait_G:CUSTOM_T4": "required"}
    site.cloud.add_flavor("gpu", 64, 1, 1, id="gpu", extra_specs=gpu)
    assert [_boot(site, "alias") for _ in range(2)] == ["host4", None]
    assert [_boot(site, "gpu") for _ in range(3)] == ["host4", "host4", None]
    taken = {each.name: site.cloud.placement.usages(each.id) for each in site.cloud.placement.tree(host.provider_id)}
    assert taken["host4_0000:17:00.0"] == {"CUSTOM_FPGA": 1}
    assert taken["host4_gpu"] == {"VGPU": 2}


def test_several_groups_need_a_policy(site: Site) -> None:
    devices = [Device("gpu", "VGPU", 4)]
    site.cloud.add_host("host4", devices=devices)
    two = {"resources1:VGPU": "1", "resources2:VGPU": "1"}
    site.cloud.add_flavor("none", 64, 1, 1, id="none", extra_specs=two)
    site.cloud.add_flavor("both", 64, 1, 1, id="both", extra_specs={**two, "group_policy": "none"})
    assert _boot(site, "none") is None
    assert _boot(site, "both") == "host4"
