"""Flavors: those of the cloud that requests may name, and the private ones of leases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import Any

from novaclient.exceptions import Conflict, NotFound

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.cloud.nova.api import extra_specs as specs
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.cloud.nova.api.names import Labels
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.nova.boots import FLAVOR_LEASE

#: Real seconds after which a private flavor is read again, as the projects that may use it can change.
_FRESH = 10.0


class FlavorCatalogue(Mapping[str, Flavor]):
    """The flavors of the cloud by id. To look up an unknown or a private flavor asks Nova.

    :param nova: novaclient's client with administrator rights
    :param clock: returns real seconds
    """

    def __init__(self, nova: Any, aliases: PciAliases, clock: Callable[[], float] = monotonic) -> None:
        self._nova = nova
        self._aliases = aliases
        self._clock = clock
        self._lock = Lock()
        self._known: dict[str, Flavor] | None = None
        #: Private flavor -> seconds at which the projects that may use it were last read.
        self._read_at: dict[str, float] = {}

    def refresh(self) -> None:
        """Read all flavors again."""
        # Leases have many private flavors, so the projects that may use one are read only when a request names it.
        found = {each.id: self._value(each, frozenset()) for each in all_flavors(self._nova)}
        with self._lock:
            self._known = found
            self._read_at.clear()

    def forget(self) -> None:
        """Forget all flavors, because others may have changed them."""
        with self._lock:
            self._known = None
            self._read_at.clear()

    def __getitem__(self, flavor_id: str) -> Flavor:
        known = self._all()
        present = known.get(flavor_id)
        if present is None or (present.private_to is not None and not self._is_fresh(flavor_id)):
            try:
                found = self._ask(flavor_id)
            except NotFound:
                with self._lock:
                    known.pop(flavor_id, None)
                raise KeyError(flavor_id) from None
            with self._lock:
                known[flavor_id] = found
                if found.private_to is not None:
                    self._read_at[flavor_id] = self._clock()
        return known[flavor_id]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _is_fresh(self, flavor_id: str) -> bool:
        read_at = self._read_at.get(flavor_id)
        return read_at is not None and self._clock() - read_at < _FRESH

    def _ask(self, flavor_id: str) -> Flavor:
        found = self._nova.flavors.get(flavor_id)
        if _is_public(found):
            return self._value(found)
        return self._value(found, frozenset(each.tenant_id for each in self._nova.flavor_access.list(flavor=found)))

    def _value(self, found: Any, projects: frozenset[str] = frozenset()) -> Flavor:
        value = read_flavor(found, self._aliases)
        return value if _is_public(found) else replace(value, private_to=projects)

    def _all(self) -> dict[str, Flavor]:
        if self._known is None:
            self.refresh()
        assert self._known is not None
        return self._known


def _is_public(found: Any) -> bool:
    is_public: bool = getattr(found, "os-flavor-access:is_public", True)
    return is_public


def read_flavor(found: Any, aliases: PciAliases) -> Flavor:
    """Return what one server of a flavor in Nova needs."""
    # From 2.61 on, Nova lists extra specs with the flavor. An empty list is an answer, too.
    listed: Mapping[str, str] | None = getattr(found, "extra_specs", None)
    said = found.get_keys() if listed is None else listed
    extra_specs, unknown = aliases.spelled_out(said), aliases.unknown(said)
    disk_gb = found.disk + (getattr(found, "OS-FLV-EXT-DATA:ephemeral", 0) or 0) + -(-int(found.swap or 0) // 1024)
    resources = {VCPU: found.vcpus, MEMORY_MB: found.ram, DISK_GB: disk_gb}
    resources |= specs.resources(extra_specs)
    needed = {name: amount for name, amount in resources.items() if amount}
    problem = f"its PCI devices cannot be leased, because no alias {unknown[0]} is configured" if unknown else None
    return Flavor(needed, specs.traits(extra_specs), specs.groups(extra_specs), problem)


@dataclass(frozen=True)
class WantedFlavor:
    """The flavor that a node set of a lease should have.

    :ivar labels: names of flavor and slots
    :ivar resources: amount of each class that the guest sees
    :ivar shared: whether the servers take slots
    :ivar claims: whether a server claims what it needs of its host itself, so that the lease holds nothing for it
    :ivar groups: what a server claims of nested resource providers; it always claims this itself
    :ivar aliases: aliases by which Nova gives PCI devices to servers
    :ivar shares_per_vcpu: weight of the CPU time of a server for each VCPU that it holds; 0 for Nova's own weight
    :ivar fluid: number of VCPUs of a server that it does not hold
    :ivar ephemeral_gb: GB of its disk that are a second, empty disk
    """

    labels: Labels
    resources: Mapping[str, int]
    shared: bool
    claims: bool
    groups: tuple[ProviderGroup, ...] = ()
    aliases: PciAliases = field(default_factory=PciAliases)
    shares_per_vcpu: int = 0
    fluid: int = 0
    ephemeral_gb: int = 0

    @property
    def size(self) -> tuple[int, int, int]:
        """MB of memory, CPUs and GB of the root disk; at least one CPU and 1 MB."""
        found = self.resources
        return found.get(MEMORY_MB, 1), max(1, found.get(VCPU, 1)), found.get(DISK_GB, 0) - self.ephemeral_gb

    @property
    def has_our_size(self) -> bool:
        """Whether its size is ours to set. A flavor that Blazar may have made keeps its size."""
        return names.lease_of_flavor(self.labels.flavor, self.labels.flavor_id) is not None

    def extra_specs(self, lease_id: str) -> dict[str, str]:
        """Return its extra specs, with all that say what Placement counts for a server."""
        needed = {} if self.claims else {VCPU: 0, MEMORY_MB: 0, DISK_GB: 0, names.ANCHOR: 1}
        if self.shared:
            needed[self.labels.slot_class] = 1
        amounts = {f"{specs.RESOURCES}{name}": str(amount) for name, amount in needed.items()}
        return {
            FLAVOR_LEASE: lease_id,
            **self.labels.extra_specs,
            **amounts,
            **specs.asking_for(self.groups, self.aliases),
            **specs.weighing(self.size[1] - self.fluid, self.shares_per_vcpu),
        }


class LeaseFlavors:
    """The private flavors of leases.

    A server on a shared host takes a slot, for which the lease holds everything already. A server of a lease that has
    the host for itself claims what it needs, as any other server does. The exception is a server that stays on the host
    when its lease is preempted. It claims nothing, as otherwise no other server could start there.

    :param nova: novaclient's client with administrator rights
    """

    def __init__(self, nova: Any, aliases: PciAliases) -> None:
        self._nova = nova
        self._aliases = aliases

    def ensure(self, lease_id: str, wanted: WantedFlavor, project_id: str) -> None:
        """Create or change the flavor of a node set, and let the project use it. A flavor made by Blazar is adopted."""
        labels = wanted.labels
        try:
            flavor = self._nova.flavors.get(labels.flavor_id)
        except NotFound:
            flavor = self._create(wanted)
        if wanted.has_our_size and (flavor.ram, flavor.vcpus, flavor.disk) != wanted.size:
            # Nova cannot change a flavor. Servers keep a copy of the flavor with which they were made.
            self.remove([labels.flavor_id])
            flavor = self._create(wanted)
        extra_specs = wanted.extra_specs(lease_id)
        known: Mapping[str, str] = getattr(flavor, "extra_specs", None) or {}
        others = [key for key in known if specs.is_asked(key) and key not in extra_specs]
        if others:
            flavor.unset_keys(others)
        flavor.set_keys(extra_specs)
        with suppress(Conflict):
            self._nova.flavor_access.add_tenant_access(flavor, project_id)

    def groups(self, flavor_id: str) -> tuple[ProviderGroup, ...]:
        """Return what a server of a flavor claims of nested providers; empty if the flavor does not exist."""
        try:
            return read_flavor(self._nova.flavors.get(flavor_id), self._aliases).groups
        except NotFound:
            return ()

    def remove(self, flavor_ids: Iterable[str]) -> None:
        """Delete flavors of leases. Their servers keep a copy."""
        for flavor_id in flavor_ids:
            with suppress(NotFound):
                self._nova.flavors.delete(flavor_id)

    def _create(self, wanted: WantedFlavor) -> Any:
        memory_mb, vcpus, disk_gb = wanted.size
        labels = wanted.labels
        try:
            return self._nova.flavors.create(
                labels.flavor,
                memory_mb,
                vcpus,
                disk_gb,
                flavorid=labels.flavor_id,
                ephemeral=wanted.ephemeral_gb,
                is_public=False,
            )
        except Conflict:
            return self._nova.flavors.get(labels.flavor_id)
