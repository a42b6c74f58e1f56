"""Hosts, allocations and floating IP addresses as clients see them."""

from __future__ import annotations

from lease_scheduler.api.dates import lease_date, row_date
from lease_scheduler.api.microversions import V1_24, V1_26, V1_27, Version
from lease_scheduler.api.request import ApiRequest
from lease_scheduler.api.schemas.hosts import facts
from lease_scheduler.model.documents import Document
from lease_scheduler.model.power import HostPower, PowerState


def show_host(request: ApiRequest, host: Document) -> Document:
    """Return a host with its capabilities, in Blazar's form."""
    version = request.version
    capabilities = {name: str(value) for name, value in host["properties"].items() if name not in facts(version)}
    power = _power(request, host) if version >= V1_27 else {}
    shown = capabilities | {
        "id": str(host["id"]),
        "hypervisor_hostname": host["name"],
        "hypervisor_type": host["hypervisor_type"],
        "hypervisor_version": host["hypervisor_version"],
        "vcpus": host["vcpus"],
        "cpu_info": host["cpu_info"],
        "memory_mb": host["memory_mb"],
        "local_gb": host["local_gb"],
        "service_name": host["service_name"],
        "availability_zone": host["availability_zone"],
        # Blazar's monitor sets this to false for a host that is out of service.
        "reservable": host["reservable"] and host["out_until"] is None,
        "status": None,
        "trust_id": host["trust_id"],
        "created_at": row_date(host["created_at"]),
        "updated_at": row_date(host["updated_at"]),
        **power,
    }
    if version >= V1_24:
        shown |= {
            "resources": host["capacity"],
            "traits": host["traits"],
            "providers": [
                {"name": each["name"], "resources": each["capacity"], "traits": each["traits"]}
                for each in host["providers"] or []
            ],
        }
    if version >= V1_26:
        shown["pool"] = host["pool"]
    return shown


def _power(request: ApiRequest, host: Document) -> Document:
    """Return whether a host sleeps, and how much energy it has saved so far."""
    power: HostPower | None = host["power"]
    if power is None:
        return {"power_state": PowerState.AWAKE.value, "power_since": None, "energy_saved_wh": 0.0}
    watts = request.services.settings.watts.of(host["properties"])
    return {
        "power_state": power.state.value,
        "power_since": lease_date(power.since),
        "energy_saved_wh": round(watts.saved_wh(power.seconds_asleep(request.now)), 3),
    }


def show_allocation(allocation: Document) -> Document:
    """Return the reservations on a host, in Blazar's form."""
    return {
        "resource_id": str(allocation["resource_id"]),
        "reservations": [
            {
                "id": reservation["id"],
                "lease_id": reservation["lease_id"],
                "start_date": lease_date(reservation["start"]),
                "end_date": lease_date(reservation["end"]),
            }
            for reservation in allocation["reservations"]
        ],
    }


def show_floatingip(address: Document, version: Version) -> Document:
    """Return a floating IP address, in Blazar's form."""
    pool = {"pool": address["pool"]} if version >= V1_26 else {}
    return pool | {
        "id": address["id"],
        "floating_network_id": address["floating_network_id"],
        "subnet_id": address["subnet_id"],
        "floating_ip_address": address["floating_ip_address"],
        "reservable": address["reservable"],
        "created_at": row_date(address["created_at"]),
        "updated_at": row_date(address["updated_at"]),
    }
