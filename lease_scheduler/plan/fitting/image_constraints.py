"""Constraints on hosts that follow from where disk images can be in time (haizea F64)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import BoolArray, IntArray
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.transfers import timing
from lease_scheduler.plan.transfers.timing import ready_at, usable_at


def ready_hosts(plan: Plan, request: LeaseRequest) -> IntArray | None:
    """Return from when on each host can have a lease's image, shape (hosts,), or None if the lease needs none."""
    return None if plan.images is None else ready_at(plan.images, request, len(plan.site))


def possible_instants(plan: Plan, request: LeaseRequest, *, any_image: bool = False) -> list[int]:
    """Return a superset of the instants of ``ready_hosts`` for a lease with an image; this is fast.

    :param any_image: whether to include those for all other images that take as long to transfer
    """
    assert plan.images is not None
    return timing.possible_instants(plan.images, request, any_image=any_image)


def transfer_seconds(plan: Plan, request: LeaseRequest) -> int | None:
    """Return the seconds that transferring a lease's image takes, or None if the lease needs none."""
    if plan.images is None or request.software is None:
        return None
    return plan.images.options.seconds(request.software, request.node_count)


def at_start(plan: Plan, request: LeaseRequest, start: int) -> tuple[Demand, ...]:
    """Return the request's demands, restricted to hosts that can have its image when it starts."""
    demands = plan.demands(request)
    if plan.images is None:
        return demands
    usable = usable_at(plan.images, request, start, len(plan.site))
    return demands if usable is None else only_on(demands, usable)


def is_anywhere_in_time(plan: Plan, request: LeaseRequest, start: int) -> bool:
    """Return whether every host can have a lease's image when the lease starts."""
    return plan.images is None or usable_at(plan.images, request, start, len(plan.site)) is None


def only_on(demands: tuple[Demand, ...], usable: BoolArray) -> tuple[Demand, ...]:
    """Return the demands restricted to some hosts.

    :param usable: shape (hosts,)
    """
    return tuple(
        replace(demand, eligible=usable if demand.eligible is None else demand.eligible & usable) for demand in demands
    )
