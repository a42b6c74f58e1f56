"""Hosts that have a lease's image come first (haizea F64; Sotomayor 2010, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt, HostSelection
from lease_scheduler.plan.transfers.images import Images


@dataclass(frozen=True)
class HoldersFirst:
    """The order of another policy, with hosts that have the image, or will have it by what is planned, before others.

    :ivar selection: the other policy
    :ivar images: what hosts have at present
    """

    selection: HostSelection
    images: Callable[[], Images | None]

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        """See ``HostSelection.rank``."""
        ranked = self.selection.rank(hosts, lease)
        images = self.images()
        if images is None or lease.software is None:
            return ranked
        near = images.hosts_with_or_soon(lease.software, lease.lease_id)
        if not near:
            return ranked
        has_it = np.isin(ranked, list(near))
        return np.concatenate((ranked[has_it], ranked[~has_it]))
