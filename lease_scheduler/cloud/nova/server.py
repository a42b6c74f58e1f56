"""What Nova says of a server, read in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from novaclient.exceptions import Conflict, NotFound

from lease_scheduler.cloud.nova import names
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.nova.aggregates import is_true
from lease_scheduler.nova.boots import FLAVOR_LEASE, FLAVOR_PREEMPTIBLE

#: States of servers.
ACTIVE, OFFLOADED, SHELVED, STOPPED, SUSPENDED = "ACTIVE", "SHELVED_OFFLOADED", "SHELVED", "SHUTOFF", "SUSPENDED"
PAUSED, ERROR, BUILD, VERIFY_RESIZE, DELETED = "PAUSED", "ERROR", "BUILD", "VERIFY_RESIZE", "DELETED"
RESCUED, SOFT_DELETED = "RESCUE", "SOFT_DELETED"

#: What the tag of a server of a managed lease begins with.
_NUMBER = "lease-vm:"

#: Extra specs of a flavor that say what is counted instead of what it has.
_RESOURCES = "resources:"

#: States from which Nova shelves.
CAN_SHELVE = frozenset({ACTIVE, STOPPED, PAUSED, SUSPENDED})


def tags(server: Any) -> list[str]:
    """Its tags."""
    return list(getattr(server, "tags", None) or ())


def number_tag(number: int) -> str:
    """Tag of the server that is the VM of a number of its lease."""
    return f"{_NUMBER}{number}"


def is_number_tag(text: str) -> bool:
    """Whether a tag says which VM of its lease a server is."""
    return text.startswith(_NUMBER)


def number(server: Any) -> int | None:
    """Number of the VM of its lease that it is, none if nobody has said."""
    return next((int(text.removeprefix(_NUMBER)) for text in tags(server) if is_number_tag(text)), None)


def task(server: Any) -> str | None:
    """What Nova is doing with it, none if that is nothing."""
    found: str | None = getattr(server, "OS-EXT-STS:task_state", None)
    return found


def is_busy(server: Any) -> bool:
    """Whether Nova is doing something with it; for a moment in which a host takes it on, Nova does not say what."""
    return task(server) is not None or server.status == BUILD


def host(server: Any) -> str | None:
    """Name of the compute host on which it is, none if it is on none."""
    found: str | None = getattr(server, "OS-EXT-SRV-ATTR:hypervisor_hostname", None)
    return found


def service(server: Any) -> str | None:
    """Name of the compute service on which it is, none if it is on none."""
    found: str | None = getattr(server, "OS-EXT-SRV-ATTR:host", None)
    return found


def fault(server: Any) -> str:
    """Why it failed, as Nova tells it."""
    found: str = (getattr(server, "fault", None) or {}).get("message", "no reason is given")
    return found


def age(server: Any) -> float:
    """Seconds since it was asked for."""
    return (datetime.now(UTC) - datetime.fromisoformat(server.created)).total_seconds()


def made_for(server: Any) -> str | None:
    """The lease whose flavor it has, which only its project can use; none if that is an ordinary one."""
    return _extra_specs(server).get(FLAVOR_LEASE)


def leases(server: Any) -> frozenset[str]:
    """The lease that it belongs to, be it by its flavor or by a tag; empty if it belongs to none."""
    tagged = {lease_id for text in tags(server) if (lease_id := names.lease_of_tag(text)) is not None}
    flavor_lease = made_for(server)
    return frozenset(tagged if flavor_lease is None else {*tagged, flavor_lease})


def claims_nothing(server: Any) -> bool:
    """Whether Placement counts nothing for it but a slot, because all that it needs is held by its lease."""
    return _extra_specs(server).get(f"{_RESOURCES}{VCPU}") == "0"


def claims(server: Any) -> dict[str, int]:
    """What Placement counts for it by resource class, as its flavor says."""
    flavor = server.flavor
    disk_gb = flavor["disk"] + (flavor.get("ephemeral") or 0) + -(-int(flavor.get("swap") or 0) // 1024)
    found = {VCPU: flavor["vcpus"], MEMORY_MB: flavor["ram"], DISK_GB: disk_gb}
    for key, value in _extra_specs(server).items():
        if key.startswith(_RESOURCES) and value.isdigit():
            found[key.removeprefix(_RESOURCES)] = int(value)
    return found


def gives_way(server: Any) -> bool:
    """Whether its flavor says that it makes room for leases."""
    return _say_that_it_gives_way(_extra_specs(server))


def is_guest(server: Any) -> bool:
    """Return whether it makes room for leases, whatever its tags say: anybody may tag their own servers."""
    return made_for(server) is None and gives_way(server)


def is_ordinary(server: Any) -> bool:
    """Return whether it has no flavor of a lease and does not make room for leases either."""
    return made_for(server) is None and not gives_way(server)


def flavor_gives_way(flavor: Any) -> bool:
    """Whether servers of a flavor make room for leases.

    :param flavor: as novaclient lists it
    """
    return _say_that_it_gives_way(flavor.extra_specs)


def _say_that_it_gives_way(extra_specs: Mapping[str, str]) -> bool:
    return any(is_true(extra_specs.get(key)) for key in FLAVOR_PREEMPTIBLE)


def _extra_specs(server: Any) -> Mapping[str, str]:
    found: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return found


def command(call: Callable[..., Any], server: Any, *arguments: Any) -> None:
    """Give a command, which Nova refuses if the server has gone or begun with something else; that is seen later."""
    with suppress(Conflict, NotFound):
        call(server, *arguments)


def settle(nova: Any, server: Any) -> bool:
    """Bring a server out of a state in which Nova neither shelves nor moves it; return whether it was in one.

    Its owner can bring it into most of these states, which must not keep it where others are to be.

    :param nova: novaclient's client, of an administrator
    """
    commands: dict[str, Callable[[Any], Any]] = {
        RESCUED: nova.servers.unrescue,
        VERIFY_RESIZE: nova.servers.confirm_resize,
        ERROR: lambda each: nova.servers.reset_state(each, "active"),
        # Its owner has deleted it, and it could be restored for a while.
        SOFT_DELETED: nova.servers.force_delete,
    }
    found = commands.get(server.status)
    if found is None:
        return False
    command(found, server)
    return True
