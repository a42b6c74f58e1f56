"""Nested resource providers of compute hosts, such as GPUs: what they offer to leases, and which serves a group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.placement import Placement, capacity
from lease_scheduler.model.providers import Provider, ProviderGroup
from lease_scheduler.records.pool import ProviderRecord

#: Classes of what leases have, here or in Blazar. They are not capacity of the host.
_OF_LEASES = re.compile("CUSTOM_(?:LEASE|RESERVATION)_.*")


def is_of_leases(resource_class: str) -> bool:
    """Return whether a resource class belongs to a lease or a reservation."""
    return _OF_LEASES.fullmatch(resource_class) is not None


def below(placement: Placement, root_id: str, host: str) -> tuple[ProviderRecord, ...]:
    """Return the nested providers of a host that offer something, in the order of their names.

    :param root_id: id of the root provider of the host
    :param host: name of the host
    """
    slots_id = names.slots_provider_id(host)
    found = [
        _record(name, placement.inventories(provider_id), placement.traits(provider_id))
        for provider_id, name in placement.tree(root_id).items()
        if provider_id != slots_id
    ]
    return tuple(sorted((each for each in found if each.capacity), key=lambda each: each.name))


def _record(name: str, inventories: Mapping[str, Mapping[str, Any]], traits: frozenset[str]) -> ProviderRecord:
    offered = {key: inventory for key, inventory in inventories.items() if not is_of_leases(key)}
    amounts = {key: capacity(inventory) for key, inventory in offered.items()}
    return ProviderRecord(
        name=name,
        capacity={key: amount for key, amount in amounts.items() if amount > 0},
        max_unit={key: inventory["max_unit"] for key, inventory in offered.items() if amounts[key] > 0},
        traits=tuple(sorted(traits)),
    )


class Stock:
    """What is free on the providers of a host, including its root provider, while groups are taken from it.

    :param offered: provider -> what it offers
    :param free: provider -> class -> free amount, negative if the provider is overdrawn
    """

    def __init__(self, offered: Mapping[str, Provider], free: Mapping[str, Mapping[str, int]]) -> None:
        self._offered = offered
        self._free = {provider_id: dict(amounts) for provider_id, amounts in free.items()}

    def take(self, group: ProviderGroup) -> str | None:
        """Take a group from the first provider that can serve it, and return the id of the provider, or None."""
        for provider_id, offered in self._offered.items():
            free = self._free[provider_id]
            if offered.can_ever_serve(group) and group.resources.fits_in(free):
                for name, amount in group.resources.items():
                    free[name] -= amount
                return provider_id
        return None
