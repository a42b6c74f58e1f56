"""Free devices of a host, without lent ones, which a server of a lease may claim at any time.

A lease releases its devices for its servers, so Placement counts them as free until a server claims them. Each server
takes a slot in the same claim, and a lease has slots for devices only after it has released them. So each free slot
stands for the devices that a server of its flavor would claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.nested import Stock
from lease_scheduler.cloud.nova.api.placement import Placement, capacity
from lease_scheduler.model.providers import Provider, ProviderGroup
from lease_scheduler.model.resources import Resources


@dataclass(frozen=True)
class Devices:
    """What the providers of a host offer, including its root provider, and what is free.

    :ivar offered: provider -> what it offers
    :ivar free: provider -> class -> amount that nobody has claimed
    :ivar lent: groups that servers of leases may still claim
    """

    offered: Mapping[str, Provider]
    free: Mapping[str, Mapping[str, int]]
    lent: tuple[ProviderGroup, ...]

    def stock(self) -> Stock:
        """Return what is free and not lent."""
        stock = Stock(self.offered, self.free)
        for group in self.lent:
            stock.take(group)
        return stock

    def are_displaced(self, held: Iterable[Mapping[str, Mapping[str, int]]]) -> bool:
        """Return whether lent devices are missing because a lease holds others.

        :param held: provider -> class -> amount, for each consumer of the lease
        """
        without = {provider_id: dict(amounts) for provider_id, amounts in self.free.items()}
        for amounts in held:
            for provider_id in amounts.keys() & without.keys():
                for name, amount in amounts[provider_id].items():
                    without[provider_id][name] = without[provider_id].get(name, 0) + amount
        return self._served(Stock(self.offered, without)) > self._served(Stock(self.offered, self.free))

    def _served(self, stock: Stock) -> int:
        return sum(stock.take(group) is not None for group in self.lent)


class DeviceReader:
    """Reader of the devices of hosts.

    :param groups_of: returns what a server of a flavor with this id claims of nested providers
    """

    def __init__(self, placement: Placement, groups_of: Callable[[str], tuple[ProviderGroup, ...]]) -> None:
        self._placement = placement
        self._groups_of = groups_of

    def read(self, host: str, root_id: str, own: Mapping[str, int]) -> Devices:
        """Return the devices of a host.

        :param root_id: id of its root provider
        :param own: class of slots of the lease that asks -> number of servers for which it has lent devices there. For
            classes of other leases, all slots count
        """
        providers = (*self._placement.tree(root_id), root_id)
        offered, amounts = {}, {}
        for provider_id in providers:
            inventories = self._placement.inventories(provider_id)
            amounts[provider_id] = {name: capacity(inventory) for name, inventory in inventories.items()}
            offered[provider_id] = Provider(
                Resources({name: max(amount, 0) for name, amount in amounts[provider_id].items()}),
                self._placement.traits(provider_id),
                Resources({name: inventory["max_unit"] for name, inventory in inventories.items()}),
            )
        # Otherwise a server that claims devices between the two readings could count twice, or not at all.
        slots, used = self._placement.with_slots(
            names.slots_provider_id(host), lambda: {each: self._placement.usages(each) for each in providers}
        )
        free = {
            provider_id: {name: amount - used[provider_id].get(name, 0) for name, amount in of_provider.items()}
            for provider_id, of_provider in amounts.items()
        }
        unclaimed = {name: own.get(name, total) - taken for name, (total, taken) in slots.items()}
        return Devices(offered, free, tuple(self._lent(unclaimed)))

    def _lent(self, unclaimed: Mapping[str, int]) -> Iterable[ProviderGroup]:
        for name, count in sorted(unclaimed.items()):
            flavor_id = names.flavor_of_slot_class(name)
            if flavor_id is not None and count > 0:
                yield from self._groups_of(flavor_id) * count
