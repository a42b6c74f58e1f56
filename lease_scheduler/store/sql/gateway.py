"""The store of a gateway. Several gateways may write the same database at the same time.

The leases of a gateway are in the tables of leases too, so everything that reads those tables shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from oslo_db.api import wrap_db_retry
from oslo_db.exception import DBDuplicateEntry
from sqlalchemy import BigInteger, Connection, Engine, bindparam, case, delete, func, insert, or_, select, update

from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.states import FINAL_STATES
from lease_scheduler.records.federated import (
    FederatedLease,
    FollowedMember,
    GatewayChanges,
    OutdatedError,
    StoredRouting,
)
from lease_scheduler.records.negotiations import as_document, restored
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import events, lease_writes, leases, rows
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.faults import in_plain_words
from lease_scheduler.store.sql.schema import (
    FEDERATED_LEASES,
    FOLLOWED_MEMBERS,
    HISTORY,
    HOLDINGS,
    LEASES,
    ROUTING_STATE,
    SITES,
)

#: Name in the column for the engine that leads, by which a database is known to be that of gateways.
_GATEWAY = "gateway"

#: Leases of a gateway have no hosts of their own.
_NO_UNITS = Units()

_FINAL = [state.value for state in FINAL_STATES]

_HOLDINGS = leases.rows_of_leases(HOLDINGS, "position")

_NOW = bindparam("the_clock", type_=BigInteger)

# Building these takes longer than running them.
_CLAIM = (
    update(SITES)
    .where(SITES.c.name == bindparam("the_site"))
    .values(
        revision=SITES.c.revision + 1,
        next_sequence=SITES.c.next_sequence + bindparam("the_new", type_=BigInteger),
        clock=case((SITES.c.clock < _NOW, _NOW), else_=SITES.c.clock),
    )
)
_CLAIMED = select(SITES.c.revision, SITES.c.next_sequence).where(SITES.c.name == bindparam("the_site"))
_INSERT = insert(FEDERATED_LEASES)
_INSERT_HISTORY = insert(HISTORY)
_UPDATE = (
    update(FEDERATED_LEASES)
    .where(FEDERATED_LEASES.c.id == bindparam("the_id"), FEDERATED_LEASES.c.version == bindparam("the_version"))
    .values({column.name: bindparam(column.name) for column in FEDERATED_LEASES.columns if column.name != "id"})
)

#: Transactions of gateways may meet in the gaps of an index, which MariaDB tells as a deadlock.
_again = wrap_db_retry(retry_interval=0.05, max_retry_interval=1, retry_on_deadlock=True)


class SqlGateway:
    """A database of gateways.

    Each transaction first changes the row of the site, so transactions follow one another, and the numbers of
    transitions become visible in their order. A lease is written only if nobody has written it since it was read.
    Every method raises ``StoreUnavailableError`` if the database does not answer, and ``StoreFullError`` if it is full.

    :param database: from ``open_database``
    :param site: name of the site that the gateway stands for
    """

    def __init__(self, database: Engine, site: str = "default") -> None:
        self._database = database
        self._site = site

    @wrap_db_retry(  # type: ignore[untyped-decorator]
        retry_interval=0.05,
        max_retry_interval=1,
        retry_on_deadlock=True,
        exception_checker=lambda error: isinstance(error, DBDuplicateEntry),
    )
    def join(self, now: int) -> None:
        """Prepare the database, or join the gateways that use it already.

        :raises InvalidValueError: it is the database of an engine
        """
        with self._database.begin() as connection:
            found = connection.execute(select(SITES.c.engine).where(SITES.c.name == self._site)).scalar()
            if found is None:
                values = {"epoch": 1, "engine": _GATEWAY, "revision": 0, "next_sequence": 0, "clock": now}
                connection.execute(insert(SITES).values(name=self._site, **values))
            elif found != _GATEWAY:
                raise InvalidValueError(
                    "database.connection",
                    f"is the database of engine {found}; give the gateway a database of its own",
                )

    # -- reading ---------------------------------------------------------------------------------------------

    def lease(self, lease_id: str) -> FederatedLease | None:
        """Return a lease, deleted ones included, or None."""
        with in_plain_words(), self._database.connect() as connection:
            return next(iter(_leases(connection, [lease_id])), None)

    def leases(self, ids: Iterable[str]) -> list[FederatedLease]:
        """Return the leases that exist, in any order."""
        with in_plain_words(), self._database.connect() as connection:
            return [each for part in chunks(list(ids)) for each in _leases(connection, part)]

    def all_ids(self) -> list[str]:
        """Return the ids of all leases, in the order of their submission."""
        wanted = select(FEDERATED_LEASES.c.id).join(LEASES, LEASES.c.id == FEDERATED_LEASES.c.id)
        with in_plain_words(), self._database.connect() as connection:
            return list(connection.execute(wanted.order_by(LEASES.c.sequence)).scalars())

    def due(self, now: int, driver: str, most: int) -> list[str]:
        """Return the ids of leases for which there is something to do, the longest due first.

        :param driver: name of the gateway that asks; leases that another one drives are left out
        :param most: maximum number of leases
        """
        table = FEDERATED_LEASES.c
        is_free = or_(table.driver.is_(None), table.driver == driver, table.driven_until <= now)
        wanted = select(table.id).where(table.due_at <= now, is_free).order_by(table.due_at, table.id).limit(most)
        with in_plain_words(), self._database.connect() as connection:
            return list(connection.execute(wanted).scalars())

    def next_due(self) -> int | None:
        """Return the earliest instant at which something is to be done, or None."""
        with in_plain_words(), self._database.connect() as connection:
            return connection.execute(select(func.min(FEDERATED_LEASES.c.due_at))).scalar()

    def live_at(self, member: str) -> list[str]:
        """Return the ids of the leases that a member has granted and that are not over."""
        wanted = select(LEASES.c.id).where(LEASES.c.site == member, LEASES.c.state.not_in(_FINAL))
        with in_plain_words(), self._database.connect() as connection:
            return list(connection.execute(wanted.order_by(LEASES.c.sequence)).scalars())

    def by_site_lease(self, ids: Iterable[str]) -> dict[str, str]:
        """Return ids of leases by the ids that they have at their members; unknown ones are left out."""
        found: dict[str, str] = {}
        with in_plain_words(), self._database.connect() as connection:
            for part in chunks(sorted(set(ids))):
                wanted = select(LEASES.c.site_lease_id, LEASES.c.id).where(LEASES.c.site_lease_id.in_(part))
                found.update({row.site_lease_id: row.id for row in connection.execute(wanted)})
        return found

    def routing(self) -> StoredRouting:
        """Return what the router remembers."""
        wanted = select(ROUTING_STATE).where(ROUTING_STATE.c.site == self._site)
        with in_plain_words(), self._database.connect() as connection:
            row = connection.execute(wanted).mappings().one_or_none()
        return StoredRouting() if row is None else StoredRouting(RoutingState.restored(row["state"]), row["version"])

    def followed(self, member: str) -> FollowedMember:
        """Return how far a member was followed."""
        wanted = select(FOLLOWED_MEMBERS).where(FOLLOWED_MEMBERS.c.name == member)
        with in_plain_words(), self._database.connect() as connection:
            row = connection.execute(wanted).mappings().one_or_none()
        return FollowedMember(member) if row is None else FollowedMember(**row)

    def unreachable(self) -> dict[str, int]:
        """Return the members that do not answer, with the instant since which they do not."""
        table = FOLLOWED_MEMBERS.c
        wanted = select(table.name, table.unreachable_since).where(table.unreachable_since.is_not(None))
        with in_plain_words(), self._database.connect() as connection:
            return dict(connection.execute(wanted).all())

    # -- writing ---------------------------------------------------------------------------------------------

    def commit(self, changes: GatewayChanges) -> list[FederatedLease]:
        """Write all changes in one transaction, and return the leases as they are written.

        :raises OutdatedError: a lease or the state of the router has been written since it was read; nothing is
            written now
        """
        with in_plain_words():
            written: list[FederatedLease] = self._commit(changes)
        return written

    @_again  # type: ignore[untyped-decorator]
    def _commit(self, changes: GatewayChanges) -> list[FederatedLease]:
        try:
            with self._database.begin() as connection:
                return self._write(connection, changes)
        except DBDuplicateEntry as error:
            raise OutdatedError("it was written by another gateway") from error

    def _write(self, connection: Connection, changes: GatewayChanges) -> list[FederatedLease]:
        new = sum(not each.version for each in changes.leases)
        # The first statement, so that SQLite takes the write lock at once.
        connection.execute(_CLAIM, {"the_site": self._site, "the_new": new, "the_clock": changes.instant})
        revision, after_last = connection.execute(_CLAIMED, {"the_site": self._site}).one()
        numbers = iter(range(after_last - new, after_last))
        written = [
            each if each.version else replace(each, lease=replace(each.lease, sequence=next(numbers)))
            for each in changes.leases
        ]
        known = [each for each in written if each.version]
        for each in known:
            _compare_and_set(connection, each)
        of_leases = StoreChanges(
            changes.instant,
            {each.lease_id: each.lease for each in written},
            {each.lease_id: each.document for each in written},
        )
        before = {each.lease_id: lease_writes.WrittenLease(each.version) for each in known}
        lease_writes.write(connection, of_leases, revision, before, _NO_UNITS)
        for each in written:
            if not each.version:
                connection.execute(_INSERT, {"id": each.lease_id, **_values(each)})
        for transition in changes.transitions:
            connection.execute(_INSERT_HISTORY, events.row_of(transition))
        if changes.routing is not None:
            self._write_routing(connection, changes.routing)
        for member in changes.members:
            connection.execute(delete(FOLLOWED_MEMBERS).where(FOLLOWED_MEMBERS.c.name == member.name))
            connection.execute(
                insert(FOLLOWED_MEMBERS).values(
                    name=member.name, sequence=member.sequence, unreachable_since=member.unreachable_since
                )
            )
        return [replace(each, version=each.version + 1) for each in written]

    def _write_routing(self, connection: Connection, routing: StoredRouting) -> None:
        values = {"version": routing.version + 1, "state": dict(routing.state.as_document())}
        if not routing.version:
            connection.execute(insert(ROUTING_STATE).values(site=self._site, **values))
            return
        table = ROUTING_STATE.c
        as_read = (table.site == self._site) & (table.version == routing.version)
        if connection.execute(update(ROUTING_STATE).where(as_read).values(values)).rowcount != 1:
            raise OutdatedError("the state of the router was written by another gateway")


def _compare_and_set(connection: Connection, lease: FederatedLease) -> None:
    as_read = {"the_id": lease.lease_id, "the_version": lease.version}
    if connection.execute(_UPDATE, {**as_read, **_values(lease)}).rowcount != 1:
        raise OutdatedError(f"lease {lease.lease_id} was written by another gateway")


def _values(lease: FederatedLease) -> dict[str, Any]:
    return {
        "version": lease.version + 1,
        "stage": lease.negotiation.stage.value,
        "record": as_document(lease.negotiation),
        "due_at": lease.due_at,
        "failures": lease.failures,
        "heard": lease.heard,
        "driver": lease.driver,
        "driven_until": lease.driven_until,
    }


def _leases(connection: Connection, ids: list[str]) -> list[FederatedLease]:
    wanted = select(FEDERATED_LEASES).where(FEDERATED_LEASES.c.id.in_(ids))
    records = connection.execute(wanted).mappings().all()
    of_lease = {
        row["id"]: row for row in connection.execute(select(LEASES).where(LEASES.c.id.in_(ids))).mappings().all()
    }
    found = [row["id"] for row in records]
    held = leases.grouped(connection, _HOLDINGS, found)
    named = leases.grouped(connection, leases.RESERVATIONS_OF_LEASES, found)
    return [_lease(row, of_lease[row["id"]], named[row["id"]], held[row["id"]]) for row in records]


def _lease(row: rows.Row, lease: rows.Row, reservations: Any, holdings: Any) -> FederatedLease:
    return FederatedLease(
        rows.lease(lease, holdings, _NO_UNITS),
        rows.document(lease, reservations),
        restored(row["record"]),
        row["version"],
        row["due_at"],
        row["failures"],
        row["heard"],
        row["driver"],
        row["driven_until"],
    )
