"""Locks of servers, and the states in which Nova accepts a command."""

from __future__ import annotations

from collections.abc import Collection

from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.records import Server
from lease_scheduler.rehearsal.cloud.nova.store import Store


def check_lock(server: Server, identity: Identity) -> None:
    """Check that a lock does not keep somebody from commanding a server.

    :raises Refusal: it does
    """
    if server.locked and not identity.is_admin:
        raise Refusal(409, f"Instance {server.id} is locked")


def check_state(
    server: Server,
    what: str,
    allowed: Collection[str] | None,
    tasks: Collection[str | None] | None = (None,),
    *,
    must_have_run: bool = True,
) -> None:
    """Check that Nova accepts a command for a server as it is.

    :param allowed: states; None for any
    :param tasks: tasks; None for any
    :param must_have_run: whether it must have been on a host
    :raises Refusal: it does not
    """
    if allowed is not None and server.state not in allowed:
        _refuse(server, what, "vm_state", server.state)
    if tasks is not None and server.task not in tasks:
        _refuse(server, what, "task_state", server.task)
    if must_have_run and server.launched_at is None:
        _refuse(server, what, "launched_at", None)


def check_host(server: Server) -> None:
    """Check that a server is on a host.

    :raises Refusal: it is not
    """
    if server.host is None:
        raise Refusal(409, f"Instance {server.id} is not ready")


def lock(store: Store, server: Server, identity: Identity, reason: str | None) -> bool:
    """Lock a server. Return False if a lock of others stays as it is."""
    is_owner = server.project_id == identity.project_id
    if server.locked and is_owner:
        return False
    values: dict[str, object] = {"locked": True, "locked_by": "owner" if is_owner else "admin"}
    store.change(server, **values, **({"locked_reason": reason} if reason else {}))
    return True


def unlock(store: Store, server: Server, identity: Identity) -> None:
    """Unlock a server.

    :raises Refusal: an administrator has locked it, and the one who asks is none
    """
    expected = "owner" if server.project_id == identity.project_id else "admin"
    if server.locked_by not in (None, expected) and not identity.is_admin:
        raise Refusal(403, "Policy doesn't allow os_compute_api:os-lock-server:unlock:unlock_override to be performed.")
    store.change(server, locked=False, locked_by=None, locked_reason=None)


def _refuse(server: Server, what: str, name: str, value: str | None) -> None:
    raise Refusal(409, f"Cannot '{what}' instance {server.id} while it is in {name} {value}")


#: States of servers that have a disk on a host.
WITH_DISK = (states.ACTIVE, states.STOPPED, states.PAUSED, states.SUSPENDED)
