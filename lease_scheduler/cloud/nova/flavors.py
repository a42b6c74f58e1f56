"""Flavors: those of the cloud that leases may be made of, and the private ones of leases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

from novaclient.exceptions import Conflict, NotFound

from lease_scheduler.cloud.driver import Flavor
from lease_scheduler.cloud.nova import names
from lease_scheduler.cloud.nova.names import Labels
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU
from lease_scheduler.nova.boots import FLAVOR_LEASE

_RESOURCES = "resources:"
_TRAIT = "trait:"
_REQUIRED = "required"


class FlavorCatalogue(Mapping[str, Flavor]):
    """The flavors of the cloud by id. One that is not known yet is asked for when it is looked up.

    :param nova: novaclient's client, of an administrator
    """

    def __init__(self, nova: Any) -> None:
        self._nova = nova
        self._lock = Lock()
        self._known: dict[str, Flavor] | None = None

    def refresh(self) -> None:
        """Take note of flavors that have come, changed or gone."""
        found = {each.id: read_flavor(each) for each in self._nova.flavors.list(is_public=None)}
        with self._lock:
            self._known = found

    def __getitem__(self, flavor_id: str) -> Flavor:
        known = self._all()
        if flavor_id not in known:
            try:
                found = read_flavor(self._nova.flavors.get(flavor_id))
            except NotFound:
                raise KeyError(flavor_id) from None
            with self._lock:
                known[flavor_id] = found
        return known[flavor_id]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Flavor]:
        if self._known is None:
            self.refresh()
        assert self._known is not None
        return self._known


def read_flavor(found: Any) -> Flavor:
    """What one server of a flavor of Nova's needs."""
    extra_specs: Mapping[str, str] = getattr(found, "extra_specs", None) or found.get_keys()
    disk_gb = found.disk + (getattr(found, "OS-FLV-EXT-DATA:ephemeral", 0) or 0) + -(-int(found.swap or 0) // 1024)
    resources = {VCPU: found.vcpus, MEMORY_MB: found.ram, DISK_GB: disk_gb}
    for key, value in extra_specs.items():
        if key.startswith(_RESOURCES) and value.isdigit():
            resources[key.removeprefix(_RESOURCES)] = int(value)
    traits = {
        key.removeprefix(_TRAIT)
        for key, value in extra_specs.items()
        if key.startswith(_TRAIT) and value.lower() == _REQUIRED
    }
    return Flavor({name: amount for name, amount in resources.items() if amount}, frozenset(traits))


class LeaseFlavors:
    """Private flavors of leases. A server of a host that is shared takes a slot there, for which everything is held
    already; one that has the host for itself claims what it needs, as any other server does, unless it stays there when
    its lease makes room: nobody else could begin there then.

    :param nova: novaclient's client, of an administrator
    """

    def __init__(self, nova: Any) -> None:
        self._nova = nova

    def ensure(
        self,
        lease_id: str,
        labels: Labels,
        resources: Mapping[str, int],
        project_id: str,
        *,
        shared: bool,
        claims: bool,
    ) -> None:
        """The flavor of a node set that the project may use. One that Blazar made becomes ours.

        :param labels: how flavor and slots are called
        :param resources: what the guest sees of each class; at least one CPU and 1 MB
        :param shared: whether there are slots
        :param claims: whether a server counts on its host for what it needs; nothing has to be held then
        """
        try:
            flavor = self._nova.flavors.get(labels.flavor_id)
        except NotFound:
            flavor = self._create(labels.flavor_id, labels.flavor, resources)
        needed = {} if claims else {VCPU: 0, MEMORY_MB: 0, DISK_GB: 0, names.ANCHOR: 1}
        if shared:
            needed[labels.slot_class] = 1
        extra_specs = {f"{_RESOURCES}{name}": str(amount) for name, amount in needed.items()}
        known: Mapping[str, str] = getattr(flavor, "extra_specs", None) or {}
        others = [key for key in known if key.startswith(_RESOURCES) and key not in extra_specs]
        if others:
            flavor.unset_keys(others)
        flavor.set_keys({FLAVOR_LEASE: lease_id, **labels.extra_specs, **extra_specs})
        with suppress(Conflict):
            self._nova.flavor_access.add_tenant_access(flavor, project_id)

    def remove(self, flavor_ids: Iterable[str]) -> None:
        """Remove flavors of leases; their servers keep a copy of what they were made with."""
        for flavor_id in flavor_ids:
            with suppress(NotFound):
                self._nova.flavors.delete(flavor_id)

    def _create(self, flavor_id: str, name: str, resources: Mapping[str, int]) -> Any:
        try:
            return self._nova.flavors.create(
                name,
                resources.get(MEMORY_MB, 1),
                max(1, resources.get(VCPU, 1)),
                resources.get(DISK_GB, 0),
                flavorid=flavor_id,
                is_public=False,
            )
        except Conflict:
            return self._nova.flavors.get(flavor_id)
