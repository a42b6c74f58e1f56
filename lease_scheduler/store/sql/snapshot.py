"""Reading everything that an engine needs to continue."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.store.sql import feeds, idleness, pool_rows, rows, subscriptions
from lease_scheduler.store.sql.schema import (
    CACHED_IMAGES,
    FLOATING_IPS,
    HOLDINGS,
    HOST_PROPERTIES,
    HOSTS,
    LATENESS,
    LEASE_RESERVATIONS,
    LEASES,
    OPERATIONS,
    POLICY_STATE,
    RESOURCE_PROPERTIES,
    SERIES,
    SITES,
)


class Loaded(NamedTuple):
    """The result of ``load``.

    :ivar units: numbers of the hosts and addresses in it
    :ivar versions: versions of the live leases, by id
    """

    snapshot: Snapshot
    units: Units
    versions: dict[str, int]


def load(connection: Connection, site: str) -> Loaded:
    """Return everything that an engine needs to continue, as the last transaction left it.

    :param site: name of the site
    """
    row_of_site = connection.execute(select(SITES).where(SITES.c.name == site)).mappings().one()
    properties: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for row in connection.execute(select(HOST_PROPERTIES)).mappings():
        properties[row["host_id"]][row["name"]] = row["value"]
    hosts = tuple(
        pool_rows.host(row, properties[row["id"]])
        for row in connection.execute(select(HOSTS).order_by(HOSTS.c.id)).mappings()
    )
    floating_ips = tuple(
        pool_rows.floating_ip(row)
        for row in connection.execute(
            select(FLOATING_IPS).order_by(FLOATING_IPS.c.created_at, FLOATING_IPS.c.id)
        ).mappings()
    )
    units = Units([*(str(host.host_id) for host in hosts), *(ip.floating_ip_id for ip in floating_ips)])
    live = LEASES.c.ended.is_(None) & LEASES.c.deleted_at.is_(None)
    # Leases that have ended may still have operations in progress.
    leaving = ~live & LEASES.c.id.in_(select(OPERATIONS.c.lease_id))
    lease_rows = connection.execute(select(LEASES).where(live).order_by(LEASES.c.sequence)).mappings().all()
    held: defaultdict[str, list[rows.Row]] = defaultdict(list)
    order = (HOLDINGS.c.lease_id, HOLDINGS.c.position)
    for row in connection.execute(select(HOLDINGS).order_by(*order)).mappings():
        held[row["lease_id"]].append(row)
    named: defaultdict[str, list[rows.Row]] = defaultdict(list)
    leaving_rows = connection.execute(select(LEASES).where(leaving)).mappings().all()
    known = select(LEASE_RESERVATIONS).join(LEASES).where(live | leaving).order_by(LEASE_RESERVATIONS.c.position)
    for row in connection.execute(known).mappings():
        named[row["lease_id"]].append(row)
    intent_rows = connection.execute(select(OPERATIONS).order_by(OPERATIONS.c.id)).mappings()
    versions = {row["id"]: row["version"] for row in lease_rows}
    snapshot = Snapshot(
        leases=tuple(rows.lease(row, held[row["id"]], units) for row in lease_rows),
        documents={row["id"]: rows.document(row, named[row["id"]]) for row in (*lease_rows, *leaving_rows)},
        intents=tuple(rows.intent(row, units) for row in intent_rows),
        hosts=hosts,
        floating_ips=floating_ips,
        private_properties={
            (row["resource_type"], row["name"]): row["private"]
            for row in connection.execute(select(RESOURCE_PROPERTIES)).mappings()
        },
        series=tuple(
            rows.series(row)
            for row in connection.execute(
                select(SERIES).where(SERIES.c.deleted_at.is_(None)).order_by(SERIES.c.created_at, SERIES.c.id)
            ).mappings()
        ),
        policy_state=_learnt(connection),
        lateness={
            (row["pool"], row["kind"]): row["seconds"] for row in connection.execute(select(LATENESS)).mappings()
        },
        cached_images=tuple(
            pool_rows.cached_image(row, units)
            for row in connection.execute(
                select(CACHED_IMAGES).order_by(CACHED_IMAGES.c.host_id, CACHED_IMAGES.c.image_id)
            ).mappings()
        ),
        subscriptions=subscriptions.read(connection),
        idleness=idleness.read(connection),
        feeds=feeds.read(connection),
        next_sequence=row_of_site["next_sequence"],
        next_intent=(connection.execute(select(func.max(OPERATIONS.c.id))).scalar() or 0) + 1,
        clock=row_of_site["clock"],
    )
    return Loaded(snapshot, units, versions)


def _learnt(connection: Connection) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the state that policies have learnt, by (pool, family, name of the policy) and subject."""
    found: defaultdict[tuple[str, str, str], dict[str, Any]] = defaultdict(dict)
    for row in connection.execute(select(POLICY_STATE)).mappings():
        found[row["pool"], row["family"], row["policy"]][row["subject"]] = row["state"]
    return dict(found)
