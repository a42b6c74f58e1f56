"""Hosts and addresses of Blazar in the form of the service."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.records.pool import FOR_GOOD, FloatingIpRecord, HostRecord
from lease_scheduler.service.requests.blazar_import.findings import Finding, NotTakenError
from lease_scheduler.store.blazar.contents import BlazarFloatingIp, BlazarHost, Contents, Inventory

#: Limits of the columns in the database.
_HIGHEST_ID = 999_999_999
_LONGEST_PROPERTY = 64
_LONGEST_TEXT = 255


@dataclass
class TakenPool:
    """Result of the takeover of Blazar's hosts and addresses.

    :ivar hosts: hosts that are new in the pool, by id
    :ivar floating_ips: addresses that are new in the pool, by id
    :ivar known_hosts: number of hosts that are already in the pool
    :ivar known_floating_ips: number of addresses that are already in the pool
    :ivar left_out: hosts and addresses that are not taken over
    :ivar refused: hosts and addresses whose id or name is already used for another one in the pool
    :ivar differences: hosts and addresses that are taken over with changes
    :ivar missing: why a host or address is not taken over, by Blazar's id
    """

    hosts: dict[int, HostRecord] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIpRecord] = field(default_factory=dict)
    known_hosts: int = 0
    known_floating_ips: int = 0
    left_out: list[Finding] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)
    differences: list[Finding] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def take_pool(
    contents: Contents,
    hosts: Iterable[HostRecord],
    floating_ips: Iterable[FloatingIpRecord],
    held: Collection[str],
    now: int,
) -> TakenPool:
    """Return the result of the takeover of Blazar's hosts and addresses.

    :param hosts: hosts that are already in the pool
    :param floating_ips: addresses that are already in the pool
    :param held: Blazar's ids of hosts and addresses that live leases hold
    :param now: creation time for hosts and addresses for which Blazar has none
    """
    taken = TakenPool()
    _take_hosts(taken, contents.hosts, {host.host_id: host.name for host in hosts}, held, now)
    known = {ip.floating_ip_id: ip.floating_ip_address for ip in floating_ips}
    _take_floating_ips(taken, contents.floating_ips, known, held, now)
    return taken


def _take_hosts(
    taken: TakenPool, hosts: Iterable[BlazarHost], known: Mapping[int, str], held: Collection[str], now: int
) -> None:
    # Names of hosts in the pool cannot be given to other hosts.
    names = dict.fromkeys(known.values(), "of the pool here")
    for host in hosts:
        what = f"host {host.host_id} ({host.name or 'without a name'})"
        host_id = _number(host.host_id)
        if host_id is not None and host_id in known:
            if known[host_id] == host.name:
                taken.known_hosts += 1
            else:
                taken.missing[host.host_id] = f"{host.host_id} is host {known[host_id]} here"
                taken.refused.append(Finding(what, f"{host.host_id} is host {known[host_id]} in the pool here"))
            continue
        try:
            if host_id is None:
                raise NotTakenError("its id is not a number that can be stored")
            if not host.name:
                raise NotTakenError("it has no name")
            if host.name in names:
                raise NotTakenError(f"there is another host {names[host.name]} with its name")
        except NotTakenError as error:
            taken.missing[host.host_id] = str(error)
            is_in_pool = host.name in known.values()
            (taken.refused if is_in_pool else taken.left_out).append(Finding(what, str(error)))
            continue
        names[host.name] = "of Blazar's"
        record = host_record(host, host_id, now, is_held=host.host_id in held)
        taken.hosts[host_id] = record
        if not host.reservable:
            how = "is out of service until the cloud says that it is back"
            if record.out_until is None:
                how = "is taken over as reservable, because leases have it"
            taken.differences.append(Finding(what, f"is not reservable in Blazar; it {how}"))
        dropped = sorted(set(host.properties) - set(record.properties))
        if dropped:
            reason = f"properties with names of more than {_LONGEST_PROPERTY} characters are left out: "
            taken.differences.append(Finding(what, reason + ", ".join(dropped)))


def _number(host_id: str) -> int | None:
    """Return the id of a host as a number, or None if it is not a number that can be stored."""
    if not (host_id.isascii() and host_id.isdigit()) or str(int(host_id)) != host_id:
        return None
    return int(host_id) if 1 <= int(host_id) <= _HIGHEST_ID else None


def host_record(host: BlazarHost, host_id: int, now: int, *, is_held: bool) -> HostRecord:
    """Return a host in the form of the service.

    Its capacity is the inventory of Placement, which Blazar copied when the host was registered. A host that was
    registered before Blazar made such copies gets the size of its hypervisor.

    In Blazar a host is not reservable only because its monitor has found it out of service. Here such a host is
    reservable and out of service, until the driver reports that it is back.

    :param is_held: whether a live lease holds the host. It is then in service until the driver reports otherwise,
        because only such a report moves its leases
    """
    inventory = {each.resource_class: each for each in host.inventories}
    capacity = {name: _capacity(each) for name, each in inventory.items()}
    if not capacity:
        capacity = {VCPU: host.vcpus, MEMORY_MB: host.memory_mb, DISK_GB: host.local_gb}
    return HostRecord(
        host_id=host_id,
        name=host.name or "",
        vcpus=host.vcpus,
        memory_mb=host.memory_mb,
        local_gb=host.local_gb,
        created_at=now if host.created_at is None else host.created_at,
        capacity={name: amount for name, amount in capacity.items() if amount > 0},
        max_unit={name: each.max_unit for name, each in inventory.items()},
        traits=host.traits,
        properties={name: value for name, value in host.properties.items() if len(name) <= _LONGEST_PROPERTY},
        hypervisor_type=host.hypervisor_type[:_LONGEST_TEXT],
        hypervisor_version=host.hypervisor_version,
        cpu_info=host.cpu_info,
        service_name=host.service_name or host.name or "",
        availability_zone=host.availability_zone or None,
        out_until=None if host.reservable or is_held else FOR_GOOD,
        trust_id=host.trust_id or None,
        updated_at=host.updated_at,
    )


def _capacity(inventory: Inventory) -> int:
    return int((inventory.total - inventory.reserved) * inventory.allocation_ratio)


def _take_floating_ips(
    taken: TakenPool,
    floating_ips: Iterable[BlazarFloatingIp],
    known: Mapping[str, str],
    held: Collection[str],
    now: int,
) -> None:
    in_pool = set(known.values())
    addresses = set(in_pool)
    for floating_ip in floating_ips:
        floating_ip_id = floating_ip.floating_ip_id
        if floating_ip_id in known:
            taken.known_floating_ips += 1
            continue
        what, address = f"floating IP {floating_ip.address}", ""
        try:
            address = shown_address(floating_ip.address)
            if address in addresses:
                raise NotTakenError("the address is in the pool a second time")
        except NotTakenError as error:
            taken.missing[floating_ip_id] = str(error)
            (taken.refused if address in in_pool else taken.left_out).append(Finding(what, str(error)))
            continue
        addresses.add(address)
        taken.floating_ips[floating_ip_id] = FloatingIpRecord(
            floating_ip_id,
            floating_ip.floating_network_id,
            address,
            now if floating_ip.created_at is None else floating_ip.created_at,
            floating_ip.subnet_id,
            floating_ip.reservable or floating_ip_id in held,
            floating_ip.updated_at,
        )


def shown_address(text: str) -> str:
    """Return an address in the notation of the service.

    :raises NotTakenError: the text is not an IP address
    """
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise NotTakenError(f"{text} is not an IP address") from None
