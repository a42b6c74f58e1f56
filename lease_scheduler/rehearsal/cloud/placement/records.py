"""What Placement keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Class -> amount.
Allocation = dict[str, int]

_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Inventory:
    """What a provider has of a resource class."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = _LARGEST
    step_size: int = 1
    allocation_ratio: float = 1.0

    @property
    def capacity(self) -> int:
        """The amount that Placement grants at most."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def fits_unit(self, amount: int) -> bool:
        """Return whether one consumer may have an amount."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0

    def shown(self) -> dict[str, int | float]:
        """Return it as the API shows it."""
        return dict(vars(self))


@dataclass
class Provider:
    """A resource provider.

    :ivar generation: number that grows with each change, by which concurrent changes are found
    :ivar aggregates: ids of Placement's aggregates, which are not Nova's
    """

    id: str
    name: str
    parent_id: str | None
    root_id: str
    generation: int = 0
    inventories: dict[str, Inventory] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    def shown(self) -> dict[str, object]:
        """Return it as the API shows it."""
        return {
            "uuid": self.id,
            "name": self.name,
            "generation": self.generation,
            "parent_provider_uuid": self.parent_id,
            "root_provider_uuid": self.root_id,
            "links": [{"rel": "self", "href": f"/resource_providers/{self.id}"}],
        }


@dataclass
class Consumer:
    """Somebody who has allocations: a server, a migration, or a lease.

    :ivar allocations: provider -> class -> amount
    """

    id: str
    project_id: str
    user_id: str
    type: str | None
    generation: int = 0
    allocations: dict[str, Allocation] = field(default_factory=dict)


def inventory_of(said: Mapping[str, float]) -> Inventory:
    """Return the inventory that a request describes."""
    known = {name: said[name] for name in Inventory.__dataclass_fields__ if name in said}
    whole = {name: value if name == "allocation_ratio" else int(value) for name, value in known.items()}
    return Inventory(**whole)  # type: ignore[arg-type]
