"""Requests to place a server, in the form in which filters and weighers read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.cloud.nova.api import extra_specs as specs
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.rehearsal.cloud.nova.records import Flavor, Server
from lease_scheduler.rehearsal.cloud.placement.candidates import Group, Wish

DISABLED = "COMPUTE_STATUS_DISABLED"

_MB_PER_GB = 1024


class _Readable:
    """Something of which a reader asks ``"name" in value``, as of Nova's objects."""

    def __contains__(self, name: str) -> bool:
        return hasattr(self, name)


@dataclass(frozen=True)
class SeenFlavor(_Readable):
    """A flavor."""

    extra_specs: Mapping[str, str]


@dataclass(frozen=True)
class SeenGroup:
    """What an alias of PCI devices asks for."""

    resources: Mapping[str, int]


@dataclass(frozen=True)
class PlacementRequest(_Readable):
    """A request to place a server.

    :ivar server: the server
    :ivar wanted: flavor that it is to have
    :ivar ignored: hosts that it must not get
    """

    server: Server
    wanted: Flavor
    ignored: frozenset[str] = frozenset()
    requested_resources: tuple[SeenGroup, ...] = field(default=())

    @property
    def project_id(self) -> str:
        """Its project."""
        return self.server.project_id

    @property
    def instance_uuid(self) -> str:
        """The id of the server."""
        return self.server.id

    @property
    def flavor(self) -> SeenFlavor:
        """The flavor that it is to have."""
        return SeenFlavor(self.wanted.extra_specs)

    @property
    def scheduler_hints(self) -> Mapping[str, list[str]]:
        """What the server was booted with."""
        return self.server.asked.hints


def request_for(server: Server, flavor: Flavor, aliases: PciAliases, **more: Any) -> PlacementRequest:
    """Return the request to place a server with a flavor."""
    own = len(specs.groups(flavor.extra_specs))
    devices = specs.groups(aliases.spelled_out(flavor.extra_specs))
    asked = tuple(SeenGroup(dict(each.resources)) for each in devices) if len(devices) > own else ()
    return PlacementRequest(server, flavor, requested_resources=asked, **more)


def wish(request: PlacementRequest, aliases: PciAliases) -> Wish | None:
    """Return what Placement is asked for, or None if Placement would refuse the question."""
    flavor, server = request.wanted, request.server
    root = 0 if server.boots_from_volume else flavor.disk
    size = {
        "VCPU": flavor.vcpus,
        "MEMORY_MB": flavor.ram,
        "DISK_GB": root + flavor.ephemeral + math.ceil(flavor.swap / _MB_PER_GB),
    }
    amounts = {name: amount for name, amount in {**size, **specs.resources(flavor.extra_specs)}.items() if amount}
    policy = flavor.extra_specs.get(specs.GROUP_POLICY[0])
    if policy is None and len(specs.groups(flavor.extra_specs)) > 1:
        return None
    groups = specs.groups(aliases.spelled_out(flavor.extra_specs))
    return Wish(
        Group(amounts, specs.traits(flavor.extra_specs), frozenset({DISABLED})),
        tuple(Group(dict(each.resources), frozenset(each.traits)) for each in groups),
        is_isolated=policy == "isolate",
    )
