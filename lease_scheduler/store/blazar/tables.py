"""The tables of Blazar 16 to 18 that are read, with the columns that are used.

They correspond to Blazar's ``blazar/db/sqlalchemy/models.py``.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, MetaData, String, Table, Text

METADATA = MetaData()


def _table(name: str, *columns: Column[object]) -> Table:
    """Return a table with the given columns and those that all tables of Blazar have."""
    common = (
        Column("id", String(36), primary_key=True),
        Column("created_at", DateTime),
        Column("updated_at", DateTime),
    )
    return Table(name, METADATA, *common, *columns)


LEASES = _table(
    "leases",
    Column("name", String(80)),
    Column("user_id", String(255)),
    Column("project_id", String(255)),
    Column("start_date", DateTime),
    Column("end_date", DateTime),
    Column("trust_id", String(36)),
    Column("status", String(255)),
    Column("degraded", Boolean),
)

RESERVATIONS = _table(
    "reservations",
    Column("lease_id", String(36)),
    Column("resource_id", String(36)),
    Column("resource_type", String(66)),
    Column("status", String(13)),
    Column("missing_resources", Boolean),
    Column("resources_changed", Boolean),
)

EVENTS = _table(
    "events",
    Column("lease_id", String(36)),
    Column("event_type", String(66)),
    Column("time", DateTime),
    Column("status", String(13)),
)

HOST_RESERVATIONS = _table(
    "computehost_reservations",
    Column("reservation_id", String(36)),
    Column("resource_properties", Text),
    Column("count_range", String(36)),
    Column("hypervisor_properties", Text),
    Column("before_end", String(36)),
)

INSTANCE_RESERVATIONS = _table(
    "instance_reservations",
    Column("reservation_id", String(36)),
    Column("vcpus", Integer),
    Column("memory_mb", Integer),
    Column("disk_gb", Integer),
    Column("amount", Integer),
    Column("affinity", Boolean),
    Column("resource_properties", Text),
    Column("aggregate_id", Integer),
    Column("server_group_id", String(36)),
)

HOST_ALLOCATIONS = _table(
    "computehost_allocations", Column("compute_host_id", String(36)), Column("reservation_id", String(36))
)

HOSTS = _table(
    "computehosts",
    Column("vcpus", Integer),
    Column("cpu_info", Text),
    Column("hypervisor_type", Text),
    Column("hypervisor_version", Integer),
    Column("hypervisor_hostname", String(255)),
    Column("service_name", String(255)),
    Column("memory_mb", Integer),
    Column("local_gb", Integer),
    Column("availability_zone", String(255)),
    Column("trust_id", String(36)),
    Column("reservable", Boolean),
)

PROPERTIES = _table(
    "resource_properties",
    Column("resource_type", String(255)),
    Column("property_name", String(255)),
    Column("private", Boolean),
)

CAPABILITIES = _table(
    "computehost_extra_capabilities",
    Column("computehost_id", String(36)),
    Column("property_id", String(36)),
    Column("capability_value", Text),
)

INVENTORIES = _table(
    "computehost_resource_inventory",
    Column("computehost_id", String(36)),
    Column("resource_class", String(255)),
    Column("total", Integer),
    Column("reserved", Integer),
    Column("max_unit", Integer),
    Column("allocation_ratio", Float),
)

TRAITS = _table("computehost_trait", Column("computehost_id", String(36)), Column("trait", String(255)))

FLOATING_IP_RESERVATIONS = _table(
    "floatingip_reservations",
    Column("reservation_id", String(36)),
    Column("network_id", String(255)),
    Column("amount", Integer),
)

REQUIRED_FLOATING_IPS = _table(
    "required_floatingips", Column("address", String(255)), Column("floatingip_reservation_id", String(36))
)

FLOATING_IP_ALLOCATIONS = _table(
    "floatingip_allocations", Column("floatingip_id", String(36)), Column("reservation_id", String(36))
)

FLOATING_IPS = _table(
    "floatingips",
    Column("floating_network_id", String(255)),
    Column("subnet_id", String(255)),
    Column("floating_ip_address", String(255)),
    Column("reservable", Boolean),
)
