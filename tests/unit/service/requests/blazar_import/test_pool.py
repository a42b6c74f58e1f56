from __future__ import annotations

from lease_scheduler.records.pool import HostRecord
from lease_scheduler.service.requests.blazar_import.takeover import Takeover
from lease_scheduler.store.blazar.contents import Inventory
from tests.unit.service.requests.blazar_import.blazar_values import floating_ip, host, lease, of_hosts, taken


def _host(found: Takeover) -> HostRecord:
    record = found.changes.hosts[1]
    assert record is not None
    return record


def _left_out(found: Takeover) -> dict[str, str]:
    return {each.what: each.reason for each in found.left_out}


def test_what_may_be_leased_is_what_placement_gives_away() -> None:
    inventories = (Inventory("VCPU", 8, 1, 4, 2.5), Inventory("CUSTOM_GPU", 1, 1, 1, 1.0))
    record = _host(taken(hosts=(host("1", inventories=inventories),)))
    assert (record.capacity, record.max_unit) == ({"VCPU": 17}, {"VCPU": 4, "CUSTOM_GPU": 1})


def test_a_host_without_inventory_has_what_the_hypervisor_has() -> None:
    record = _host(taken(hosts=(host("1", inventories=()),)))
    assert (record.capacity, record.max_unit) == ({"VCPU": 8, "MEMORY_MB": 100, "DISK_GB": 10}, {})
    assert (record.service_name, record.availability_zone, record.trust_id) == ("node1", None, None)


def test_hosts_that_cannot_keep_their_id_or_name_are_left_out() -> None:
    hosts = (
        host("1"),
        host("02"),
        host("0"),
        host("-3"),
        host("1000000000"),
        host("\N{SUPERSCRIPT TWO}"),
        host("5", name="node1"),
        host("6", name=None),
    )
    found = taken(hosts=hosts)
    assert list(found.changes.hosts) == [1]
    assert list(_left_out(found).values()) == [
        *["its id is not a number that can be stored"] * 5,
        "there is another host of Blazar's with its name",
        "it has no name",
    ]


def test_a_lease_on_a_host_that_is_left_out_refuses() -> None:
    found = taken(lease(of_hosts("1-1", "5")), hosts=(host("1"), host("5", name="node1")))
    assert [each.reason for each in found.refused] == ["it has host or floating IP 5, which is not taken over"]


def test_names_of_properties_that_are_too_long() -> None:
    found = taken(hosts=(host("1", properties={"x" * 64: "a", "y" * 65: "b"}),))
    assert _host(found).properties == {"x" * 64: "a"}
    (difference,) = found.differences
    assert "y" * 65 in difference.reason


def test_addresses() -> None:
    ips = (floating_ip(1), floating_ip(2, address="203.0.113.1"), floating_ip(3, address="2001:DB8::0:1"))
    found = taken(floating_ips=(*ips, floating_ip(4, address="somewhere")))
    assert {key: ip.floating_ip_address for key, ip in found.changes.floating_ips.items() if ip} == {
        "ip1": "203.0.113.1",
        "ip3": "2001:db8::1",
    }
    assert len(found.left_out) == 2
