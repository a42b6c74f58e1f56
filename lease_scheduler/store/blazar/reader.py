"""The reader of Blazar's database, which reads all of it as of one instant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, create_engine, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.blazar import tables
from lease_scheduler.store.blazar.contents import (
    BlazarFloatingIp,
    BlazarHost,
    BlazarLease,
    BlazarReservation,
    Contents,
    Inventory,
)

#: The resource type of hosts.
_HOST = "physical:host"

#: Statuses of events whose notification was sent or tried; it is not sent again.
_TOLD = frozenset({"DONE", "ERROR"})

_HOST_TERMS = ("count_range", "hypervisor_properties", "resource_properties", "before_end")
_INSTANCE_TERMS = (
    "vcpus",
    "memory_mb",
    "disk_gb",
    "amount",
    "affinity",
    "resource_properties",
    "aggregate_id",
    "server_group_id",
)
_FLOATING_IP_TERMS = ("network_id", "amount")

Rows = Mapping[str, list[RowMapping]]


def read(url: str, field: str) -> Contents:
    """Return the contents of Blazar's database.

    :param url: SQLAlchemy URL of the database
    :param field: name of the URL in error messages
    :raises InvalidValueError: the URL is invalid, the database does not answer, or it does not have the tables of a
        supported release of Blazar
    """
    with _connection(url, field) as connection:
        _check(connection, field)
        reservations = _reservations(connection)
        return Contents(
            hosts=_hosts(connection),
            private_properties=frozenset(
                row["property_name"]
                for row in _rows(connection, tables.PROPERTIES)
                if row["resource_type"] == _HOST and row["private"]
            ),
            floating_ips=tuple(_floating_ip(row) for row in _rows(connection, tables.FLOATING_IPS)),
            leases=_leases(connection, reservations),
        )


@contextmanager
def _connection(url: str, field: str) -> Iterator[Connection]:
    """Open a connection that reads everything as of one instant."""
    try:
        address = make_url(url)
        address.get_dialect().import_dbapi()
        # SQLite does not have this isolation level.
        options = {} if address.get_backend_name() == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        engine = create_engine(address, poolclass=NullPool, **options)
    except (ArgumentError, ImportError, ValueError) as error:
        raise InvalidValueError(field, f"is no URL of a database known here: {error}") from error
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                # Its driver begins no transaction for reading.
                connection.exec_driver_sql("BEGIN")
            yield connection
    except DBAPIError as error:
        raise InvalidValueError(field, f"Blazar's database cannot be read: {error.orig}") from error


def _check(connection: Connection, field: str) -> None:
    """Check that a database has the tables of a supported release of Blazar.

    :raises InvalidValueError: a table or column is missing, or rows are only marked as deleted
    """
    found = inspect(connection)
    names = set(found.get_table_names())
    for table in tables.METADATA.sorted_tables:
        if table.name not in names:
            problem = f"has no table {table.name}; it must be Blazar's, of release 16 to 18"
            raise InvalidValueError(field, f"{problem} (blazar-db-manage upgrade head)")
        columns = {column["name"] for column in found.get_columns(table.name)}
        missing = sorted({column.name for column in table.columns} - columns)
        if missing:
            problem = f"has no column {table.name}.{missing[0]}; it must be Blazar's, of release 16 to 18"
            raise InvalidValueError(field, f"{problem} (blazar-db-manage upgrade head)")
        if "deleted" in columns:
            problem = f"only marks rows of {table.name} as deleted, as forks of Blazar do; those cannot be read"
            raise InvalidValueError(field, problem)


def _rows(connection: Connection, table: Table) -> list[RowMapping]:
    """Return all rows of a table, oldest first."""
    return list(connection.execute(select(table).order_by(table.c.created_at, table.c.id)).mappings())


def _by_column(rows: Iterable[RowMapping], column: str) -> Rows:
    found: defaultdict[str, list[RowMapping]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found


def _hosts(connection: Connection) -> tuple[BlazarHost, ...]:
    names = {row["id"]: row["property_name"] for row in _rows(connection, tables.PROPERTIES)}
    capabilities = _by_column(_rows(connection, tables.CAPABILITIES), "computehost_id")
    inventories = _by_column(_rows(connection, tables.INVENTORIES), "computehost_id")
    traits = _by_column(_rows(connection, tables.TRAITS), "computehost_id")
    return tuple(
        BlazarHost(
            host_id=row["id"],
            name=row["hypervisor_hostname"],
            vcpus=row["vcpus"],
            memory_mb=row["memory_mb"],
            local_gb=row["local_gb"],
            cpu_info=row["cpu_info"],
            hypervisor_type=row["hypervisor_type"],
            hypervisor_version=row["hypervisor_version"],
            service_name=row["service_name"],
            availability_zone=row["availability_zone"],
            trust_id=row["trust_id"],
            reservable=row["reservable"],
            created_at=_instant(row["created_at"]),
            updated_at=_instant(row["updated_at"]),
            properties={
                names[each["property_id"]]: each["capability_value"] for each in capabilities.get(row["id"], ())
            },
            inventories=tuple(_inventory(each) for each in inventories.get(row["id"], ())),
            traits=tuple(sorted({each["trait"] for each in traits.get(row["id"], ())})),
        )
        for row in _rows(connection, tables.HOSTS)
    )


def _inventory(row: RowMapping) -> Inventory:
    return Inventory(row["resource_class"], row["total"], row["reserved"], row["max_unit"], row["allocation_ratio"])


def _floating_ip(row: RowMapping) -> BlazarFloatingIp:
    return BlazarFloatingIp(
        floating_ip_id=row["id"],
        floating_network_id=row["floating_network_id"],
        subnet_id=row["subnet_id"],
        address=row["floating_ip_address"],
        reservable=row["reservable"],
        created_at=_instant(row["created_at"]),
        updated_at=_instant(row["updated_at"]),
    )


def _reservations(connection: Connection) -> Mapping[str, list[BlazarReservation]]:
    """Return the reservations by lease id."""
    terms = _terms(connection)
    hosts = _by_column(_rows(connection, tables.HOST_ALLOCATIONS), "reservation_id")
    addresses = _by_column(_rows(connection, tables.FLOATING_IP_ALLOCATIONS), "reservation_id")
    found: defaultdict[str, list[BlazarReservation]] = defaultdict(list)
    for row in _rows(connection, tables.RESERVATIONS):
        reservation_id = row["id"]
        found[row["lease_id"]].append(
            BlazarReservation(
                reservation_id=reservation_id,
                resource_type=row["resource_type"],
                resource_id=row["resource_id"],
                missing_resources=row["missing_resources"],
                resources_changed=row["resources_changed"],
                created_at=_instant(row["created_at"]),
                updated_at=_instant(row["updated_at"]),
                terms=terms.get(reservation_id),
                hosts=_sorted(each["compute_host_id"] for each in hosts.get(reservation_id, ())),
                floating_ips=tuple(each["floatingip_id"] for each in addresses.get(reservation_id, ())),
            )
        )
    return found


def _terms(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return the requested terms by reservation id."""
    found: dict[str, dict[str, Any]] = {}
    for table, columns in ((tables.HOST_RESERVATIONS, _HOST_TERMS), (tables.INSTANCE_RESERVATIONS, _INSTANCE_TERMS)):
        for row in _rows(connection, table):
            found[row["reservation_id"]] = {column: row[column] for column in columns}
    required = _by_column(_rows(connection, tables.REQUIRED_FLOATING_IPS), "floatingip_reservation_id")
    for row in _rows(connection, tables.FLOATING_IP_RESERVATIONS):
        addresses = [each["address"] for each in required.get(row["id"], ())]
        terms = {column: row[column] for column in _FLOATING_IP_TERMS}
        found[row["reservation_id"]] = {**terms, "required_floatingips": addresses}
    return found


def _leases(connection: Connection, reservations: Mapping[str, list[BlazarReservation]]) -> tuple[BlazarLease, ...]:
    events = _by_column(_rows(connection, tables.EVENTS), "lease_id")
    found = []
    for row in _rows(connection, tables.LEASES):
        # Events that users add through the API have neither time nor status, and Blazar ignores them.
        notices = [each for each in events.get(row["id"], ()) if each["event_type"] == "before_end_lease"]
        notice = next((each for each in reversed(notices) if each["time"] is not None and each["status"]), None)
        found.append(
            BlazarLease(
                lease_id=row["id"],
                name=row["name"],
                user_id=row["user_id"],
                project_id=row["project_id"],
                trust_id=row["trust_id"],
                start=_known_instant(row["start_date"]),
                end=_known_instant(row["end_date"]),
                status=row["status"],
                degraded=row["degraded"],
                created_at=_instant(row["created_at"]),
                updated_at=_instant(row["updated_at"]),
                before_end=None if notice is None else _known_instant(notice["time"]),
                before_end_done=notice is not None and notice["status"] in _TOLD,
                reservations=tuple(reservations.get(row["id"], ())),
            )
        )
    return tuple(found)


def _sorted(host_ids: Iterable[str]) -> tuple[str, ...]:
    """Return ids of hosts in the order of their numbers."""
    return tuple(sorted(host_ids, key=lambda host_id: (len(host_id), host_id)))


def _instant(date: datetime | None) -> int | None:
    return None if date is None else _known_instant(date)


def _known_instant(date: datetime) -> int:
    # Blazar stores UTC without a time zone.
    return int(date.replace(tzinfo=UTC).timestamp())
