"""Facts that Nova tells about a server, read in one place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from novaclient.exceptions import BadRequest, ClientException, Conflict, Forbidden, NotFound, OverLimit

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.extra_specs import RESOURCES, all_resources, groups
from lease_scheduler.cloud.nova.api.pci_aliases import ALIAS
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.nova.aggregates import is_true
from lease_scheduler.nova.boots import FLAVOR_LEASE, FLAVOR_PREEMPTIBLE

LOG = logging.getLogger(__name__)

#: Resource classes that are the size of a server.
_SIZE = frozenset({VCPU, "PCPU", MEMORY_MB, DISK_GB})

#: States of servers.
ACTIVE, OFFLOADED, SHELVED, STOPPED, SUSPENDED = "ACTIVE", "SHELVED_OFFLOADED", "SHELVED", "SHUTOFF", "SUSPENDED"
PAUSED, ERROR, BUILD, VERIFY_RESIZE, DELETED = "PAUSED", "ERROR", "BUILD", "VERIFY_RESIZE", "DELETED"
RESCUED, SOFT_DELETED = "RESCUE", "SOFT_DELETED"

#: Prefix of a tag of the servers of managed leases.
_NUMBER = "lease-vm:"

#: Prefixes of tasks after which a server has released its host.
_GOING = ("shelving", "deleting", "soft-deleting")

#: Prefix of the tasks of a server that is shelved and has been switched off.
_COPIED = "shelving_"

#: Prefixes of tasks that make an image of a server. Nova lets a project begin one even if the server is locked.
_IMAGING = ("image_snapshot", "image_pending_upload", "image_uploading", "image_backup")

#: Exceptions of Nova where a server becomes busy after Nova has looked at it.
_BECAME_BUSY = ("UnexpectedTaskStateError", "UnexpectedDeletingTaskStateError")

#: States in which a server uses only disk space of its host.
ASIDE = frozenset({STOPPED, SUSPENDED})

#: States in which Nova can shelve a server.
CAN_SHELVE = frozenset({ACTIVE, STOPPED, PAUSED, SUSPENDED})


def tags(server: Any) -> list[str]:
    """Return the tags of a server."""
    return list(getattr(server, "tags", None) or ())


def number_tag(number: int) -> str:
    """Return the tag of the server with a number in its lease."""
    return f"{_NUMBER}{number}"


def is_number_tag(text: str) -> bool:
    """Return whether a tag is one of those that ``number_tag`` makes."""
    return text.startswith(_NUMBER)


def number(server: Any) -> int | None:
    """Return the number of a server in its lease, or None if it has no such tag."""
    found = (text.removeprefix(_NUMBER) for text in tags(server) if is_number_tag(text))
    # Users can give their servers any tag.
    return next((int(text) for text in found if text.isdecimal()), None)


def task(server: Any) -> str | None:
    """Return the task that Nova is doing with a server, or None."""
    found: str | None = getattr(server, "OS-EXT-STS:task_state", None)
    return found


def is_going(server: Any) -> bool:
    """Return whether a server is being deleted or shelved, and so is about to release what it has."""
    return (task(server) or "").startswith(_GOING)


def is_copied_away(server: Any) -> bool:
    """Return whether a server that is being shelved is switched off, so that only its disk still uses its host."""
    return (task(server) or "").startswith(_COPIED)


def is_busy(server: Any) -> bool:
    """Return whether Nova is doing something with a server. While it is being scheduled, it may have no task."""
    return task(server) is not None or server.status == BUILD


def makes_image(server: Any) -> bool:
    """Return whether Nova is making an image of a server."""
    return (task(server) or "").startswith(_IMAGING)


def host(server: Any) -> str | None:
    """Return the name of the compute host of a server, or None if it is on no host."""
    found: str | None = getattr(server, "OS-EXT-SRV-ATTR:hypervisor_hostname", None)
    return found


def service(server: Any) -> str | None:
    """Return the name of the compute service of a server, or None if it is on no host."""
    found: str | None = getattr(server, "OS-EXT-SRV-ATTR:host", None)
    return found


def fault(server: Any) -> str:
    """Return Nova's reason for a failure of a server."""
    found: str = (getattr(server, "fault", None) or {}).get("message", "no reason is given")
    return found


def age(server: Any) -> float:
    """Return the seconds since a server was created."""
    return (datetime.now(UTC) - datetime.fromisoformat(server.created)).total_seconds()


def idle_time(server: Any) -> float:
    """Return the seconds since Nova has last changed a server, by the clocks of Nova and of this machine."""
    return (datetime.now(UTC) - datetime.fromisoformat(server.updated)).total_seconds()


def made_for(server: Any) -> str | None:
    """Return the lease whose flavor a server has, or None. Only the project of the lease can use such a flavor."""
    return _extra_specs(server).get(FLAVOR_LEASE)


def leases(server: Any) -> frozenset[str]:
    """Return the leases that a server belongs to by its flavor or by tags."""
    tagged = {lease_id for text in tags(server) if (lease_id := names.lease_of_tag(text)) is not None}
    flavor_lease = made_for(server)
    return frozenset(tagged if flavor_lease is None else {*tagged, flavor_lease})


def claims_nothing(server: Any) -> bool:
    """Return whether Placement counts only a slot for a server, because its lease holds all that it needs."""
    return _extra_specs(server).get(f"{RESOURCES}{VCPU}") == "0"


def claims_devices(server: Any) -> bool:
    """Return whether a server claims something of nested providers, which it always does itself."""
    return bool(groups(_extra_specs(server)))


def claims(server: Any) -> dict[str, int]:
    """Return resource class -> amount that Placement counts for a server, according to its flavor."""
    flavor = server.flavor
    disk_gb = flavor["disk"] + (flavor.get("ephemeral") or 0) + -(-int(flavor.get("swap") or 0) // 1024)
    found = {VCPU: flavor["vcpus"], MEMORY_MB: flavor["ram"], DISK_GB: disk_gb}
    return {**found, **all_resources(_extra_specs(server))}


def has_some_of(server: Any, missing: Mapping[str, int]) -> bool:
    """Return whether Placement counts for a server some of a class of which an amount is missing."""
    return any(amount and missing.get(name, 0) > 0 for name, amount in claims(server).items())


def gives_way(server: Any) -> bool:
    """Return whether the flavor of a server says that it makes room for leases."""
    return _say_that_it_gives_way(_extra_specs(server))


def is_guest(server: Any) -> bool:
    """Return whether a server makes room for leases. Tags do not count, because users may tag their own servers."""
    return made_for(server) is None and gives_way(server)


def is_ordinary(server: Any) -> bool:
    """Return whether a server neither has a flavor of a lease nor makes room for leases."""
    return made_for(server) is None and not gives_way(server)


def flavor_gives_way(flavor: Any) -> bool:
    """Return whether servers of a flavor make room for leases.

    :param flavor: as novaclient lists it
    """
    return _say_that_it_gives_way(flavor.extra_specs)


def flavor_has_devices(flavor: Any) -> bool:
    """Return whether servers of a flavor get more than a size: something of other classes, or PCI devices.

    :param flavor: as novaclient lists it
    """
    asked = {name for name, amount in all_resources(flavor.extra_specs).items() if amount}
    return ALIAS in flavor.extra_specs or not asked <= _SIZE


def _say_that_it_gives_way(extra_specs: Mapping[str, str]) -> bool:
    return any(is_true(extra_specs.get(key)) for key in FLAVOR_PREEMPTIBLE)


def _extra_specs(server: Any) -> Mapping[str, str]:
    found: Mapping[str, str] = server.flavor.get("extra_specs") or {}
    return found


def command(call: Callable[..., Any], server: Any, *arguments: Any) -> bool:
    """Give a command. Return False if Nova refuses it for a reason that lies in the server.

    A refusal because the server is gone or busy is ignored; the next look at the server shows it.
    """
    try:
        call(server, *arguments)
    except (BadRequest, Forbidden, OverLimit) as error:
        LOG.warning("Nova refuses a command for server %s: %s", server.id, error)
        return False
    except ClientException as error:
        if not is_gone_or_busy(error):
            raise
    return True


def is_gone_or_busy(error: ClientException) -> bool:
    """Return whether Nova failed a command because the server is gone, or busy with something else.

    If the server becomes busy while Nova carries out a command, Nova answers some commands with 500 instead of 409.
    Its message then names the exception.
    """
    if isinstance(error, (Conflict, NotFound)):
        return True
    return error.code == HTTPStatus.INTERNAL_SERVER_ERROR and any(name in str(error.message) for name in _BECAME_BUSY)


def add_tag(server: Any, tag: str) -> None:
    """Tag a server where Nova allows it: not in all states, and no more than 50 tags, which users may have set."""
    if tag not in tags(server) and not command(lambda each: each.add_tag(tag), server):
        LOG.warning("server %s does not get the tag %s", server.id, tag)


def delete_tag(server: Any, tag: str) -> None:
    """Remove a tag of a server, where Nova allows it."""
    command(lambda each: each.delete_tag(tag), server)


def settle(nova: Any, server: Any) -> bool:
    """Bring a server out of a state in which Nova neither shelves nor moves it. Return whether it was in one.

    Users can bring their servers into most of these states, which must not let them keep a host.

    :param nova: novaclient's client with administrator rights
    """

    def reset(each: Any) -> None:
        nova.servers.reset_state(each, "active")

    commands: dict[str, Callable[[Any], Any]] = {
        RESCUED: lambda each: nova.servers.unrescue(each),
        VERIFY_RESIZE: lambda each: nova.servers.confirm_resize(each),
        ERROR: reset,
    }
    found = commands.get(server.status)
    if found is None:
        return False
    if not command(found, server):
        # For example because Nova has lost the migration that it should confirm.
        command(reset, server)
    return True


def revive(nova: Any, server: Any) -> None:
    """Reboot a failed server hard, which defines it on its hypervisor anew.

    The hypervisor may have lost it, by a rebuild that failed, and then neither stops nor shelves nor moves it.

    :param nova: novaclient's client with administrator rights
    """
    command(nova.servers.reboot, server, "HARD")
