"""Division of what a node needs into resources of its host and resources of nested providers of the host."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.records.pool import HostRecord

#: Modes of preemption in which servers keep their resources of nested providers.
_STAYING = frozenset({PreemptionMode.STOP, PreemptionMode.SUSPEND})


@dataclass(frozen=True)
class Needs:
    """Resources and traits that a node needs.

    :ivar resources: from its host itself
    :ivar traits: that its host itself must have
    :ivar groups: from nested providers of its host
    """

    resources: Mapping[str, int]
    traits: frozenset[str] = frozenset()
    groups: tuple[ProviderGroup, ...] = field(default=())


#: Resource classes that the size of a server gives -> field of the size.
_SIZES = {VCPU: "vcpus", MEMORY_MB: "memory_mb", DISK_GB: "disk_gb"}


def extra_needs(extra_specs: Mapping[str, str | int], field: str) -> Needs:
    """Return what extra specs of a reservation add to its size: ``resources:CLASS`` and ``trait:NAME``.

    :param field: name of the field in messages
    :raises InvalidValueError: a value is invalid, or of a class that the size gives
    """
    resources: dict[str, int] = {}
    traits = set[str]()
    for key, value in extra_specs.items():
        kind, _, name = key.partition(":")
        if kind == "trait":
            if value != "required":
                raise InvalidValueError(f"{field}.{key}", f'must be "required", not {value!r}')
            traits.add(name)
        elif name in _SIZES:
            raise InvalidValueError(f"{field}.{key}", f"is the {_SIZES[name]} of the reservation; leave it out")
        elif not str(value).isdecimal() or int(value) < 1:
            raise InvalidValueError(f"{field}.{key}", f"must be a whole number of at least 1, not {value!r}")
        else:
            resources[name] = int(value)
    return Needs(resources, frozenset(traits))


@dataclass(frozen=True)
class NestedClasses:
    """The resource classes that at least one host has on a nested provider.

    :ivar traits: such a class -> traits of all providers that have it
    :ivar of_hosts: traits that hosts have themselves; empty if there are no nested classes, as nobody needs them then
    """

    traits: Mapping[str, frozenset[str]] = field(default_factory=dict)
    of_hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Collection[HostRecord]) -> NestedClasses:
        """Return those of some hosts. Reads every host, so callers should keep the result."""
        traits: dict[str, set[str]] = {}
        for host in hosts:
            for provider in host.providers:
                for name in provider.capacity:
                    traits.setdefault(name, set()).update(provider.traits)
        if not traits:
            return cls()
        of_hosts = frozenset(trait for host in hosts for trait in host.traits)
        return cls({name: frozenset(found) for name, found in traits.items()}, of_hosts)


def divide(needs: Needs, nested: NestedClasses) -> Needs:
    """Return the needs of a node, divided between the host itself and its nested providers.

    * A resource class that some host has on a nested provider becomes a group: one provider must have it.
    * A trait that only nested providers of such a class have is required of that provider.
    * Groups of which no host has a class on a nested provider are required of the host itself.

    :param needs: resources and traits as requested, without regard to nested providers
    """
    resources, traits, groups = dict(needs.resources), needs.traits, []
    for group in needs.groups:
        if nested.traits.keys().isdisjoint(group.resources):
            resources.update({name: resources.get(name, 0) + amount for name, amount in group.resources.items()})
            traits |= group.traits
        else:
            groups.append(group)
    moved: set[str] = set()
    for name in sorted(nested.traits.keys() & resources.keys()):
        amount = resources.pop(name)
        wanted = (traits - nested.of_hosts) & nested.traits[name]
        moved |= wanted
        if amount:
            groups.append(ProviderGroup(Resources({name: amount}), wanted))
    return Needs(resources, traits - moved, tuple(groups))


def groups_of(documents: Iterable[Document], place: str) -> tuple[ProviderGroup, ...]:
    """Return the provider groups of a node set of a lease document.

    :param place: name of the field in messages
    :raises InvalidValueError: naming the key
    """
    found = []
    for number, group in enumerate(documents):
        resources = Resources(group.get("resources") or {})
        if not resources:
            raise InvalidValueError(f"{place}[{number}].resources", "must name at least one resource class")
        found.append(ProviderGroup(resources, frozenset(group.get("traits") or ())))
    return tuple(found)


def divided_least(least: Mapping[str, int] | None, needs: Needs, place: str) -> Resources | None:
    """Return the least resources of the host itself that suffice, or None if the node needs all that it asks for.

    :param needs: the needs of a node, divided
    :param place: name of the field in messages
    :raises InvalidValueError: it names a class of nested providers, for which no ranges are possible
    """
    nested = frozenset(name for group in needs.groups for name in group.resources)
    for name in least or ():
        if name in nested and name not in needs.resources:
            raise InvalidValueError(
                f"{place}.{name}", "must be left out: its providers have no ranges; ask for one amount"
            )
    return Resources(least) if least else None


def check_preemption_mode(request: LeaseRequest) -> None:
    """Refuse modes of preemption in which servers would keep devices that others need.

    :raises InvalidValueError: naming the key
    """
    if request.preemption_mode in _STAYING and any(node_set.groups for node_set in request.nodes):
        raise InvalidValueError(
            "preemption_mode",
            f"servers that {request.preemption_mode.value} keep their devices; choose shelve, migrate, delete or none",
        )
