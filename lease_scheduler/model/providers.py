"""Nested resource providers: parts of a host that have resources of their own, and what nodes need of them.

Placement describes a host as a tree of resource providers. Its root has CPUs, memory and disk; GPUs, network interfaces
and other devices are providers below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import Resources


@dataclass(frozen=True)
class Provider:
    """A resource provider below the root of its host. Providers that nodes cannot tell apart are equal.

    :ivar capacity: what leases may use of it
    :ivar traits: attributes that requests may require of it
    :ivar max_unit: largest amount of a class that one server may take; a class that is not named is limited only by the
        capacity
    """

    capacity: Resources
    traits: frozenset[str] = frozenset()
    max_unit: Resources = field(default_factory=lambda: Resources({}))

    def can_ever_serve(self, group: ProviderGroup) -> bool:
        """Return whether this provider, if it were unused, could serve a group."""
        return (
            group.traits <= self.traits
            and group.resources.fits_in(self.capacity)
            and all(group.resources.get(name, 0) <= limit for name, limit in self.max_unit.items())
        )


@dataclass(frozen=True)
class ProviderGroup:
    """Resources of a node that must come from one provider of its host; Placement's granular request group.

    Several groups of a node may come from the same provider, as with Placement's group policy ``none``.

    :ivar traits: attributes that this provider must have
    :raises InvalidValueError: there are no resources
    """

    resources: Resources
    traits: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.resources:
            raise InvalidValueError("nodes.groups.resources", "must name at least one resource class")

    def __str__(self) -> str:
        amounts = ", ".join(f"{amount} {name}" for name, amount in self.resources.items())
        return f"{amounts} with {', '.join(sorted(self.traits))}" if self.traits else amounts


def together(resources: Mapping[str, int], more: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """Return the sums by class of several amounts; the same object if there are no others to add."""
    added = list(more)
    if not added:
        return resources
    total = Counter(resources)
    for each in added:
        total.update(each)
    return dict(total)
