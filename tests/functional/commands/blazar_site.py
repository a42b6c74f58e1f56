"""The database of a Blazar 18 site: tables made by Blazar's migrations, rows written by Blazar's database API."""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from benchmarks.service_against_blazar import blazar
from tests.servers.base import MissingServerError, ServerError
from tests.servers.openstack.environment import variables

#: The present instant of these tests.
NOW = 1_900_000_000
MINUTE, HOUR, DAY = 60, 3_600, 86_400

NETWORK = "6ff6ee6b-3ab4-4f4c-8bd5-bd36cb9a12d2"
FLAVOR = {
    "id": "m1.large",
    "vcpus": 2,
    "ram": 2048,
    "disk": 20,
    "swap": "",
    "OS-FLV-EXT-DATA:ephemeral": 5,
    "extra_specs": {"trait:HW_CPU_X86_AVX2": "required"},
}

_LIMIT_SECONDS = 120
_ROWS = Path(__file__).with_name("blazar_rows.py")

Calls = list[tuple[str, Any]]


def environment(cache: Path) -> Path:
    """Return Blazar's Python; create its environment from the package index unless it exists.

    :param cache: folder that is kept from run to run and may be used by several runs at once
    :raises MissingServerError: it cannot be installed
    """
    home = cache / f"environment-{blazar.VERSION}"
    # A second process waits here, and then finds everything installed.
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            blazar.install(home, cache / "install.log")
        except ServerError as error:
            raise MissingServerError(f"Blazar cannot be installed: {error}") from error
    return home / "bin" / "python"


def fill(python: Path, url: str, calls: Calls, folder: Path) -> None:
    """Create Blazar's tables in an empty database, and rows in them."""
    configuration = folder / "blazar.conf"
    configuration.write_text(f"[database]\nconnection = {url.replace('%', '%%')}\n")
    file = folder / "calls.json"
    file.write_text(json.dumps(calls))
    words = [str(python), str(_ROWS), str(configuration), str(file)]
    ended = subprocess.run(
        words, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False, env=variables(), cwd=folder
    )
    if ended.returncode:
        raise ServerError(f"Blazar's database cannot be filled:\n{ended.stdout}\n{ended.stderr}")


def id_of(name: str) -> str:
    """Return an id that is always the same for the same name."""
    return str(uuid5(NAMESPACE_URL, f"blazar {name}"))


def date(instant: int) -> str:
    """Return an instant in the format in which Blazar stores it."""
    return datetime.fromtimestamp(instant, UTC).replace(tzinfo=None).isoformat()


def host(number: str, reservable: bool = True, **properties: str) -> Calls:
    """Return a host with 16 GB and 8 CPUs, of which Placement offers 32."""
    facts = {
        "id": number,
        "hypervisor_hostname": f"node{number}",
        "service_name": f"node{number}",
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8002001,
        "cpu_info": '{"arch": "x86_64"}',
        "vcpus": 8,
        "memory_mb": 16384,
        "local_gb": 200,
        "availability_zone": "nova",
        "trust_id": f"trust of {number}",
        "reservable": reservable,
    }
    common = {"computehost_id": number, "min_unit": 1, "step_size": 1}
    inventory = (
        {"resource_class": "VCPU", "total": 8, "reserved": 0, "max_unit": 8, "allocation_ratio": 4.0},
        {"resource_class": "MEMORY_MB", "total": 16384, "reserved": 512, "max_unit": 16384, "allocation_ratio": 1.0},
        {"resource_class": "DISK_GB", "total": 200, "reserved": 0, "max_unit": 200, "allocation_ratio": 1.0},
    )
    return [
        ("host_create", facts),
        *(("host_resource_inventory_create", {**common, **each}) for each in inventory),
        ("host_trait_create", {"computehost_id": number, "trait": "HW_CPU_X86_AVX2"}),
        *(
            (
                "host_extra_capability_create",
                {"computehost_id": number, "property_name": name, "capability_value": value},
            )
            for name, value in properties.items()
        ),
    ]


def floating_ip(last: int) -> Calls:
    """Return an address of the network."""
    values = {"id": id_of(f"address {last}"), "floating_network_id": NETWORK, "subnet_id": "subnet"}
    return [("floatingip_create", {**values, "floating_ip_address": f"203.0.113.{last}", "reservable": True})]


def lease(
    name: str, status: str, start: int, end: int, *reservations: Calls, created: int = -DAY, **values: object
) -> Calls:
    """Return a lease with its events.

    :param start: in seconds from the present instant, like ``end`` and ``created``
    :param reservations: made by ``of_hosts``, ``of_instances`` or ``of_floating_ips``
    """
    begun, over = status in ("ACTIVE", "TERMINATED"), status == "TERMINATED"
    times = {"start_lease": (start, begun), "end_lease": (end, over), "before_end_lease": (end - HOUR, end < HOUR)}
    lease_id = id_of(name)
    return [
        (
            "lease_create",
            {
                "id": lease_id,
                "name": name,
                "user_id": f"user of {name}",
                "project_id": f"project of {name}",
                "trust_id": f"trust of {name}",
                "status": status,
                "start_date": date(NOW + start),
                "end_date": date(NOW + end),
                "created_at": date(NOW + created),
                "events": [
                    {"event_type": kind, "time": date(NOW + instant), "status": "DONE" if is_done else "UNDONE"}
                    for kind, (instant, is_done) in times.items()
                ],
                **values,
            },
        ),
        *(
            (function, {**row, "lease_id": lease_id} if function == "reservation_create" else row)
            for calls in reservations
            for function, row in calls
        ),
    ]


def reservation(name: str, resource_type: str, flags: Mapping[str, bool] | None = None) -> Calls:
    """Return the part that all reservations have in common. It is in the list of the lease's reservations."""
    common = {"id": id_of(name), "resource_id": id_of(f"terms of {name}"), "resource_type": resource_type}
    return [("reservation_create", {**common, "status": "pending", **(flags or {})})]


def of_hosts(name: str, count_range: str, hosts: Sequence[str], properties: str = "", before_end: str = "") -> Calls:
    """Return a reservation of whole hosts."""
    terms = {
        "count_range": count_range,
        "hypervisor_properties": "",
        "resource_properties": properties,
        "before_end": before_end,
        "aggregate_id": 7,
    }
    return [
        *reservation(name, "physical:host"),
        ("host_reservation_create", {"id": id_of(f"terms of {name}"), "reservation_id": id_of(name), **terms}),
        *_allocations(name, hosts),
    ]


def of_instances(
    name: str,
    amount: int,
    hosts: Sequence[str],
    terms: Mapping[str, Any],
    kind: str = "virtual:instance",
    **flags: bool,
) -> Calls:
    """Return a reservation of instances. A host is named once for each instance on it."""
    common = {"affinity": None, "resource_properties": "", "flavor_id": id_of(name), "aggregate_id": 8}
    row = {**common, "amount": amount, **terms, "reservation_id": id_of(name)}
    return [
        *reservation(name, kind, flags=flags),
        ("instance_reservation_create", {"id": id_of(f"terms of {name}"), **row}),
        *_allocations(name, hosts),
    ]


def of_floating_ips(name: str, amount: int, required: Sequence[int], allocated: Sequence[int]) -> Calls:
    """Return a reservation of addresses."""
    terms = id_of(f"terms of {name}")
    return [
        *reservation(name, "virtual:floatingip"),
        (
            "fip_reservation_create",
            {"id": terms, "reservation_id": id_of(name), "network_id": NETWORK, "amount": amount},
        ),
        *(
            ("required_fip_create", {"address": f"203.0.113.{last}", "floatingip_reservation_id": terms})
            for last in required
        ),
        *(
            ("fip_allocation_create", {"floatingip_id": id_of(f"address {last}"), "reservation_id": id_of(name)})
            for last in allocated
        ),
    ]


def _allocations(name: str, hosts: Sequence[str]) -> Calls:
    return [("host_allocation_create", {"compute_host_id": each, "reservation_id": id_of(name)}) for each in hosts]


SMALL = {"vcpus": 2, "memory_mb": 2048, "disk_gb": 10}
LARGE = {"vcpus": 2, "memory_mb": 2048, "disk_gb": 20, "resource_properties": json.dumps(FLAVOR)}

#: Leases that have not started, with times in seconds from the present instant.
PENDING = {
    "hosts": (DAY, 2 * DAY),
    # It starts when "running" ends, on the same host.
    "slots": (10 * MINUTE, 40 * MINUTE),
    "soon": (5 * MINUTE, 3 * HOUR),
    "together": (3 * DAY, 4 * DAY),
    "empty": (DAY, 2 * DAY),
}
ACTIVE = {"running": (-DAY, 10 * MINUTE), "flavor": (-HOUR, 3 * HOUR)}


def example() -> Calls:
    """Return four hosts, three addresses, and leases of every type and status."""
    gpu = '["==", "$gpu", "yes"]'
    return [
        *host("1", gpu="yes", rack="a"),
        *host("2", rack="a"),
        *host("3", rack="b"),
        *host("10", reservable=False),
        *host("node-x"),
        ("resource_property_update", ["physical:host", "rack", {"private": True}]),
        *(call for last in (10, 11, 12) for call in floating_ip(last)),
        *lease("hosts", "PENDING", *PENDING["hosts"], of_hosts("one host", "1-2", ["1"], gpu)),
        *lease("running", "ACTIVE", *ACTIVE["running"], of_hosts("all of 2", "1-1", ["2"], before_end="snapshot")),
        *lease(
            "slots",
            "PENDING",
            *PENDING["slots"],
            of_instances("three slots", 3, ["3", "2", "3"], SMALL, resources_changed=True),
            degraded=True,
        ),
        *lease("flavor", "ACTIVE", *ACTIVE["flavor"], of_instances("two", 2, ["3", "3"], LARGE, "flavor:instance")),
        *lease("soon", "PENDING", *PENDING["soon"], of_instances("one slot", 1, ["3"], SMALL)),
        *lease(
            "together",
            "PENDING",
            *PENDING["together"],
            of_instances("pair", 2, ["1", "1"], {**SMALL, "affinity": True}),
            of_floating_ips("addresses", 2, [11], [10, 11]),
        ),
        *lease("empty", "PENDING", *PENDING["empty"]),
        *lease("failed", "ERROR", -HOUR, HOUR, of_hosts("failed", "1-1", ["1"])),
        *lease("missed", "PENDING", -2 * HOUR, -HOUR, of_hosts("missed", "1-1", ["1"])),
        *lease("over", "TERMINATED", -3 * DAY, -2 * DAY, of_hosts("was over", "1-1", [])),
        *lease("vlan", "PENDING", DAY, 2 * DAY, reservation("vlan", "network")),
    ]
