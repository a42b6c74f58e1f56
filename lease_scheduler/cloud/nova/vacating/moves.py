"""Nova's migrations: whether Nova may still go on with one, and so needs what it has claimed for it.

A resize or a cold migration that fails may return the capacity on the old host to the server in Placement, although
Nova shows the server on its new host. Nova never releases this capacity, whatever happens to the server. The move need
not be the last one of the server: if a resize hangs, the server can be reset and resized again, and the first resize
fails when it goes on, long after the second one was confirmed.
"""

from __future__ import annotations

from typing import Any

from lease_scheduler.cloud.nova.api import server as of

#: Nova's types of resizes and of cold migrations.
WITH_CONFIRMATION = frozenset({"resize", "migration"})

#: Statuses of migrations with which Nova does nothing any more.
OVER = frozenset({"completed", "confirmed", "reverted", "cancelled", "error", "failed"})

#: Statuses of resizes and cold migrations that are not finished, and tasks of their servers.
_UNFINISHED = frozenset({"pre-migrating", "migrating", "post-migrating"})
_FINISHING = "resize_finish"
_TASKS = frozenset({"resize_prep", "resize_migrating", "resize_migrated", _FINISHING})

#: Status of one whose server is on its new host, and statuses of servers that may go back.
_FINISHED = "finished"
_MAY_GO_BACK = frozenset({of.VERIFY_RESIZE, "REVERT_RESIZE"})


def is_under_way(migration: Any, server: Any) -> bool:
    """Return whether Nova may still go on with a migration of a server.

    Nova gives up a resize if the server does not have the task that the resize has set, for example because it was
    reset. It only confirms or reverts a resize for which the server waits.

    :param server: as it is after the migration was read
    """
    if migration.status in OVER:
        return False
    if migration.migration_type not in WITH_CONFIRMATION or migration.status not in {*_UNFINISHED, _FINISHED}:
        return True
    # The resize may have made progress in the meantime.
    tasks = {_FINISHING} if migration.status == _FINISHED else _TASKS
    return of.task(server) in tasks or server.status in _MAY_GO_BACK
