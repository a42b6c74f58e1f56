"""Hosts that sleep or wake: the plan takes them until they can be used.

A sleeping host can be used once it has had the time to wake, so an interval that begins now is taken on it. As time
passes the interval is moved along, in steps and for all such hosts at once, because each change of the availability
costs the same for one host as for many. A host that sleeps is not out of service: leases keep the places that they have
on it for later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from lease_scheduler.plan.capacity.availability import FOREVER, Availability, IntArray
from lease_scheduler.plan.plan import NOT_ASLEEP, Plan


def take_until(plan: Plan, until: Mapping[int, int], now: int) -> None:
    """Take each host from now until an instant, in place of any interval for which it is taken already.

    :param until: host number -> first instant at which it can be used
    """
    hosts = sorted(until)
    take_all_until(plan, _numbers(hosts), _numbers([until[host] for host in hosts]), now)


def take_all_until(plan: Plan, hosts: IntArray, ends: IntArray | int, now: int) -> None:
    """Take many hosts from now until an instant each, as ``take_until`` does.

    :param hosts: host numbers, shape (k,), ascending
    :param ends: first instants at which they can be used, shape (k,), or one for all
    """
    # Most hosts are taken already, so only what is between the two instants changes.
    before, after = np.maximum(plan.sleep_ends[hosts], now), np.maximum(ends, now)
    plan.availability = plan.availability.taken_until(hosts, before, np.broadcast_to(after, hosts.shape))
    # Not in place: ``closed`` keeps the array.
    plan.sleep_ends = plan.sleep_ends.copy()
    plan.sleep_ends[hosts] = ends


def give_back(plan: Plan, hosts: Collection[int], now: int) -> None:
    """Make hosts that are awake usable from now on."""
    woken = asleep_among(plan, _numbers(sorted(hosts)))
    take_all_until(plan, woken, NOT_ASLEEP, now)


def as_if_awake(plan: Plan, now: int) -> Availability:
    """Return the availability as if no host slept."""
    hosts = asleep_among(plan, np.arange(len(plan.site)))
    before = np.maximum(plan.sleep_ends[hosts], now)
    return plan.availability.taken_until(hosts, before, np.full(len(hosts), now))


@contextmanager
def closed(plan: Plan, hosts: IntArray, now: int) -> Iterator[None]:
    """Plan nothing new on some sleeping hosts within the block.

    :param hosts: host numbers, shape (k,), ascending
    """
    asleep = asleep_among(plan, hosts)
    before, ends = plan.availability, plan.sleep_ends
    take_all_until(plan, asleep, FOREVER, now)
    within = plan.availability
    try:
        yield
    finally:
        if plan.availability is within:
            # In most cases nothing was planned.
            plan.availability, plan.sleep_ends = before, ends
        else:
            take_all_until(plan, asleep, ends[asleep], now)


def asleep_among(plan: Plan, hosts: IntArray) -> IntArray:
    """Return the hosts among these that sleep or wake."""
    asleep: IntArray = hosts[plan.sleep_ends[hosts] != NOT_ASLEEP]
    return asleep


def _numbers(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
