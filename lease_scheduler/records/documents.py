"""What projects say of their leases beside the terms that are planned with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lease_scheduler.model.attributes import Choice, Flag, Text, attribute

#: What is done before the end of a reservation of hosts: images are made of its servers, or what the operator says.
_SNAPSHOT, _DEFAULT = "snapshot", "default"


@dataclass(frozen=True)
class ReservationRecord:
    """One reservation of a lease, as the tenant named it.

    :ivar terms: the keys of its resource type (anchors: Blazar's API v1)
    :ivar node_sets: how many of the lease's node sets are its, in order
    :ivar first_node: number of its first VM among those of the lease
    :ivar node_count: how many VMs are its
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
    """What a project says of a lease beside the terms that are planned with.

    :ivar request_digest: of a lease whose id its client has chosen: what tells its request from any other
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
    series_id: str | None = field(default=None, metadata=attribute(Text(36), shown="1.9", is_filtered=True))
    degraded: bool = field(default=False, metadata=attribute(Flag(), shown="1.0", is_computed=True, is_notified=True))
    reservations: tuple[ReservationRecord, ...] = ()
    updated_at: int | None = None
    deleted_at: int | None = None

    @property
    def server_groups(self) -> frozenset[str]:
        """Ids of the groups in the cloud that its servers may be in."""
        found = (record.terms.get("server_group_id") for record in self.reservations)
        return frozenset(str(group) for group in found if group is not None)

    def with_term(self, key: str, values: Mapping[str, Any]) -> LeaseDocument:
        """Return the document with other values of a term, by reservation; itself if nothing differs."""
        reservations = tuple(
            replace(record, terms={**record.terms, key: values[record.reservation_id]})
            if record.reservation_id in values and record.terms.get(key) != values[record.reservation_id]
            else record
            for record in self.reservations
        )
        return self if reservations == self.reservations else replace(self, reservations=reservations)

    def saved_nodes(self, *, by_default: bool) -> frozenset[int]:
        """Numbers of the VMs on whose hosts images are made of the servers before the end.

        :param by_default: whether that is so for reservations that leave it to the operator
        """
        wanted = {_SNAPSHOT, _DEFAULT} if by_default else {_SNAPSHOT}
        return frozenset(
            number
            for record in self.reservations
            if record.terms.get("before_end") in wanted
            for number in range(record.first_node, record.first_node + record.node_count)
        )

    @property
    def has_something_in_the_cloud(self) -> bool:
        """Whether there is something of it before it begins."""
        return self.trust_id is not None or bool(self.server_groups)
