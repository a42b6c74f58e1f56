"""Slots in Placement. Each server of a lease on shared hosts claims one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.api.placement import NoRoomError, Placement
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims


class Slots:
    """The slots of leases.

    :param stale_claims: releases slots of servers that are gone
    """

    def __init__(self, placement: Placement, nodes: Nodes, stale_claims: StaleClaims) -> None:
        self._placement = placement
        self._nodes = nodes
        self._stale_claims = stale_claims

    def make(self, vms: Sequence[lease_parts.Vm], labels: Mapping[int, Labels]) -> None:
        """Make a slot for each server of some nodes."""
        slots = lease_parts.slots(vms, labels)
        for name in sorted({name for of_host in slots.values() for name in of_host}):
            self._placement.ensure_class(name)
        for host, totals in slots.items():
            provider_id, parent_id = names.slots_provider_id(host), self._nodes.node(host).provider_id
            self._placement.ensure_slots(provider_id, names.slots_provider(host), parent_id, totals)

    def remove(self, host: str, classes: Collection[str]) -> bool:
        """Remove slots from a host, after releasing stale claims of them. Return False if servers have some."""
        if self.try_to_remove(host, classes):
            return True
        return self._stale_claims.release(host, classes) and self.try_to_remove(host, classes)

    def try_to_remove(self, host: str, classes: Collection[str]) -> bool:
        """Remove slots from a host. Return False if any consumer has some of them."""
        try:
            self._placement.remove_slots(names.slots_provider_id(host), classes)
        except NoRoomError:
            return False
        return True
