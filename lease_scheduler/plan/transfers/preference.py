"""Host selection that prefers hosts with a lease's image (haizea F64; Sotomayor 2010, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import BoolArray, IntArray
from lease_scheduler.plan.interfaces import HostsAt, HostSelection
from lease_scheduler.plan.transfers.caches import ImageCaches
from lease_scheduler.plan.transfers.images import ImagePlan


@dataclass(frozen=True)
class HoldersFirst(HostSelection):
    """The order of another policy, but with hosts first that have the image or will have it according to the plan.

    :ivar selection: the other policy
    :ivar images: returns the present images
    """

    selection: HostSelection
    images: Callable[[], ImagePlan | None]

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        ranked = self.selection.rank(hosts, lease)
        images = self.images()
        if images is None or lease.software is None:
            return ranked
        near = images.hosts_with_or_soon(lease.software, lease.lease_id)
        if not near:
            return ranked
        has_it = _is_among(ranked, near)
        return np.concatenate((ranked[has_it], ranked[~has_it]))


@dataclass(frozen=True)
class CachedFirst(HostSelection):
    """The order of another policy, but with hosts first that have, or will have, the most of a lease's images.

    :ivar selection: the other policy
    :ivar caches: the image caches of hosts
    """

    selection: HostSelection
    caches: ImageCaches

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        ranked = self.selection.rank(hosts, lease)
        near = [found for image_id in sorted(lease.image_ids) if (found := self.caches.near(image_id))]
        if not near:
            return ranked
        has: IntArray = np.sum([_is_among(ranked, found) for found in near], axis=0, dtype=np.int64)
        return ranked[np.argsort(-has, kind="stable")]


def _is_among(ranked: IntArray, hosts: Collection[int]) -> BoolArray:
    """Return which of the ranked hosts are in ``hosts``, of which there is one at least, shape (ranked,)."""
    others = np.fromiter(hosts, dtype=np.int64, count=len(hosts))
    among: BoolArray = np.zeros(max(ranked.max(initial=0), others.max()) + 1, dtype=bool)
    among[others] = True
    return among.take(ranked)
