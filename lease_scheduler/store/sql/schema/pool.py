"""The tables of sites, and of what can be leased."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKey, Integer, String, Table, Text, UniqueConstraint

from lease_scheduler.store.sql.schema.base import ID, KEYSTONE_ID, METADATA, SERIAL

#: One row per site. ``epoch`` is the fencing number of the engine that may write; ``revision`` counts its transactions.
SITES = Table(
    "sites",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("engine", String(255), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("next_sequence", BigInteger, nullable=False),
    Column("clock", BigInteger, nullable=False),
)

HOSTS = Table(
    "hosts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("hypervisor_type", String(255), nullable=False),
    Column("hypervisor_version", Integer, nullable=False),
    Column("vcpus", Integer, nullable=False),
    Column("cpu_info", Text, nullable=False),
    Column("memory_mb", Integer, nullable=False),
    Column("local_gb", Integer, nullable=False),
    Column("service_name", String(255), nullable=False),
    Column("availability_zone", String(255)),
    Column("capacity", JSON, nullable=False),
    Column("max_unit", JSON, nullable=False),
    Column("traits", JSON, nullable=False),
    # Nested resource providers; none where the host was last written before there were any.
    Column("providers", JSON),
    Column("reservable", Boolean, nullable=False),
    # Expected end of an outage of the host.
    Column("out_until", BigInteger),
    # Whether it is awake (model.power.PowerState), since when, and for how many seconds it has slept before.
    Column("power", String(16)),
    Column("power_since", BigInteger),
    Column("slept", BigInteger),
    Column("trust_id", KEYSTONE_ID),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    Column("pool", String(64)),
)

#: Changes of the capacity that the reservable hosts and addresses offer together, in service or not.
CAPACITY_CHANGES = Table(
    "capacity_changes",
    METADATA,
    Column("id", SERIAL, primary_key=True),
    Column("instant", BigInteger, nullable=False, index=True),
    Column("resource_class", String(255), nullable=False),
    Column("change", BigInteger, nullable=False),
)

#: Disk images that are known or assumed to be in the caches of hosts.
CACHED_IMAGES = Table(
    "cached_images",
    METADATA,
    Column("host_id", Integer, ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("image_id", KEYSTONE_ID, primary_key=True),
    # Instant at which a server last used the image, or at which it was transferred to the host.
    Column("used", BigInteger, nullable=False),
)

HOST_PROPERTIES = Table(
    "host_properties",
    METADATA,
    Column("host_id", Integer, ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

RESOURCE_PROPERTIES = Table(
    "resource_properties",
    METADATA,
    Column("resource_type", String(64), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("private", Boolean, nullable=False),
)

FLOATING_IPS = Table(
    "floating_ips",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("floating_network_id", String(255), nullable=False),
    Column("subnet_id", String(255)),
    Column("floating_ip_address", String(64), nullable=False),
    Column("reservable", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    Column("pool", String(64)),
    UniqueConstraint("floating_ip_address"),
)

#: Where projects want notifications sent. The columns from ``failures`` on are written by the threads that send.
# Leases whose servers use nothing; not columns of the lease, because they change often and are no new version of it.
IDLENESS = Table(
    "idleness",
    METADATA,
    Column("lease_id", ID, ForeignKey("leases.id", ondelete="CASCADE"), primary_key=True),
    Column("since", BigInteger, nullable=False),
    # Seconds for which it was seen, and when it was last seen.
    Column("seconds", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    # Instant at which its project was told, and the seconds then.
    Column("told_at", BigInteger),
    Column("told_seconds", BigInteger, nullable=False),
)
