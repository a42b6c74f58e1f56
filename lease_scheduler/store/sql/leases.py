"""Leases in the database, as the API shows and lists them.

Statements are built once where that is possible: for a single lease, building them would take longer than running them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
)

from lease_scheduler.model.approval import AWAITING_APPROVAL, Approval
from lease_scheduler.model.blazar import states_of
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.listing import LeaseEntry
from lease_scheduler.store.sql import views
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import BREACHES, HOLDINGS, IDLENESS, LEASE_RESERVATIONS, LEASES, OPERATIONS

_SORT_COLUMNS = {
    "id": LEASES.c.id,
    "name": LEASES.c.name,
    "start": LEASES.c.planned_start,
    "end": LEASES.c.planned_end,
    "created_at": LEASES.c.created_at,
    "updated_at": LEASES.c.updated_at,
    "kind": LEASES.c.kind,
    "state": LEASES.c.state,
    "project_id": LEASES.c.project_id,
}

#: Blazar's statuses of leases whose operation is in progress -> kind of the operation.
_AT_WORK = {"STARTING": "start", "TERMINATING": "stop"}

_EQUAL = ("project_id", "user_id", "name", "kind", "series_id", "maintenance", "pool", "site")

#: Columns that only the engine needs.
_OF_ENGINE = frozenset(
    {
        "active_since",
        "extended_by",
        "extension_count",
        "longest_duration",
        "missing_nodes",
        "missing_since",
        "reminded_start",
        "retained",
        "saved_on",
    }
)

#: The state in words, as ``model.approval.state_in_words`` has it; the approval of an ended lease is never awaited.
#: Without parameters, because PostgreSQL would take the same expression with others for a different group.
STATE_IN_WORDS: ColumnElement[str] = case(
    (LEASES.c.approval == literal_column(f"'{Approval.AWAITING.value}'"), literal_column(f"'{AWAITING_APPROVAL}'")),
    else_=LEASES.c.state,
)

# What other tables say about a lease although its row need not have changed.
_OPERATION = (
    select(OPERATIONS.c.kind)
    .where(OPERATIONS.c.lease_id == LEASES.c.id)
    .order_by(OPERATIONS.c.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("operation")
)
_BREACH_COUNT = select(func.count()).where(BREACHES.c.lease_id == LEASES.c.id).scalar_subquery().label("breach_count")
_SINCE = select(IDLENESS.c.since).where(IDLENESS.c.lease_id == LEASES.c.id).scalar_subquery()
_IDLE_SINCE = case((LEASES.c.state == LeaseState.ACTIVE.value, _SINCE)).label("idle_since")
_ELSEWHERE = (_OPERATION, _BREACH_COUNT, _IDLE_SINCE)

_SHOWN = select(*(column for column in LEASES.columns if column.name not in _OF_ENGINE), *_ELSEWHERE)
_ONE = _SHOWN.where(LEASES.c.id == bindparam("lease_id"))
_ONE_LIVING = _ONE.where(LEASES.c.deleted_at.is_(None))
_SOME = _SHOWN.where(LEASES.c.id.in_(bindparam("ids", expanding=True)))
_ENTRIES = select(LEASES.c.id, LEASES.c.project_id, LEASES.c.revision, *_ELSEWHERE)


def rows_of_leases(table: Table, order: str, *columns: str) -> Select[Any]:
    """Return the statement for ``grouped``.

    :param table: has a column ``lease_id``
    :param order: column by which the rows of a lease are ordered
    :param columns: columns to read besides ``lease_id``; all columns if none are given
    """
    read = [table.c[name] for name in ("lease_id", *columns)] if columns else list(table.columns)
    return select(*read).where(table.c.lease_id.in_(bindparam("ids", expanding=True))).order_by(table.c[order])


RESERVATIONS_OF_LEASES = rows_of_leases(LEASE_RESERVATIONS, "position")
HOLDINGS_OF_LEASES = rows_of_leases(HOLDINGS, "position", "start", "run_start", "run_end", "end", "closing", "hosts")
_BREACHES_OF_LEASES = rows_of_leases(BREACHES, "id")


def grouped(connection: Connection, statement: Select[Any], ids: Sequence[str]) -> Mapping[str, list[Any]]:
    """Return rows of a table by lease, with an empty list for a lease that has none.

    :param statement: from ``rows_of_leases``
    :param ids: ids of leases, each once
    """
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for part in chunks(list(ids)):
        for row in connection.execute(statement, {"ids": part}).mappings():
            found[row["lease_id"]].append(row)
    return found


def one(connection: Connection, lease_id: str, *, deleted: bool) -> Document | None:
    """Return the view of a lease, or None.

    :param deleted: return the lease even if it is deleted
    """
    statement = _ONE if deleted else _ONE_LIVING
    found = _views(connection, connection.execute(statement, {"lease_id": lease_id}).mappings().all())
    return found[0] if found else None


def some(connection: Connection, ids: Sequence[str]) -> list[Document]:
    """Return the views of the leases that exist, in any order."""
    return [
        view
        for part in chunks(list(ids))
        for view in _views(connection, connection.execute(_SOME, {"ids": part}).mappings().all())
    ]


def found(
    connection: Connection,
    filters: Mapping[str, Any],
    sort: Sequence[tuple[str, str]],
    limit: int | None,
    marker: str | None,
) -> list[Document]:
    """Return the views of leases; see ``api.interfaces.Reader.leases``."""
    query = _selected(connection, _SHOWN, filters, sort, limit, marker)
    return _views(connection, connection.execute(query).mappings().all())


def entries(
    connection: Connection,
    filters: Mapping[str, Any],
    sort: Sequence[tuple[str, str]],
    limit: int | None,
    marker: str | None,
) -> list[LeaseEntry]:
    """Return the entries of leases; see ``api.interfaces.Reader.lease_entries``."""
    query = _selected(connection, _ENTRIES, filters, sort, limit, marker)
    return [LeaseEntry(*row) for row in connection.execute(query)]


def count_by_site(connection: Connection, project_id: str | None) -> dict[str, int]:
    """Return the number of live leases of a gateway by the site that they are at; those without a site are left out.

    :param project_id: None means all projects
    """
    final = [state.value for state in FINAL_STATES]
    query = select(LEASES.c.site, func.count()).where(
        LEASES.c.site.is_not(None), LEASES.c.state.not_in(final), LEASES.c.deleted_at.is_(None)
    )
    if project_id is not None:
        query = query.where(LEASES.c.project_id == project_id)
    return dict(connection.execute(query.group_by(LEASES.c.site)).all())


def _selected(
    connection: Connection,
    query: Select[Any],
    filters: Mapping[str, Any],
    sort: Sequence[tuple[str, str]],
    limit: int | None,
    marker: str | None,
) -> Select[Any]:
    """Return a query of leases with conditions, order and limit."""
    query = query.where(*_conditions(filters))
    order = [(_SORT_COLUMNS[key], direction == "desc") for key, direction in sort]
    if marker is not None:
        query = query.where(_after_marker(connection, [*order, (LEASES.c.sequence, False)], marker))
    # Databases differ in whether NULL sorts first or last.
    for column, descending in order:
        query = query.order_by(column.is_(None), column.desc() if descending else column.asc())
    return query.order_by(LEASES.c.sequence).limit(limit)


def _views(connection: Connection, rows: Sequence[Any]) -> list[Document]:
    ids = [row["id"] for row in rows]
    held = grouped(connection, HOLDINGS_OF_LEASES, ids)
    named = grouped(connection, RESERVATIONS_OF_LEASES, ids)
    broken = grouped(connection, _BREACHES_OF_LEASES, [row["id"] for row in rows if row["breach_count"]])
    return [views.lease(row, named[row["id"]], held[row["id"]], broken[row["id"]]) for row in rows]


def _conditions(filters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    conditions = [LEASES.c[name] == filters[name] for name in _EQUAL if filters.get(name) is not None]
    if filters.get("number") is not None:
        conditions.append(LEASES.c.sequence == filters["number"] - 1)
    if filters.get("after") is not None:
        # A reservation that ended early may show the end that was promised.
        after = filters["after"]
        promised = LEASES.c.requested_start + LEASES.c.duration
        conditions.append(or_(LEASES.c.ended.is_(None), LEASES.c.ended > after, promised > after))
    if filters.get("states"):
        conditions.append(LEASES.c.state.in_(list(filters["states"])))
    if filters.get("state_in_words"):
        conditions.append(STATE_IN_WORDS.in_([filters["state_in_words"]]))
    if filters.get("statuses"):
        conditions.append(or_(*(_has_status(status) for status in filters["statuses"])))
    if filters.get("live"):
        conditions.append(LEASES.c.state.not_in([state.value for state in FINAL_STATES]))
    if not filters.get("deleted"):
        conditions.append(LEASES.c.deleted_at.is_(None))
    return conditions


def _has_status(status: str) -> ColumnElement[bool]:
    """Return the condition that a lease has a status of Blazar."""
    states = [state.value for state in states_of(status)]
    at_work = exists().where(OPERATIONS.c.lease_id == LEASES.c.id)
    condition: ColumnElement[bool] = LEASES.c.state.in_(states)
    if status in _AT_WORK:
        return and_(condition, at_work.where(OPERATIONS.c.kind == _AT_WORK[status]))
    if status in ("PENDING", "ACTIVE"):
        return and_(condition, ~at_work.where(OPERATIONS.c.kind.in_(list(_AT_WORK.values()))))
    return condition


def _after_marker(connection: Connection, order: list[tuple[Any, bool]], marker: str) -> ColumnElement[bool]:
    """Return the condition that a lease comes after the marker in an order; NULL comes last.

    :param order: columns, each with whether it is descending
    :param marker: id of a lease
    :raises RefusedError: there is no lease with this id
    """
    row = connection.execute(select(*(column for column, _ in order)).where(LEASES.c.id == marker)).one_or_none()
    if row is None:
        raise RefusedError(400, f"marker: there is no lease {marker}", "marker")
    conditions = []
    same: list[ColumnElement[bool]] = []
    for (column, descending), value in zip(order, row, strict=True):
        if value is None:
            same.append(column.is_(None))
            continue
        behind = or_(column < value if descending else column > value, column.is_(None))
        conditions.append(and_(*same, behind))
        same.append(column == value)
    return or_(*conditions)
