"""Transitions of leases in the database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, or_, select

from lease_scheduler.model.documents import Document
from lease_scheduler.records.history import Event, EventPage, Transition
from lease_scheduler.store.sql.schema.leases import HISTORY, LEASES


def of_lease(connection: Connection, lease_id: str) -> list[Document]:
    """Return what has happened to a lease, earliest first; see ``api.interfaces.Reader.history``."""
    query = select(HISTORY).where(HISTORY.c.lease_id == lease_id).order_by(HISTORY.c.id)
    return [
        {
            "sequence": row["id"],
            "instant": row["instant"],
            "from": row["from_state"],
            "to": row["to_state"],
            "reason": row["reason"],
            "user_id": row["user_id"],
            "project_id": row["project_id"],
        }
        for row in connection.execute(query).mappings()
    ]


def page_of(
    connection: Connection, since: int, limit: int, project_id: str | None, origin: str | None = None
) -> EventPage:
    """Return transitions of all leases as one sequence; see ``api.interfaces.Reader.events``.

    Only the engine that leads writes transitions, in one transaction after the other, so numbers become visible in
    their order.
    """
    # Read first: an event that is written between the two queries comes with the next page.
    latest = connection.scalar(select(func.max(HISTORY.c.id))) or 0
    query = (
        select(HISTORY, LEASES.c.project_id.label("lease_project"))
        .join(LEASES, LEASES.c.id == HISTORY.c.lease_id)
        .where(HISTORY.c.id > since, HISTORY.c.id <= latest)
        .order_by(HISTORY.c.id)
        .limit(limit + 1)
    )
    if project_id is not None:
        is_own = LEASES.c.project_id == project_id
        query = query.where(is_own if origin is None else or_(is_own, LEASES.c.origin == origin))
    rows = connection.execute(query).mappings().all()
    events = tuple(
        Event(
            row["id"],
            row["lease_project"],
            Transition(row["lease_id"], row["instant"], row["from_state"], row["to_state"], row["reason"]),
        )
        for row in rows[:limit]
    )
    more = len(rows) > limit
    if not more or limit == 0:
        return EventPage(events, latest, more=False)
    return EventPage(events, events[-1].sequence, more=True)


def row_of(transition: Transition) -> dict[str, Any]:
    """Return the columns of a transition."""
    actor = transition.actor
    return {
        "lease_id": transition.lease_id,
        "instant": transition.instant,
        "from_state": transition.before,
        "to_state": transition.after,
        "reason": transition.reason,
        "user_id": None if actor is None else actor.user_id,
        "project_id": None if actor is None else actor.project_id,
    }
