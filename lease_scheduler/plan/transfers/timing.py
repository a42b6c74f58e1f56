"""Timing: when hosts can have the image of a lease (haizea F60, F65, F66)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import BoolArray, IntArray
from lease_scheduler.plan.transfers.images import ImagePlan
from lease_scheduler.plan.transfers.options import Mechanism


def ready_at(images: ImagePlan, request: LeaseRequest, hosts: int) -> IntArray | None:
    """Return the earliest instant at which each host can have a lease's image, shape (hosts,), or None if it has none.

    That is now if the host has the image. Otherwise it is the end of a planned transfer that brings it there or could,
    or the end of a transfer that would be planned now.
    """
    image = request.software
    if image is None:
        return None
    own = images.soonest_end(image, request.node_count)
    ready: IntArray = np.full(hosts, own, dtype=np.int64)
    if images.options.avoid_redundant:
        for transfer in images.transfers:
            if transfer.image != image or transfer.end >= own:
                continue
            if images.options.mechanism is Mechanism.MULTICAST and not transfer.has_begun:
                np.minimum(ready, transfer.end, out=ready)
            else:
                there = list(transfer.hosts)
                ready[there] = np.minimum(ready[there], transfer.end)
    ready[list(images.hosts_with(image, request.lease_id))] = images.now
    return ready


def possible_instants(images: ImagePlan, request: LeaseRequest, *, any_image: bool = False) -> list[int]:
    """Return a superset of the instants of ``ready_at`` for a lease with an image, without looking at hosts.

    :param any_image: whether to include those for all other images that take as long to transfer
    """
    image = request.software
    assert image is not None
    own = images.soonest_end(image, request.node_count)
    shared: Iterable[int] = ()
    if images.options.avoid_redundant:
        shared = chain.from_iterable(images.ends.values()) if any_image else images.ends.get(image, ())
    return [images.now, *(end for end in shared if end < own), own]


def usable_at(images: ImagePlan, request: LeaseRequest, start: int, hosts: int) -> BoolArray | None:
    """Return which hosts can have a lease's image at a given start, shape (hosts,), or None if all can."""
    image = request.software
    if image is None or images.can_be_there(image, request.node_count, start):
        return None
    usable = np.zeros(hosts, dtype=bool)
    usable[list(images.hosts_with(image, request.lease_id))] = True
    if images.options.avoid_redundant:
        for transfer in images.transfers:
            if transfer.image == image and transfer.end <= start:
                usable[list(transfer.hosts)] = True
    return usable


def start_after_transfer(images: ImagePlan, request: LeaseRequest) -> int | None:
    """Return when an immediate lease can start whose image has to be transferred first, or None.

    The transfer must be able to begin at once (Sotomayor 2010, section 6.1).
    """
    if request.software is None:
        return None
    seconds = images.options.seconds(request.software, request.node_count)
    end = images.soonest_end(request.software, request.node_count)
    return end if end - seconds == images.now else None
