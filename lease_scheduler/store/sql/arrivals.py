"""Reading what is known of the requests that arrive."""

from __future__ import annotations

from sqlalchemy import Connection, select

from lease_scheduler.model.documents import Document
from lease_scheduler.records.site_state import ARRIVALS
from lease_scheduler.store.sql.schema import POLICY_STATE


def known(connection: Connection) -> dict[str, Document]:
    """Return what is known of each sort of requests; see ``api.interfaces.Reader.arrivals``."""
    family, name = ARRIVALS
    query = select(POLICY_STATE).where(
        POLICY_STATE.c.pool == "", POLICY_STATE.c.family == family, POLICY_STATE.c.policy == name
    )
    return {row["subject"]: row["state"] for row in connection.execute(query).mappings()}
