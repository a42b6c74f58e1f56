"""Pools in requests: which of them the caller's project may use."""

from __future__ import annotations

from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.model.pools import usable


def usable_pools(settings: ApiSettings, caller: Caller) -> list[str]:
    """Return the names of the pools that the caller's project may use, in the configured order."""
    return usable(settings.pools, caller.project_id, caller.roles)


def pools_for(settings: ApiSettings, caller: Caller, wanted: str | None, project_id: str | None = None) -> Document:
    """Return the key ``pools`` of a lease document, or nothing if the site has only one pool.

    :param wanted: name of the pool that the request names, or None
    :param project_id: project of the lease, in which the caller's roles do not count; None if it is the caller's own
    :raises ApiError: 400, the project may not use this pool, or it does not exist; 403, the project may use no pool
    """
    if not settings.pools and wanted is None:
        return {}
    is_own = project_id in (None, caller.project_id)
    found = usable_pools(settings, caller) if is_own else usable(settings.pools, project_id or "", ())
    if not settings.pools:
        raise ApiError(400, "pool: this site has no pools to choose from; leave it out", "pool")
    if not found:
        raise ApiError(403, "pool: the project may use no pool of this site; ask its operator", "pool")
    if wanted is not None and wanted not in found:
        # The message does not reveal whether other projects may use a pool of this name.
        raise ApiError(
            400, f"pool: there is no pool {wanted} that the project may use; right is {', '.join(found)}", "pool"
        )
    return {"pools": found}
