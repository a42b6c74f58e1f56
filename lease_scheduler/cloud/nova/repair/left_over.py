"""Removal of things that belong to no lease, one by one, as the aggregate that names all of them may be gone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from lease_scheduler.cloud.differences import Difference, Kind
from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from lease_scheduler.cloud.nova.api.complaints import complain
from lease_scheduler.cloud.nova.api.flavors import LeaseFlavors
from lease_scheduler.cloud.nova.api.placement import NoRoomError, Placement
from lease_scheduler.cloud.nova.api.server_groups import ServerGroups
from lease_scheduler.cloud.nova.images.broken_images import BrokenImages

LOG = logging.getLogger(__name__)

#: Order of removal. A class can only be removed after its inventories.
_ORDER = (
    Kind.CONSUMER,
    Kind.FLAVOR,
    Kind.INVENTORY,
    Kind.RESOURCE_CLASS,
    Kind.AGGREGATE,
    Kind.SERVER_GROUP,
    Kind.TRUST,
    Kind.IMAGE,
)


class LeftOver:
    """Removal of left-over things, except for servers, which are removed with the rest of their lease.

    :param end_trust: deletes a trust, if it exists
    """

    def __init__(
        self,
        aggregates: Aggregates,
        flavors: LeaseFlavors,
        placement: Placement,
        server_groups: ServerGroups,
        end_trust: Callable[[str], None],
        images: BrokenImages | None,
    ) -> None:
        self._placement = placement
        self._images = images
        self._remove: Mapping[Kind, Callable[[Difference], None]] = {
            Kind.CONSUMER: lambda each: placement.release(each.name),
            Kind.FLAVOR: lambda each: flavors.remove([each.name]),
            Kind.INVENTORY: self._remove_slots,
            Kind.RESOURCE_CLASS: lambda each: placement.remove_class(each.name),
            Kind.AGGREGATE: lambda each: aggregates.remove(each.name),
            Kind.SERVER_GROUP: lambda each: server_groups.remove([each.name]),
            Kind.TRUST: lambda each: end_trust(each.name),
            Kind.IMAGE: self._remove_image,
        }

    def remove(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """See ``Repair.remove_left_over``."""
        held = {names.consumer(lease_id, number) for lease_id, vms in live.items() for number in range(vms)}
        ours = [
            each
            for each in left_over
            if each.kind in _ORDER
            and each.lease_id not in live
            and not (each.kind is Kind.CONSUMER and each.name in held)
        ]
        removed = 0
        for each in sorted(ours, key=_place):
            try:
                self._remove[each.kind](each)
            except NoRoomError as error:
                LOG.info("%s %s is left over and in use: %s", each.kind, each.name, error)
            except Exception as error:
                complain(LOG, f"{each.kind} {each.name} is left over and cannot be removed now", error)
            else:
                LOG.warning("%s %s was left over; it is removed", each.kind, each.name)
                removed += 1
        return removed

    def remove_providers(self) -> frozenset[str]:
        """Remove the providers of slots, which must be empty. Return the names of their hosts."""
        hosts = set()
        for name, (provider_id, _) in self._placement.providers().items():
            host = names.host_of_slots_provider(name, provider_id)
            if host is not None:
                self._placement.remove_provider(provider_id)
                hosts.add(host)
        return frozenset(hosts)

    def _remove_slots(self, each: Difference) -> None:
        resource_class = each.name.rpartition(" ")[2]
        self._placement.remove_slots(each.reference, [resource_class])
        if each.lease_id is None:
            # The class of a reservation, which is not reported by itself. Only our own providers have slots of it.
            self._placement.remove_class(resource_class)

    def _remove_image(self, each: Difference) -> None:
        if self._images is not None:
            self._images.remove(each.name)


def _place(each: Difference) -> int:
    return _ORDER.index(each.kind)
