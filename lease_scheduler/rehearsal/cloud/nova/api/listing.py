"""Lists of servers: which servers a query means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from lease_scheduler.rehearsal.cloud.http import Refusal, Request
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.store import Store

_TRUE = frozenset({"1", "true", "yes", "on", "t", "y"})

#: Parameter -> whether a server has a value of it.
_FITS: Mapping[str, Callable[[Server, str], bool]] = {
    "project_id": lambda server, value: server.project_id == value,
    "tenant_id": lambda server, value: server.project_id == value,
    "user_id": lambda server, value: server.user_id == value,
    "host": lambda server, value: server.host == value,
    "node": lambda server, value: server.host == value,
    "uuid": lambda server, value: server.id == value,
    "name": lambda server, value: value in server.name,
    "image": lambda server, value: server.image_id == value,
    "flavor": lambda server, value: server.flavor.id == value,
    "locked": lambda server, value: server.locked is is_true(value),
    "vm_state": lambda server, value: server.state == value,
    "task_state": lambda server, value: server.task == value,
    "tags": lambda server, value: set(value.split(",")) <= set(server.tags),
    "tags-any": lambda server, value: bool(set(value.split(",")) & set(server.tags)),
    "not-tags": lambda server, value: not set(value.split(",")) <= set(server.tags),
    "not-tags-any": lambda server, value: not set(value.split(",")) & set(server.tags),
}

#: Parameters that only administrators may use; for others they have no effect.
_OF_ADMINS = frozenset({"host", "node", "all_tenants", "uuid", "vm_state", "task_state"})


def is_true(text: str) -> bool:
    """Return whether a parameter says yes."""
    return text.lower() in _TRUE


def wanted(store: Store, request: Request, identity: Identity) -> list[Server]:
    """Return the servers that a query means, the youngest first.

    :raises Refusal: the query is wrong, or only administrators may ask it
    """
    query = {key: value for key, value in request.query.items() if identity.is_admin or key not in _OF_ADMINS}
    wants_deleted = is_true(query.get("deleted", "0")) or "changes-since" in query
    found: Iterable[Server] = store.servers.values() if wants_deleted else store.present()
    if not (identity.is_admin and is_true(query.get("all_tenants", "0"))):
        asked = query.get("project_id") or query.get("tenant_id")
        project_id = asked if identity.is_admin and asked else identity.project_id
        found = [each for each in found if each.project_id == project_id]
    if "status" in query:
        allowed = states.states_of(query["status"].upper())
        found = [each for each in found if each.state in allowed and each.status == query["status"].upper()]
    since = query.get("changes-since")
    if is_true(query.get("deleted", "0")):
        if not identity.is_admin:
            raise Refusal(403, "Policy doesn't allow deleted servers to be listed.")
        found = [each for each in found if each.deleted or each.state == states.SOFT_DELETED]
    elif since is None:
        found = [each for each in found if not each.deleted and each.state != states.SOFT_DELETED]
    if since is not None:
        begin = _instant(since)
        # Nova keeps whole seconds.
        found = [each for each in found if int(each.changed) >= int(begin)]
    for key, fits in _FITS.items():
        if key in query:
            found = [each for each in found if fits(each, query[key])]
    return sorted(found, key=lambda each: each.number, reverse=True)


def _instant(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise Refusal(400, f"Invalid input for query parameters changes-since. Value: {text}.") from None
