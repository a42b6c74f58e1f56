"""``openstack reservation ...`` of python-blazarclient: every verb."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.compat.inside import InsideShell
from tests.compat.shell import END, START, ReservationService, Shell, parsed, sent, shown

HOST_RESERVATION = 'resource_type=physical:host,min=1,max=2,hypervisor_properties=[">=", "$vcpus", "1"]'
INSTANCE_RESERVATION = (
    "resource_type=virtual:instance,vcpus=1,memory_mb=512,disk_gb=1,amount=2,affinity=False,resource_properties="
)


@pytest.fixture
def shell(reservation_service: ReservationService) -> Shell:
    return InsideShell(reservation_service)


def create_lease(shell: Shell, name: str, *reservations: str) -> dict[str, object]:
    dates = ["--start-date", sent(START), "--end-date", sent(END)]
    asked = [word for reservation in reservations for word in ("--reservation", reservation)]
    lease: dict[str, object] = shell.reservation("lease", "create", name, *dates, *asked)
    return lease


def test_hosts(shell: Shell) -> None:
    host = shell.reservation("host", "create", "compute-1", "--extra", "gpu=yes", "--extra", "rack=7")
    assert (host["hypervisor_hostname"], host["gpu"], host["rack"]) == ("compute-1", "yes", "7")
    shell.reservation("host", "create", "compute-2")
    listed = shell.reservation("host", "list")
    assert [row["hypervisor_hostname"] for row in listed] == ["compute-1", "compute-2"]
    assert set(listed[0]) == {"id", "hypervisor_hostname", "vcpus", "memory_mb", "local_gb"}
    assert "Updated host: compute-1" in shell.done("host", "set", "compute-1", "--extra", "gpu=no")
    by_name, by_id = (shell.reservation("host", "show", name) for name in ("compute-1", host["id"]))
    assert by_name == by_id
    assert (by_name["gpu"], by_name["rack"]) == ("no", "7")
    shell.done("host", "delete", "compute-1")
    shell.done("host", "delete", listed[1]["id"])
    assert shell.reservation("host", "list") == []


def test_the_stand_alone_client(reservation_service: ReservationService) -> None:
    shell = Shell(reservation_service)
    shell.reservation("host", "create", "compute-1", "--extra", "gpu=yes")
    outcome = shell.blazar("host-show", "compute-1")
    assert outcome.status == 0, outcome.errors
    assert all(word in outcome.output for word in ("compute-1", "gpu")), outcome.output


def test_host_properties(shell: Shell) -> None:
    shell.reservation("host", "create", "compute-1", "--extra", "gpu=yes")
    shell.reservation("host", "create", "compute-2", "--extra", "gpu=no", "--extra", "rack=7")
    assert [row["property"] for row in shell.reservation("host", "property", "list")] == ["gpu", "rack"]
    detailed = shell.reservation("host", "property", "list", "--detail")
    assert {row["property"]: sorted(row["property_values"]) for row in detailed} == {
        "gpu": ["no", "yes"],
        "rack": ["7"],
    }
    assert sorted(shell.reservation("host", "property", "show", "gpu")["property_values"]) == ["no", "yes"]
    assert "Updated host property: gpu" in shell.done("host", "property", "set", "gpu", "--private")
    assert [row["property"] for row in shell.reservation("host", "property", "list")] == ["rack"]
    assert [row["property"] for row in shell.reservation("host", "property", "list", "--all")] == ["gpu", "rack"]
    shell.done("host", "property", "set", "gpu", "--public")
    assert [row["property"] for row in shell.reservation("host", "property", "list")] == ["gpu", "rack"]


def test_leases_are_made_listed_shown_and_deleted(shell: Shell) -> None:
    shell.reservation("host", "create", "compute-1")
    shell.reservation("host", "create", "compute-2")
    shell.reservation("host", "create", "compute-3")
    lease = create_lease(shell, "first", HOST_RESERVATION)
    assert (shown(str(lease["start_date"])), shown(str(lease["end_date"]))) == (START, END)
    assert lease["status"] == "PENDING"
    reservation = parsed(lease["reservations"])
    assert (reservation["resource_type"], reservation["min"], reservation["max"]) == ("physical:host", 1, 2)
    create_lease(shell, "second", INSTANCE_RESERVATION.replace("amount=2", "amount=1"))
    rows = shell.reservation("lease", "list")
    assert [row["name"] for row in rows] == ["first", "second"]
    assert set(rows[0]) == {"id", "name", "start_date", "end_date"}
    by_start = shell.reservation("lease", "list", "--sort-by", "start_date")
    assert {row["id"] for row in by_start} == {row["id"] for row in rows}
    assert shell.reservation("lease", "show", "first") == shell.reservation("lease", "show", str(lease["id"]))
    assert "Deleted lease: first" in shell.done("lease", "delete", "first")
    shell.done("lease", "delete", rows[1]["id"])
    assert shell.reservation("lease", "list") == []


def test_a_lease_without_dates_starts_now(shell: Shell) -> None:
    shell.reservation("host", "create", "compute-1")
    lease = shell.reservation("lease", "create", "now", "--reservation", HOST_RESERVATION.replace("max=2", "max=1"))
    length = shown(lease["end_date"]) - shown(lease["start_date"])
    assert timedelta(hours=23) < length <= timedelta(hours=24, minutes=1)


def test_instances_flavors_and_addresses_are_reserved(shell: Shell) -> None:
    shell.reservation("host", "create", "compute-1")
    shell.reservation("host", "create", "compute-2")
    shell.reservation("floatingip", "create", "external", "192.0.2.7")
    instances = parsed(create_lease(shell, "instances", INSTANCE_RESERVATION)["reservations"])
    assert instances["flavor_id"] == instances["id"]
    # Server groups need a real Nova.
    assert instances["server_group_id"] is None
    assert instances["affinity"] is False
    flavors = parsed(
        create_lease(shell, "flavors", "resource_type=flavor:instance,flavor_id=1,amount=1,affinity=None")[
            "reservations"
        ]
    )
    assert flavors["flavor_id"] == flavors["id"]
    addresses = parsed(
        create_lease(
            shell,
            "addresses",
            'resource_type=virtual:floatingip,network_id=external,amount=1,required_floatingips=["192.0.2.7"]',
        )["reservations"]
    )
    assert addresses["required_floatingips"] == ["192.0.2.7"]


def test_before_end_and_events_are_taken(shell: Shell) -> None:
    shell.reservation("host", "create", "compute-1")
    before_end = END - timedelta(minutes=10)
    lease = shell.reservation(
        *("lease", "create", "warned", "--start-date", sent(START), "--end-date", sent(END)),
        *("--before-end-date", sent(before_end), "--reservation", HOST_RESERVATION.replace("max=2", "max=1")),
        *("--event", f"event_type=notification,event_date={sent(before_end)}"),
    )
    events = [parsed(event) for event in str(lease["events"]).split("\n{")[:1]]
    assert events
    assert sent(before_end).replace(" ", "T") in str(lease["events"])


@pytest.mark.parametrize(
    ("options", "start", "end"),
    [
        (["--prolong-for", "2h"], START, END + timedelta(hours=2)),
        (["--reduce-by", "90m"], START, END - timedelta(minutes=90)),
        (["--end-date", sent(END + timedelta(days=1))], START, END + timedelta(days=1)),
        (["--defer-by", "1h"], START + timedelta(hours=1), END),
        (["--advance-by", "1d"], START - timedelta(days=1), END),
        (["--start-date", sent(START - timedelta(hours=2))], START - timedelta(hours=2), END),
        (["--defer-by", "1d", "--prolong-for", "1d"], START + timedelta(days=1), END + timedelta(days=1)),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_dates_of_a_lease_change(shell: Shell, options: list[str], start: object, end: object) -> None:
    shell.reservation("host", "create", "compute-1")
    lease = create_lease(shell, "moving", HOST_RESERVATION.replace("max=2", "max=1"))
    assert "Updated lease: moving" in shell.done("lease", "set", "moving", *options)
    changed = shell.reservation("lease", "show", str(lease["id"]))
    assert (shown(changed["start_date"]), shown(changed["end_date"])) == (start, end)


def test_name_and_reservations_of_a_lease_change(shell: Shell) -> None:
    for name in ("compute-1", "compute-2"):
        shell.reservation("host", "create", name)
    lease = create_lease(shell, "old", HOST_RESERVATION.replace("max=2", "max=1"))
    reservation_id = parsed(lease["reservations"])["id"]
    shell.done("lease", "set", "old", "--name", "new", "--reservation", f"id={reservation_id},min=2,max=2")
    changed = shell.reservation("lease", "show", "new")
    assert changed["id"] == lease["id"]
    reservation = parsed(changed["reservations"])
    assert (reservation["id"], reservation["min"], reservation["max"]) == (reservation_id, 2, 2)


def test_allocations(shell: Shell) -> None:
    host = shell.reservation("host", "create", "compute-1")
    first = create_lease(shell, "first", HOST_RESERVATION.replace("max=2", "max=1"))
    later = ["--start-date", sent(END), "--end-date", sent(END + timedelta(hours=1))]
    one_host = HOST_RESERVATION.replace("max=2", "max=1")
    second = shell.reservation("lease", "create", "second", *later, "--reservation", one_host)
    (row,) = shell.reservation("allocation", "list", "host")
    assert row["resource_id"] == host["id"]
    assert {each["lease_id"] for each in row["reservations"]} == {first["id"], second["id"]}
    (row,) = shell.reservation("allocation", "list", "host", "--lease-id", str(second["id"]))
    assert [each["lease_id"] for each in row["reservations"]] == [second["id"]]
    reservation_id = parsed(first["reservations"])["id"]
    (row,) = shell.reservation("allocation", "list", "host", "--reservation-id", reservation_id)
    assert [each["id"] for each in row["reservations"]] == [reservation_id]
    for name in ("compute-1", host["id"]):
        shown_allocation = shell.reservation("allocation", "show", "host", name)
        assert shown_allocation["resource_id"] == host["id"]
        assert str(first["id"]) in str(shown_allocation["reservations"])
    only_second = shell.reservation("allocation", "show", "host", host["id"], "--lease-id", str(second["id"]))
    assert str(first["id"]) not in str(only_second["reservations"])


def test_floating_ips(shell: Shell) -> None:
    address = shell.reservation("floatingip", "create", "external", "192.0.2.7")
    assert (address["floating_network_id"], address["floating_ip_address"]) == ("external", "192.0.2.7")
    (row,) = shell.reservation("floatingip", "list")
    assert set(row) == {"id", "floating_ip_address", "floating_network_id"}
    assert shell.reservation("floatingip", "show", address["id"]) == address
    shell.done("floatingip", "delete", address["id"])
    assert shell.reservation("floatingip", "list") == []


def test_what_the_service_refuses_is_told_in_its_words(shell: Shell) -> None:
    unknown = shell.openstack("reservation", "lease", "show", "nobody")
    assert unknown.status == 1
    assert "Unable to find resource with name 'nobody'" in unknown.errors
    absent = shell.openstack("reservation", "lease", "delete", "00000000-0000-4000-8000-000000000000")
    assert absent.status == 1
    assert "ERROR: " in absent.errors
    dates = ["--start-date", sent(START), "--end-date", sent(END)]
    full = shell.openstack("reservation", "lease", "create", "x", *dates, "--reservation", HOST_RESERVATION)
    assert full.status == 1
    assert "Not enough hosts available" in full.errors
