"""Resizes, and migrations of servers that do not run, that fail after Nova has given the server its new host.

Nova shows such a server on the new host, where it does not run, and gives the room on the old host back to it in
Placement. It never releases that, whatever happens to the server.
"""

from __future__ import annotations

from typing import Any

from lease_scheduler.cloud.nova.api import server as of

#: What Nova calls resizes, and migrations of servers that do not run.
WITH_CONFIRMATION = frozenset({"resize", "migration"})

#: States of migrations that have failed.
_FAILED = frozenset({"error", "failed"})


def has_failed(migration: Any, server: Any) -> bool:
    """Return whether a migration of a server has failed although Nova shows the server on its new host."""
    return (
        migration.migration_type in WITH_CONFIRMATION
        and migration.status in _FAILED
        and migration.dest_compute == of.service(server)
        and migration.dest_compute != migration.source_compute
    )
