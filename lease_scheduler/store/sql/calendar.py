"""Leases of the calendar page, and which of them have changed since a revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, or_, select

from lease_scheduler.model.documents import Document
from lease_scheduler.records.calendar import CalendarEntry, CalendarIndex, HeldHosts, SiteVersion
from lease_scheduler.store.sql import views
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.leases import HOLDINGS_OF_LEASES, grouped, rows_of_leases
from lease_scheduler.store.sql.schema import HOLDINGS, LEASES, SITES, USAGE

#: The columns of a lease that its view on the page needs.
_COLUMNS = (
    "id",
    "name",
    "project_id",
    "kind",
    "state",
    "reason",
    "submitted",
    "planned_start",
    "planned_end",
    "deadline",
    "offered_until",
    "approval",
    "duration",
    "accumulated",
    "nodes",
    "preemptible",
    "pool",
    "site",
    "unreachable",
    "revision",
)
_LEASES = select(*(LEASES.c[name] for name in _COLUMNS)).where(LEASES.c.id.in_(bindparam("ids", expanding=True)))
_PAST_OF_LEASES = rows_of_leases(USAGE, "id", "start", "end", "phase", "hosts")


def version(connection: Connection, site: str) -> SiteVersion:
    """Return the present version of a site; one without a row has never had an engine."""
    query = select(SITES.c.epoch, SITES.c.revision).where(SITES.c.name == site)
    found = connection.execute(query).one_or_none()
    return SiteVersion(0, 0) if found is None else SiteVersion(found.epoch, found.revision)


def index(connection: Connection, site: str, start: int, end: int) -> CalendarIndex:
    """Return which leases the calendar has in ``[start, end)``, in the order of their submission."""
    query = select(LEASES.c.id, LEASES.c.revision).where(LEASES.c.deleted_at.is_(None), _overlaps(start, end))
    # Read before the leases, which may then be newer than this version, but not older.
    at = version(connection, site)
    rows = connection.execute(query.order_by(LEASES.c.sequence)).all()
    places = _places(connection)
    return CalendarIndex(at, [CalendarEntry(row.id, row.revision, places.get(row.id)) for row in rows])


def changes(connection: Connection, site: str, since: int, start: int, end: int, most: int) -> CalendarIndex | None:
    """Return which leases of the calendar have changed since a revision, or None if more than ``most`` have."""
    is_shown = and_(LEASES.c.deleted_at.is_(None), _overlaps(start, end)).label("is_shown")
    query = select(LEASES.c.id, LEASES.c.revision, is_shown).where(LEASES.c.revision > since)
    at = version(connection, site)
    rows = connection.execute(query.order_by(LEASES.c.sequence).limit(most + 1)).all()
    if len(rows) > most:
        return None
    places = _places(connection)
    shown = [CalendarEntry(row.id, row.revision, places.get(row.id)) for row in rows if row.is_shown]
    return CalendarIndex(at, shown, [row.id for row in rows if not row.is_shown])


def leases(connection: Connection, ids: Sequence[str]) -> list[Document]:
    """Return leases as the calendar page shows them."""
    found: list[Document] = []
    for part in chunks(list(ids)):
        rows = connection.execute(_LEASES, {"ids": part}).mappings().all()
        held = grouped(connection, HOLDINGS_OF_LEASES, part)
        past = grouped(connection, _PAST_OF_LEASES, part)
        found += [views.calendar_lease(row, held[row["id"]], past[row["id"]]) for row in rows]
    return found


def held_hosts(connection: Connection, now: int) -> HeldHosts:
    """Return the hosts that leases hold at an instant."""
    start, end = HOLDINGS.c.start, HOLDINGS.c.end
    query = select(HOLDINGS.c.hosts, end).where(end > now, start <= now)
    rows = connection.execute(query).all()
    edges = [row.end for row in rows]
    following = connection.execute(select(func.min(start)).where(end > now, start > now)).scalar_one()
    if following is not None:
        edges.append(following)
    return HeldHosts(frozenset(host for row in rows for host in row.hosts), min(edges, default=None))


def _overlaps(start: int, end: int) -> ColumnElement[bool]:
    """Return the condition that a lease overlaps an interval."""
    return and_(
        or_(LEASES.c.planned_end.is_(None), LEASES.c.planned_end > start),
        or_(LEASES.c.planned_start.is_(None), LEASES.c.planned_start < end),
        or_(LEASES.c.ended.is_(None), LEASES.c.ended > start),
    )


def _places(connection: Connection) -> dict[str, int]:
    """Return the places in the queue by lease, from 1 on. Every pool has its own queue.

    The queue in which a lease of a gateway waits is that of its site, so the lease has no place here.
    """
    queue = select(LEASES.c.id, LEASES.c.pool).where(LEASES.c.state.in_(("queued", "suspended-queued")))
    queue = queue.where(LEASES.c.deleted_at.is_(None), LEASES.c.site.is_(None)).order_by(LEASES.c.sequence)
    places: dict[str, int] = {}
    length = Counter[str | None]()
    for lease_id, pool in connection.execute(queue):
        length[pool] += 1
        places[lease_id] = length[pool]
    return places
