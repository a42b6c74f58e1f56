"""Invariants, which hold at every step and after every run (haizea F92)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.count_ranges import at_fewest
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.workload import Workload


class InvariantError(LeaseSchedulerError):
    """An invariant does not hold."""


def check_plan(plan: Plan, now: int) -> None:
    """Check that no host is over capacity, and that the availability is the sum of the holdings.

    :raises InvariantError: an invariant does not hold; the error names it
    """
    rebuilt = plan.rebuilt(now)
    if not rebuilt.within_capacity():
        raise InvariantError(f"at {now}: a host is used beyond its capacity")
    if not plan.outages and not plan.asleep and not rebuilt.equals(plan.availability.forgotten(now)):
        raise InvariantError(f"at {now}: the availability is not what the leases hold")
    _check_images(plan, now)
    for lease in plan.leases.values():
        previous_end = 0
        for reservation in lease.holdings:
            phases = (reservation.start, reservation.run_start, reservation.run_end, reservation.end)
            if list(phases) != sorted(phases) or reservation.start < previous_end:
                raise InvariantError(f"at {now}: lease {lease.lease_id} has holdings out of order")
            previous_end = reservation.end
        _check_counts(lease, now)


def _check_counts(lease: Lease, now: int) -> None:
    """Check that each holding has a host for every node, and that a queued lease asks for its fewest nodes only."""
    if any(len(holding.assignment) != lease.request.node_count for holding in lease.holdings):
        raise InvariantError(f"at {now}: lease {lease.lease_id} does not have a host for each VM")
    if lease.state is LeaseState.QUEUED and lease.request != at_fewest(lease.request):
        raise InvariantError(f"at {now}: lease {lease.lease_id} waits for more than its fewest VMs")


def _check_images(plan: Plan, now: int) -> None:
    """Check images: leases have or get theirs, no cache is larger than permitted, and transfers do not overlap."""
    images = plan.images
    if images is None:
        return
    limit = images.options.cache_size_mb
    for host, pool in images.pools.items():
        if limit is not None and sum(entry.image.size_mb for entry in pool) > limit:
            raise InvariantError(f"at {now}: {plan.site.hosts[host].name} keeps more images than it may")
        for entry in pool:
            if host not in images.holding[entry.image.image_id]:
                raise InvariantError(f"at {now}: image {entry.image.image_id} is in a cache not known to have it")
            if not entry.users <= plan.leases.keys():
                raise InvariantError(f"at {now}: image {entry.image.image_id} is kept for a lease that is over")
    planned = [transfer for transfer in images.transfers if transfer.start > now]
    if any(first.end > second.start for first, second in pairwise(planned)):
        raise InvariantError(f"at {now}: two transfers are planned for the same time")
    for lease_id, hosts in images.claims.items():
        image = plan.leases[lease_id].request.software if lease_id in plan.leases else None
        if image is None:
            raise InvariantError(f"at {now}: an image is provided for {lease_id}, which is over or needs none")
        there = set(images.copies.get(lease_id, ()))
        there |= {h for h, pool in images.pools.items() if any(lease_id in entry.users for entry in pool)}
        for transfer in images.transfers:
            there |= {host for user in transfer.users if user.lease_id == lease_id for host in user.hosts}
        if not hosts <= there:
            raise InvariantError(f"at {now}: lease {lease_id} counts on images that are not transferred")
    for lease in plan.leases.values():
        if lease.state is LeaseState.ACTIVE and lease.request.software is not None:
            hosts = lease.holdings[0].hosts
            if images.outstanding(lease.lease_id, hosts) or not hosts <= images.claims.get(lease.lease_id, frozenset()):
                raise InvariantError(f"at {now}: lease {lease.lease_id} runs without its image")


def check_result(result: RunResult, workload: Workload, *, exact: bool = True) -> None:
    """Check that a run kept every promise.

    * No host was over capacity at any instant.
    * Every lease is in the result once, in a final state.
    * Every lease that is done ran for exactly its requested duration, or until its work was done.
    * Every reservation started exactly at its requested start.
    * Every immediate lease started when it was submitted, unless it may have waited for its image.
    * Every lease with a deadline met it.

    :param exact: whether the cloud did everything as planned; if not, only the first two are checked
    :raises InvariantError: a promise was not kept; the error names it
    """
    expected = Counter(lease.request.lease_id for lease in workload.leases)
    if Counter(lease.lease_id for lease in result.leases) != expected:
        raise InvariantError("a lease was lost or duplicated")
    for lease in result.leases:
        if not lease.is_final or lease.holdings:
            raise InvariantError(f"lease {lease.lease_id} is {lease.state.value} after the end")
    _check_capacity(result)
    if exact:
        _check_promises(result, {lease.request.lease_id: lease.real_duration for lease in workload.leases})


def _check_promises(result: RunResult, real_durations: Mapping[str, int | None]) -> None:
    for lease in result.leases:
        request = lease.request
        if lease.state is LeaseState.FAILED:
            raise InvariantError(f"lease {lease.lease_id} failed although the cloud did not: {lease.reason}")
        if lease.state is not LeaseState.DONE:
            continue
        real = real_durations[lease.lease_id]
        wanted = request.duration if real is None else min(real, request.duration)
        if lease.accumulated != wanted:
            raise InvariantError(f"lease {lease.lease_id} ran {lease.accumulated} s instead of {wanted} s")
        if request.kind is LeaseKind.RESERVATION and lease.started != request.start:
            raise InvariantError(f"reservation {lease.lease_id} began at {lease.started}, not at {request.start}")
        waited = request.software is not None and result.counters.get("image_transfers", 0) > 0
        if request.kind is LeaseKind.IMMEDIATE and lease.started != request.submitted and not waited:
            raise InvariantError(f"immediate lease {lease.lease_id} began at {lease.started}, not at once")
        if request.deadline is not None and (lease.ended is None or lease.ended > request.deadline + _shutdown(result)):
            raise InvariantError(f"lease {lease.lease_id} ended at {lease.ended}, its deadline was {request.deadline}")


def _shutdown(result: RunResult) -> int:
    """Return the longest shutdown of the run in seconds, since a deadline does not cover the shutdown."""
    return max((o.end - o.start for o in result.occupations if o.phase.value == "shutdown"), default=0)


def _check_capacity(result: RunResult) -> None:
    """Check the capacity of hosts in a sweep over all occupations; at equal instants, ends come before starts."""
    site = result.site
    requests = {lease.lease_id: lease.request for lease in result.leases}
    for name in site.resource_classes:
        hosts, instants, changes = [], [], []
        for occupation in result.occupations:
            nodes = requests[occupation.lease_id].nodes
            amounts = [node_set.resources.get(name, 0) for node_set in nodes for _ in range(node_set.count)]
            if len(nodes) == 1:
                # A lease that started over may have had another number of nodes before.
                amounts = [nodes[0].resources.get(name, 0)] * len(occupation.assignment)
            for host, amount in zip(occupation.assignment, amounts, strict=True):
                if amount:
                    hosts += [host, host]
                    instants += [occupation.start, occupation.end]
                    changes += [amount, -amount]
        if not hosts:
            continue
        order = np.lexsort((changes, instants, hosts))
        ordered_hosts = np.array(hosts)[order]
        used = np.array(changes)[order].cumsum()
        capacity = np.array([host.capacity.get(name, 0) for host in site.hosts])[ordered_hosts]
        if (used > capacity).any():
            worst = int(order[int((used - capacity).argmax())])
            raise InvariantError(f"{site.hosts[hosts[worst]].name} had too much {name} in use at {instants[worst]}")
