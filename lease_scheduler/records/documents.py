"""Lease documents: what projects state about their leases beside the terms that are planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lease_scheduler.model.attributes import Choice, Flag, Text, Texts, attribute
from lease_scheduler.records.extensions import Extensions

#: Values of ``before_end`` of a reservation of hosts: make images of its servers, or do what the operator has set.
_SNAPSHOT, _DEFAULT = "snapshot", "default"

#: Value of ``on_end``: servers are deleted.
_DELETE = "delete"


@dataclass(frozen=True)
class ReservationRecord:
    """A reservation (in Blazar's sense) of a lease, as the project asked for it.

    :ivar terms: values of the keys of its resource type, as in Blazar's API v1
    :ivar node_sets: number of its node sets; the node sets of a lease are in the order of its reservations
    :ivar first_node: index of its first node among the nodes of the lease
    :ivar node_count: number of its nodes
    """

    reservation_id: str
    resource_type: str
    resource_id: str
    terms: Mapping[str, Any]
    node_sets: int
    created_at: int
    first_node: int = 0
    node_count: int = 0
    updated_at: int | None = None
    missing_resources: bool = False
    resources_changed: bool = False


@dataclass(frozen=True)
class LeaseDocument:
    """What a project states about a lease beside the terms that are planned.

    :ivar request_digest: digest by which a repetition of the request is recognized, if the client chose the id of the
        lease; else None
    :ivar path: names of those that have passed the request on before it came here, the first one first; None if it came
        from no peer
    :ivar site: name of the member of a federation that has granted the lease; None if this is no gateway
    :ivar site_lease_id: id of the lease there
    :ivar site_project_id: project that the lease belongs to there; None if it is that of the gateway
    :ivar unreachable: whether that member does not answer at present
    :ivar reminded_start: start of which the project was reminded, or None
    :ivar extensions: how often and by how much the lease was extended since it was made or accepted
    """

    lease_id: str
    name: str = field(metadata=attribute(Text(255, is_name=True), "1.0", is_notified=True, is_filtered=True))
    project_id: str = field(metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True))
    user_id: str = field(metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True))
    created_at: int
    trust_id: str | None = field(
        default=None, metadata=attribute(Text(255), shown="1.0", is_notified=True, is_filtered=True)
    )
    maintenance: bool = field(default=False, metadata=attribute(Flag(), shown="1.2"))
    before_end: int | None = None
    before_end_done: bool = False
    reminded_start: int | None = None
    servers: tuple[Mapping[str, Any], ...] = ()
    description: str | None = field(
        default=None, metadata=attribute(Text(255), "1.18", is_notified=True, help="What the lease is for")
    )
    request_digest: str | None = field(default=None, metadata=attribute(Text(64)))
    on_end: str = field(
        default="delete",
        metadata=attribute(
            Choice(("delete", "shelve", "snapshot", "keep")),
            "1.3",
            help="What the end of the lease does to its servers (default: delete)",
        ),
    )
    path: tuple[str, ...] | None = field(
        default=None, metadata=attribute(Texts(32, 255), "1.48", changed=None, is_notified=True, of_peers=True)
    )
    series_id: str | None = field(default=None, metadata=attribute(Text(36), shown="1.9", is_filtered=True))
    site: str | None = field(default=None, metadata=attribute(Text(64), shown="1.49", is_computed=True))
    site_lease_id: str | None = field(default=None, metadata=attribute(Text(36), shown="1.49", is_computed=True))
    site_project_id: str | None = field(default=None, metadata=attribute(Text(255), shown="1.50", is_computed=True))
    unreachable: bool = field(default=False, metadata=attribute(Flag(), shown="1.49", is_computed=True))
    degraded: bool = field(default=False, metadata=attribute(Flag(), shown="1.0", is_computed=True, is_notified=True))
    reservations: tuple[ReservationRecord, ...] = ()
    extensions: Extensions = field(default_factory=Extensions)
    updated_at: int | None = None
    deleted_at: int | None = None

    @property
    def server_groups(self) -> frozenset[str]:
        """Ids of the lease's server groups in the cloud."""
        found = (record.terms.get("server_group_id") for record in self.reservations)
        return frozenset(str(group) for group in found if group is not None)

    def with_term(self, key: str, values: Mapping[str, Any]) -> LeaseDocument:
        """Return the document with new values of a term of its reservations, or the same object if nothing changes.

        :param values: new value by reservation id; reservations that are not among them keep their value
        """
        reservations = tuple(
            replace(record, terms={**record.terms, key: values[record.reservation_id]})
            if record.reservation_id in values and record.terms.get(key) != values[record.reservation_id]
            else record
            for record in self.reservations
        )
        return self if reservations == self.reservations else replace(self, reservations=reservations)

    def saved_nodes(self, *, by_default: bool) -> frozenset[int]:
        """Return the indices of the nodes whose servers are saved as images before the end.

        :param by_default: whether this includes reservations that leave the choice to the operator
        """
        wanted = {_SNAPSHOT, _DEFAULT} if by_default else {_SNAPSHOT}
        return frozenset(
            number
            for record in self.reservations
            if record.terms.get("before_end") in wanted
            for number in range(record.first_node, record.first_node + record.node_count)
        )

    @property
    def wants_images(self) -> bool:
        """Whether servers of the lease may be saved as images at its end."""
        return self.on_end != _DELETE or bool(self.saved_nodes(by_default=True))

    @property
    def has_something_in_the_cloud(self) -> bool:
        """Whether the lease has something in the cloud before it starts: a trust or server groups."""
        return self.trust_id is not None or bool(self.server_groups)
