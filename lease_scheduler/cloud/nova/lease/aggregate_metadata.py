"""Facts about a lease, stored in the metadata of its aggregates, where any engine can read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.aggregates import Aggregate, Aggregates
from lease_scheduler.cloud.nova.api.extra_specs import GROUP_POLICY
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.orders import Order
from lease_scheduler.nova import aggregates as metadata

#: Keys: number of node sets and of nodes that the lease has or had, whether the engine boots its servers, their state,
#: the user and the trust, and whether it has floating IPs.
_NODE_SETS = "lease:node_sets"
VMS = "lease:vms"
_MANAGED = "lease:managed"
SERVERS = "lease:servers"
_USER_ID = "lease:user_id"
_TRUST_ID = "lease:trust_id"
_ADDRESSES = "lease:addresses"

#: Prefixes of numbered keys: the reservations of the lease and their server groups.
_RESERVATION = f"{metadata.RESERVATIONS}:"
_SERVER_GROUP = "lease:server_group:"

#: Prefix of the keys of records of images (``image_records``); the id of a server follows.
_IMAGE = "lease:image:"

#: Key that marks an aggregate with the name of a reservation.
NAMED_BY = metadata.RESERVATIONS

#: States of the servers of a lease.
ACTIVE, SAVED, NONE = "active", "saved", "none"

#: Instant that never comes: no server may start.
NEVER = str(2**40)


@dataclass(frozen=True)
class Known:
    """The facts about a lease in the metadata of its aggregates.

    :ivar vms: number of nodes that it has or had
    :ivar managed: whether the engine boots its servers
    :ivar servers: ``ACTIVE``, ``SAVED`` or ``NONE``
    :ivar exclusive: compute services that it has for itself
    :ivar shared: compute services that it shares with others
    :ivar reservations: ids of its reservations
    :ivar server_groups: ids of its server groups
    :ivar addresses: whether it has floating IPs
    :ivar images: server -> text of the record of its image, see ``image_records``
    """

    lease_id: str
    project_id: str
    user_id: str
    trust_id: str | None
    node_sets: int
    vms: int
    managed: bool
    servers: str
    exclusive: frozenset[str]
    shared: frozenset[str]
    reservations: tuple[str, ...] = ()
    server_groups: tuple[str, ...] = ()
    addresses: bool = False
    images: Mapping[str, str] = field(default_factory=dict)


class LeaseAggregates:
    """The aggregates of leases, and the facts in their metadata."""

    def __init__(self, aggregates: Aggregates) -> None:
        self._aggregates = aggregates

    def all(self) -> dict[str, Known]:
        """Return all leases that have an aggregate, by id."""
        by_lease: dict[str, list[Aggregate]] = {}
        for aggregate in self._aggregates.all():
            lease_id = aggregate.metadata.get(metadata.LEASE_ID)
            if lease_id is not None and NAMED_BY not in aggregate.metadata:
                by_lease.setdefault(lease_id, []).append(aggregate)
        return {lease_id: _read(lease_id, found) for lease_id, found in by_lease.items()}

    def known(self, lease_id: str) -> Known | None:
        """Return the facts about a lease, or None if it has no aggregate."""
        found = [
            aggregate
            for exclusive in (True, False)
            if (aggregate := self._aggregates.find(names.aggregate(lease_id, exclusive=exclusive))) is not None
        ]
        return _read(lease_id, found) if found else None

    def is_taken(self, service: str) -> bool:
        """Return whether a lease has a compute service for itself."""
        return any(service in known.exclusive for known in self.all().values())

    def project_of(self, lease_id: str) -> str | None:
        """Return the project of a lease, or None if it has no aggregate."""
        known = self.known(lease_id)
        return None if known is None else known.project_id

    def write(self, order: Order, planned: Mapping[bool, frozenset[str]], known: Known | None) -> None:
        """Create or change the aggregates of a lease so that they have its metadata and these hosts.

        :param planned: whether it has hosts for itself -> names of their compute services
        """
        for exclusive, services in planned.items():
            name = names.aggregate(order.lease_id, exclusive=exclusive)
            # Even a lease without hosts has an aggregate, for its metadata.
            if not services and not (exclusive and not planned[False]):
                self._aggregates.remove(name)
                continue
            said = own_metadata(order, 0 if known is None else known.vms, exclusive=exclusive)
            if known is None:
                # No server of the lease may start before everything is there.
                said |= {metadata.FROM: NEVER, SERVERS: NONE}
            self._aggregates.ensure(name, said, services)

    def set_begin(self, lease_id: str, instant: str, servers: str | None = None) -> None:
        """Set the instant from which servers of a lease may start.

        :param servers: new state of its servers, or None if that does not change
        """
        said = {metadata.FROM: instant} | ({} if servers is None else {SERVERS: servers})
        for exclusive in (True, False):
            self._aggregates.set_metadata(names.aggregate(lease_id, exclusive=exclusive), said)

    def note_image(self, lease_id: str, server_id: str, text: str | None) -> None:
        """Store the text of the record of an image of a server, or remove it."""
        for exclusive in (True, False):
            self._aggregates.set_metadata(
                names.aggregate(lease_id, exclusive=exclusive), {f"{_IMAGE}{server_id}": text}
            )

    def leave(self, lease_id: str, servers: str, remaining: Iterable[str]) -> None:
        """Remove all hosts from the aggregates of a lease.

        :param servers: new state of its servers
        :param remaining: compute services that it shares and cannot leave yet
        """
        said = {SERVERS: servers, metadata.VACATED_FROM: NEVER}
        for exclusive in (True, False):
            name = names.aggregate(lease_id, exclusive=exclusive)
            if self._aggregates.find(name) is not None:
                self._aggregates.ensure(name, said, () if exclusive else remaining)

    def forget(self, lease_id: str) -> None:
        """Remove the aggregates of a lease, and with them all facts about it."""
        for exclusive in (True, False):
            self._aggregates.remove(names.aggregate(lease_id, exclusive=exclusive))


def own_metadata(order: Order, vms: int, *, exclusive: bool) -> dict[str, str]:
    """Return the metadata of an aggregate of a lease, except for keys that change while the lease runs.

    :param vms: number of nodes that it is known to have had
    """
    return {
        **lease_metadata(order, exclusive=exclusive),
        **_document_metadata(order),
        _NODE_SETS: str(len(order.request.nodes)),
        VMS: str(max(len(lease_parts.planned_vms(order)), vms)),
    }


def lease_metadata(order: Order, *, exclusive: bool) -> dict[str, str]:
    """Return the metadata of every aggregate of a lease that the filters read."""
    nested = [] if exclusive else lease_parts.nested_classes(lease_parts.planned_vms(order))
    has_several_groups = any(len(node_set.groups) > 1 for node_set in order.request.nodes)
    return {
        **(dict([GROUP_POLICY]) if has_several_groups else {}),
        **{f"{metadata.NESTED}{number}": name for number, name in enumerate(nested)},
        metadata.LEASE_ID: order.lease_id,
        metadata.PROJECT_ID: order.document.project_id,
        metadata.KIND: order.request.kind.value,
        metadata.EXCLUSIVE: str(exclusive).lower(),
        metadata.VACATED_FROM: "0",
    }


def _document_metadata(order: Order) -> dict[str, str]:
    document = order.document
    said = {_USER_ID: document.user_id, _MANAGED: str(bool(document.servers)).lower()}
    if lease_parts.addresses(order):
        said[_ADDRESSES] = "true"
    if document.trust_id is not None:
        said[_TRUST_ID] = document.trust_id
    for number, reservation in enumerate(document.reservations):
        said[f"{_RESERVATION}{number}"] = reservation.reservation_id
        group = reservation.terms.get("server_group_id")
        if group is not None:
            said[f"{_SERVER_GROUP}{number}"] = group
    if len(document.reservations) == 1:
        # Blazar's clients name the reservation in a hint.
        said[metadata.BLAZAR_RESERVATION] = document.reservations[0].reservation_id
    return said


def _read(lease_id: str, found: list[Aggregate]) -> Known:
    said = found[0].metadata
    hosts: dict[bool, frozenset[str]] = {True: frozenset(), False: frozenset()}
    for aggregate in found:
        hosts[metadata.is_true(aggregate.metadata.get(metadata.EXCLUSIVE))] |= aggregate.hosts
    return Known(
        lease_id,
        said.get(metadata.PROJECT_ID, ""),
        said.get(_USER_ID, ""),
        said.get(_TRUST_ID),
        int(said.get(_NODE_SETS, 0)),
        int(said.get(VMS, 0)),
        metadata.is_true(said.get(_MANAGED)),
        said.get(SERVERS, NONE),
        hosts[True],
        hosts[False],
        _listed(said, _RESERVATION),
        _listed(said, _SERVER_GROUP),
        metadata.is_true(said.get(_ADDRESSES)),
        images_in(said),
    )


def images_in(said: Mapping[str, str]) -> dict[str, str]:
    """Return server -> text of the record of its image in the metadata of an aggregate."""
    return {key.removeprefix(_IMAGE): text for key, text in said.items() if key.startswith(_IMAGE)}


def _listed(said: Mapping[str, str], prefix: str) -> tuple[str, ...]:
    return tuple(said[key] for key in sorted(said) if key.startswith(prefix))
