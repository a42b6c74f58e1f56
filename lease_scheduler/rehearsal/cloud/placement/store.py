"""Providers, inventories and allocations, and the rules by which they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.placement.records import Allocation, Consumer, Inventory, Provider

CONCURRENT_UPDATE = "placement.concurrent_update"
UNDEFINED = "placement.undefined_code"

#: Amounts by resource class, by id of the provider.
Amounts = Mapping[str, Mapping[str, int]]


@dataclass
class Store:
    """What Placement knows.

    :ivar providers: id -> provider, in the order of their creation
    :ivar classes: names of the resource classes
    :ivar traits: names of the traits
    :ivar consumers: id -> consumer that has allocations
    """

    providers: dict[str, Provider] = field(default_factory=dict)
    classes: dict[str, None] = field(default_factory=dict)
    traits: dict[str, None] = field(default_factory=dict)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    _on: dict[str, dict[str, Allocation]] = field(default_factory=dict)

    # -- providers -------------------------------------------------------------------------------------------

    def provider(self, provider_id: str) -> Provider:
        """Return a provider.

        :raises Refusal: there is none with this id
        """
        found = self.providers.get(provider_id)
        if found is None:
            raise Refusal(404, f"No resource provider with uuid {provider_id} found", UNDEFINED)
        return found

    def named(self, name: str) -> Provider | None:
        """Return the provider with a name, or None."""
        return next((each for each in self.providers.values() if each.name == name), None)

    def add_provider(self, provider_id: str, name: str, parent_id: str | None = None) -> Provider:
        """Create a provider.

        :raises Refusal: its id or name is taken, or there is no such parent
        """
        if provider_id in self.providers or self.named(name) is not None:
            what = f"uuid {provider_id}" if provider_id in self.providers else f"name {name}"
            raise Refusal(409, f"Conflicting resource provider {what} already exists.", "placement.duplicate_name")
        parent = None if parent_id is None else self.providers.get(parent_id)
        if parent_id is not None and parent is None:
            raise Refusal(400, f"parent provider UUID '{parent_id}' does not exist.", UNDEFINED)
        made = Provider(provider_id, name, parent_id, provider_id if parent is None else parent.root_id)
        self.providers[provider_id] = made
        return made

    def remove_provider(self, provider_id: str) -> None:
        """Remove a provider.

        :raises Refusal: it has children, or something is taken from it
        """
        self.provider(provider_id)
        if any(each.parent_id == provider_id for each in self.providers.values()):
            code = "placement.resource_provider.cannot_delete_parent"
            raise Refusal(409, f"Unable to delete parent resource provider {provider_id}: It has child", code)
        if self.on(provider_id):
            code = "placement.resource_provider.inuse"
            raise Refusal(409, f"Unable to delete resource provider {provider_id}: Resource provider has alloc", code)
        del self.providers[provider_id]

    def tree(self, provider_id: str) -> list[Provider]:
        """Return all providers of the tree of a provider; empty if it does not exist."""
        member = self.providers.get(provider_id)
        if member is None:
            return []
        return [each for each in self.providers.values() if each.root_id == member.root_id]

    # -- inventories -----------------------------------------------------------------------------------------

    def set_inventories(self, provider: Provider, inventories: Mapping[str, Inventory]) -> None:
        """Replace the inventories of a provider.

        :raises Refusal: a class is unknown, or one that is taken away is in use
        """
        for name in inventories:
            if name not in self.classes:
                raise Refusal(400, f"Unknown resource class in inventory for resource provider {provider.id}: {name}")
        used = self.usages(provider.id)
        in_use = [name for name in provider.inventories if name not in inventories and used.get(name)]
        if in_use:
            self._refuse_in_use(provider, in_use)
        provider.inventories = dict(inventories)
        provider.generation += 1

    def remove_inventory(self, provider: Provider, name: str) -> None:
        """Remove the inventory of a class.

        :raises Refusal: there is none, or it is in use
        """
        if name not in provider.inventories:
            raise Refusal(404, f"No inventory of class {name} found for resource provider {provider.id}", UNDEFINED)
        if self.usages(provider.id).get(name):
            # The real one calls this a concurrent change, too.
            self._refuse_in_use(provider, [name], CONCURRENT_UPDATE)
        del provider.inventories[name]
        provider.generation += 1

    @staticmethod
    def _refuse_in_use(provider: Provider, names: Iterable[str], code: str = "placement.inventory.inuse") -> None:
        raise Refusal(409, f"Inventory for '{', '.join(names)}' on resource provider '{provider.id}' in use.", code)

    # -- allocations -----------------------------------------------------------------------------------------

    def on(self, provider_id: str) -> dict[str, Allocation]:
        """Return consumer -> what it takes from a provider."""
        return dict(self._on.get(provider_id, {}))

    def usages(self, provider_id: str) -> dict[str, int]:
        """Return class -> amount that is taken from a provider."""
        found: dict[str, int] = {}
        for amounts in self._on.get(provider_id, {}).values():
            for name, amount in amounts.items():
                found[name] = found.get(name, 0) + amount
        return found

    def held(self, consumer_id: str) -> dict[str, dict[str, int]]:
        """Return provider -> class -> amount that a consumer has."""
        consumer = self.consumers.get(consumer_id)
        return {} if consumer is None else {key: dict(value) for key, value in consumer.allocations.items()}

    def allocate(self, consumers: Mapping[str, tuple[Consumer, Amounts]]) -> None:
        """Replace what consumers have, all of it or nothing.

        :param consumers: id -> the consumer as it is to be, without allocations, and its amounts
        :raises Refusal: a provider is unknown, or does not have this
        """
        before = {key: self.consumers[key] for key in consumers if key in self.consumers}
        for key in before:
            self._drop(key)
        try:
            wanted: dict[str, dict[str, int]] = {}
            for consumer, amounts in consumers.values():
                for provider_id, of_provider in amounts.items():
                    for name, amount in of_provider.items():
                        self._check_unit(provider_id, name, amount, consumer.id)
                        mine = wanted.setdefault(provider_id, {})
                        mine[name] = mine.get(name, 0) + amount
            for provider_id, of_provider in wanted.items():
                self._check_capacity(self.providers[provider_id], of_provider)
        except Refusal:
            for consumer in before.values():
                self._keep(consumer)
            raise
        for key, (consumer, amounts) in consumers.items():
            kept = {provider_id: dict(each) for provider_id, each in amounts.items() if each}
            if kept:
                consumer.allocations = kept
                consumer.generation = before[key].generation + 1 if key in before else 1
                self._keep(consumer)
        for provider_id in wanted:
            self.providers[provider_id].generation += 1

    def release(self, consumer_id: str) -> bool:
        """Take all from a consumer. Return whether it had anything."""
        is_known = consumer_id in self.consumers
        if is_known:
            self._drop(consumer_id)
        return is_known

    def has_room(self, provider: Provider, amounts: Mapping[str, int], taken: Mapping[str, int] | None = None) -> bool:
        """Return whether a provider can grant amounts to one more consumer.

        :param taken: class -> amount that counts as taken, too
        """
        used = self.usages(provider.id)
        for name, amount in amounts.items():
            inventory = provider.inventories.get(name)
            if inventory is None or not inventory.fits_unit(amount):
                return False
            if used.get(name, 0) + (taken or {}).get(name, 0) + amount > inventory.capacity:
                return False
        return True

    def _keep(self, consumer: Consumer) -> None:
        self.consumers[consumer.id] = consumer
        for provider_id, amounts in consumer.allocations.items():
            self._on.setdefault(provider_id, {})[consumer.id] = amounts

    def _drop(self, consumer_id: str) -> None:
        for provider_id in self.consumers.pop(consumer_id).allocations:
            del self._on[provider_id][consumer_id]

    def _check_unit(self, provider_id: str, name: str, amount: int, consumer_id: str) -> None:
        provider = self.providers.get(provider_id)
        if provider is None:
            raise Refusal(400, f"Allocation for resource provider '{provider_id}' that does not exist.", UNDEFINED)
        if name not in self.classes:
            raise Refusal(400, f"No such resource class {name}.", UNDEFINED)
        inventory = provider.inventories.get(name)
        if inventory is None:
            text = f"Inventory for '{name}' on resource provider '{provider_id}' invalid."
            raise Refusal(409, f"Unable to allocate inventory: {text}", UNDEFINED)
        if not inventory.fits_unit(amount):
            text = f"Unable to create allocation for '{name}' on resource provider '{provider_id}'. "
            why = "The requested amount would violate inventory constraints."
            raise Refusal(409, f"Unable to allocate inventory for consumer {consumer_id}: {text}{why}", UNDEFINED)

    def _check_capacity(self, provider: Provider, amounts: Mapping[str, int]) -> None:
        used = self.usages(provider.id)
        for name, amount in amounts.items():
            if used.get(name, 0) + amount > provider.inventories[name].capacity:
                text = f"Unable to create allocation for '{name}' on resource provider '{provider.id}'. "
                why = "The requested amount would exceed the capacity."
                raise Refusal(409, f"Unable to allocate inventory: {text}{why}", UNDEFINED)
