"""The reader of the API, which reads the database directly. ``api.interfaces.Reader`` describes the values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Select, func, select

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import StoreFullError
from lease_scheduler.model.power import WATTS
from lease_scheduler.records.calendar import CalendarIndex, HeldHosts, SiteVersion
from lease_scheduler.records.history import EventPage
from lease_scheduler.records.listing import LeaseEntry
from lease_scheduler.store.sql import arrivals, calendar, events, feeds, leases, subscriptions, trusts, views
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.faults import in_plain_words
from lease_scheduler.store.sql.pool_rows import host_power
from lease_scheduler.store.sql.schema import (
    BREACHES,
    FEEDS,
    FLOATING_IPS,
    HOLDINGS,
    HOST_PROPERTIES,
    HOSTS,
    LEASE_RESERVATIONS,
    LEASES,
    RESOURCE_PROPERTIES,
    SERIES,
    SUBSCRIPTIONS,
)
from lease_scheduler.store.sql.usage import UsageReader


class SqlReader:
    """A reader of the database. Any number of processes may read at the same time.

    :param database: from ``open_database``
    :param site: name of the site
    """

    def __init__(self, database: Engine, site: str = "default") -> None:
        self._database = database
        self._site = site

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """Open a connection for reading.

        :raises StoreFullError: the disk of the database is full
        :raises StoreUnavailableError: the database does not answer
        """
        with in_plain_words(), self._database.connect() as connection:
            yield connection

    def problem(self) -> str | None:
        """Return what is wrong with the database, or None. Wait for its answer without a limit.

        :raises StoreUnavailableError: the database does not answer
        """
        try:
            with self._connection() as connection:
                connection.execute(select(1))
        except StoreFullError as error:
            return str(error)
        return None

    # -- leases ----------------------------------------------------------------------------------------------

    def lease(self, lease_id: str, deleted: bool = False) -> Document | None:
        """Return the view of a lease, or None.

        :param deleted: return the lease even if it is deleted
        """
        with self._connection() as connection:
            return leases.one(connection, lease_id, deleted=deleted)

    def leases(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[Document]:
        """Return views of leases; see ``api.interfaces.Reader.leases``."""
        with self._connection() as connection:
            return leases.found(connection, filters, sort, limit, marker)

    def lease_entries(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[LeaseEntry]:
        """Return entries of leases; see ``api.interfaces.Reader.lease_entries``."""
        with self._connection() as connection:
            return leases.entries(connection, filters, sort, limit, marker)

    def leases_by_id(self, ids: Sequence[str]) -> list[Document]:
        """Return the views of the leases that exist, in any order."""
        with self._connection() as connection:
            return leases.some(connection, ids)

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        """Return those of the given trusts that a host or a lease has. Ended and deleted leases count."""
        with self._connection() as connection:
            return trusts.known(connection, ids)

    def unit_names(self, units: Collection[str]) -> dict[str, str]:
        """Return the names of hosts and the addresses of floating IPs, by id. Unknown ids are left out."""
        with self._connection() as connection:
            return _unit_names(connection, units)

    def lease_projects(self) -> list[str]:
        """Return the projects that have leases, sorted."""
        query = select(LEASES.c.project_id).distinct().order_by(LEASES.c.project_id)
        with self._connection() as connection:
            return [str(project_id) for project_id in connection.scalars(query)]

    def history(self, lease_id: str) -> list[Document]:
        """Return what has happened to a lease, earliest first."""
        with self._connection() as connection:
            return events.of_lease(connection, lease_id)

    def events(self, since: int, limit: int, project_id: str | None = None, origin: str | None = None) -> EventPage:
        """Return transitions in their order; see ``api.interfaces.Reader.events``."""
        with self._connection() as connection:
            return events.page_of(connection, since, limit, project_id, origin)

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def hosts(self) -> list[Document]:
        """Return all hosts, ordered by id."""
        return self._hosts(select(HOSTS).order_by(HOSTS.c.id))

    def host(self, host_id: str) -> Document | None:
        """Return the host with this id, or None."""
        if not host_id.isdigit() or len(host_id) > 9:
            return None
        found = self._hosts(select(HOSTS).where(HOSTS.c.id == int(host_id)))
        return found[0] if found else None

    def _hosts(self, query: Select[Any]) -> list[Document]:
        properties: defaultdict[int, Document] = defaultdict(dict)
        with self._connection() as connection:
            hosts = connection.execute(query).mappings().all()
            wanted = select(HOST_PROPERTIES)
            if len(hosts) == 1:
                wanted = wanted.where(HOST_PROPERTIES.c.host_id == hosts[0]["id"])
            for row in connection.execute(wanted.order_by(HOST_PROPERTIES.c.name)).mappings():
                properties[row["host_id"]][row["name"]] = row["value"]
        return [
            {**row, "id": str(row["id"]), "properties": properties[row["id"]], "power": host_power(row)}
            for row in hosts
        ]

    def host_properties(self) -> list[Document]:
        """Return the properties of all hosts, ordered by name."""
        values: defaultdict[str, set[str]] = defaultdict(set)
        with self._connection() as connection:
            for row in connection.execute(select(HOST_PROPERTIES)).mappings():
                values[row["name"]].add(row["value"])
            private = {
                row["name"]: row["private"] for row in connection.execute(select(RESOURCE_PROPERTIES)).mappings()
            }
        return [
            {"property": name, "private": bool(private.get(name, False)), "values": sorted(values[name])}
            for name in sorted(values)
        ]

    def floatingips(self) -> list[Document]:
        """Return all floating IPs."""
        query = select(FLOATING_IPS).order_by(FLOATING_IPS.c.created_at, FLOATING_IPS.c.id)
        with self._connection() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def floatingip(self, floatingip_id: str) -> Document | None:
        """Return the floating IP with this id, or None."""
        with self._connection() as connection:
            query = select(FLOATING_IPS).where(FLOATING_IPS.c.id == floatingip_id)
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else dict(row)

    # -- subscriptions ---------------------------------------------------------------------------------------

    def subscriptions(self, project_id: str | None = None) -> list[Document]:
        """Return the subscriptions of a project, or of all projects."""
        with self._connection() as connection:
            of_it = None if project_id is None else SUBSCRIPTIONS.c.project_id == project_id
            return subscriptions.views(connection, of_it)

    def subscription(self, subscription_id: str) -> Document | None:
        """Return the subscription with this id, or None."""
        with self._connection() as connection:
            found = subscriptions.views(connection, SUBSCRIPTIONS.c.id == subscription_id)
        return found[0] if found else None

    # -- feeds -----------------------------------------------------------------------------------------------

    def feeds(self, project_id: str | None = None) -> list[Document]:
        """Return the feeds of a project, or of all projects."""
        with self._connection() as connection:
            return feeds.views(connection, None if project_id is None else FEEDS.c.project_id == project_id)

    def feed(self, feed_id: str) -> Document | None:
        """Return the feed with this id, or None."""
        with self._connection() as connection:
            found = feeds.views(connection, FEEDS.c.id == feed_id)
        return found[0] if found else None

    def feed_owner(self, digest: str) -> tuple[str, str] | None:
        """Return the project of the feed whose secret has this digest, and the digest as it is stored, or None."""
        with self._connection() as connection:
            return feeds.owner(connection, digest)

    def arrivals(self) -> dict[str, Document]:
        """Return what is known of the requests that arrive, by their sort."""
        with self._connection() as connection:
            return arrivals.known(connection)

    # -- allocations -----------------------------------------------------------------------------------------

    def allocations(
        self,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        host_id: str | None = None,
        now: int = 0,
    ) -> list[Document]:
        """Return the reservations that hold each host, one entry per host.

        :param now: without a lease or a reservation, leave out holdings that ended before this instant
        """
        query = select(HOLDINGS, LEASES.c.sequence).join(LEASES).where(LEASES.c.deleted_at.is_(None))
        if lease_id is not None:
            query = query.where(HOLDINGS.c.lease_id == lease_id)
        elif reservation_id is None:
            query = query.where(HOLDINGS.c.end >= now)
        with self._connection() as connection:
            if reservation_id is not None:
                of = select(LEASE_RESERVATIONS.c.lease_id).where(LEASE_RESERVATIONS.c.id == reservation_id)
                query = query.where(HOLDINGS.c.lease_id.in_(of))
            held = connection.execute(query.order_by(HOLDINGS.c.start, LEASES.c.sequence)).mappings().all()
            ids_of_leases = list(dict.fromkeys(row["lease_id"] for row in held))
            named = leases.grouped(connection, leases.RESERVATIONS_OF_LEASES, ids_of_leases)
            ids = select(HOSTS.c.id).order_by(HOSTS.c.id)
            if host_id is not None:
                ids = ids.where(HOSTS.c.id == (int(host_id) if host_id.isdigit() else -1))
            by_host: dict[str, list[Document]] = {str(each): [] for each in connection.execute(ids).scalars()}
        for row in held:
            for reservation in named[row["lease_id"]]:
                if reservation_id is not None and reservation["id"] != reservation_id:
                    continue
                first = reservation["first_node"]
                for host in dict.fromkeys(row["hosts"][first : first + reservation["node_count"]]):
                    if host in by_host:
                        by_host[host].append(
                            {
                                "id": reservation["id"],
                                "lease_id": row["lease_id"],
                                "start": row["run_start"],
                                "end": row["run_end"],
                            }
                        )
        return [{"resource_id": host, "reservations": reservations} for host, reservations in by_host.items()]

    # -- accounts --------------------------------------------------------------------------------------------

    def usage(self, project_id: str | None, start: int, end: int, now: int, step: int | None = None) -> list[Document]:
        """Return what was occupied in ``[start, end)``, one entry per project, kind, phase and step.

        Leases that still run count up to ``now``.
        """
        with self._connection() as connection:
            return UsageReader(connection, project_id, start, end, step).usage(now)

    def revenue(self, project_id: str | None, start: int, end: int, step: int | None = None) -> list[Document]:
        """Return earned and missed revenue in ``[start, end)``, one entry per project and step."""
        with self._connection() as connection:
            return UsageReader(connection, project_id, start, end, step).revenue()

    def delays(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """Return the mean delays of leases that were done in ``[start, end)``, one entry per project and kind."""
        with self._connection() as connection:
            return UsageReader(connection, project_id, start, end).delays()

    def capacity(self, start: int, end: int, step: int | None = None) -> list[Document]:
        """Return the capacity that the pool offered in ``[start, end)``, one entry per step."""
        with self._connection() as connection:
            return UsageReader(connection, None, start, end, step).capacity()

    def penalties(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """Return the breaches recorded in ``[start, end)``, one entry per project and kind of breach."""
        wanted = select(
            BREACHES.c.project_id,
            BREACHES.c.kind,
            func.count().label("count"),
            func.sum(BREACHES.c.node_seconds).label("node_seconds"),
            func.sum(BREACHES.c.penalty).label("penalty"),
        ).where(BREACHES.c.instant >= start, BREACHES.c.instant < end)
        if project_id is not None:
            wanted = wanted.where(BREACHES.c.project_id == project_id)
        grouped = wanted.group_by(BREACHES.c.project_id, BREACHES.c.kind)
        with self._connection() as connection:
            rows = connection.execute(grouped.order_by(BREACHES.c.project_id, BREACHES.c.kind)).mappings()
            return [{**row, "node_seconds": int(row["node_seconds"])} for row in rows]

    # -- calendar --------------------------------------------------------------------------------------------

    def site_version(self) -> SiteVersion:
        """Return the present version of the site."""
        with self._connection() as connection:
            return calendar.version(connection, self._site)

    def calendar_index(self, start: int, end: int) -> CalendarIndex:
        """Return which leases the calendar has in ``[start, end)``, in the order of their submission."""
        with self._connection() as connection:
            return calendar.index(connection, self._site, start, end)

    def calendar_changes(self, since: int, start: int, end: int, most: int) -> CalendarIndex | None:
        """Return which leases of the calendar have changed since a revision, or None if more than ``most`` have."""
        with self._connection() as connection:
            return calendar.changes(connection, self._site, since, start, end, most)

    def calendar_leases(self, ids: Sequence[str]) -> list[Document]:
        """Return leases as the calendar page shows them."""
        with self._connection() as connection:
            return calendar.leases(connection, ids)

    def calendar_hosts(self) -> list[Document]:
        """Return all hosts as the calendar page shows them, ordered by id."""
        with self._connection() as connection:
            rows = connection.execute(select(HOSTS).order_by(HOSTS.c.id)).mappings().all()
            watts: defaultdict[int, Document] = defaultdict(dict)
            if any(row["power"] is not None for row in rows):
                for each in connection.execute(select(HOST_PROPERTIES).where(HOST_PROPERTIES.c.name.in_(WATTS))):
                    watts[each.host_id][each.name] = each.value
            return [views.calendar_host(row, host_power(row), watts.get(row["id"], {})) for row in rows]

    def held_hosts(self, now: int) -> HeldHosts:
        """Return the hosts that leases hold at an instant."""
        with self._connection() as connection:
            return calendar.held_hosts(connection, now)

    def lease_states(self, project_id: str | None) -> dict[str, int]:
        """Return the number of leases by state, of one project or of all; states without leases are left out."""
        query = select(leases.STATE_IN_WORDS, func.count()).where(LEASES.c.deleted_at.is_(None))
        if project_id is not None:
            query = query.where(LEASES.c.project_id == project_id)
        with self._connection() as connection:
            return dict(connection.execute(query.group_by(leases.STATE_IN_WORDS)).all())

    def leases_at_sites(self, project_id: str | None) -> dict[str, int]:
        """Return the number of live leases by the site that they are at, of one project or of all."""
        with self._connection() as connection:
            return leases.count_by_site(connection, project_id)

    # -- series ----------------------------------------------------------------------------------------------

    def series(self, project_id: str | None = None) -> list[Document]:
        """Return the series that are not deleted."""
        query = select(SERIES).where(SERIES.c.deleted_at.is_(None)).order_by(SERIES.c.created_at, SERIES.c.id)
        if project_id is not None:
            query = query.where(SERIES.c.project_id == project_id)
        with self._connection() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def serie(self, series_id: str) -> Document | None:
        """Return the series with this id, or None."""
        with self._connection() as connection:
            query = select(SERIES).where(SERIES.c.id == series_id, SERIES.c.deleted_at.is_(None))
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else dict(row)


def _unit_names(connection: Connection, units: Collection[str]) -> dict[str, str]:
    """Return names of hosts and addresses of floating IPs, by id.

    :param units: ids; those of hosts are numbers
    """
    names: dict[str, str] = {}
    hosts = sorted(int(unit) for unit in units if unit.isdigit())
    for part in chunks(hosts):
        wanted = select(HOSTS.c.id, HOSTS.c.name).where(HOSTS.c.id.in_(part))
        names.update({str(row.id): row.name for row in connection.execute(wanted)})
    addresses = sorted(unit for unit in units if not unit.isdigit())
    for some in chunks(addresses):
        query = select(FLOATING_IPS.c.id, FLOATING_IPS.c.floating_ip_address)
        query = query.where(FLOATING_IPS.c.id.in_(some))
        names.update({row.id: row.floating_ip_address for row in connection.execute(query)})
    return names
