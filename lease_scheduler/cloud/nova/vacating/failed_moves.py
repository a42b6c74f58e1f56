"""Resizes and cold migrations that fail after Nova has given the server its new host.

Nova shows such a server on the new host, where it does not run, and returns the capacity on the old host to the server
in Placement. It never releases this capacity, whatever happens to the server.
"""

from __future__ import annotations

from typing import Any

from lease_scheduler.cloud.nova.api import server as of

#: Nova's types of resizes and of cold migrations.
WITH_CONFIRMATION = frozenset({"resize", "migration"})

#: Statuses of failed migrations.
_FAILED = frozenset({"error", "failed"})


def has_failed(migration: Any, server: Any) -> bool:
    """Return whether a migration of a server has failed although Nova shows the server on its new host."""
    return (
        migration.migration_type in WITH_CONFIRMATION
        and migration.status in _FAILED
        and migration.dest_compute == of.service(server)
        and migration.dest_compute != migration.source_compute
    )
