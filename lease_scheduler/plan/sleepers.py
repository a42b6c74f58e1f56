"""Hosts that sleep or wake, in the plan: taken until they can be used.

A sleeping host can be used once it has had the time to wake, so an interval that begins now is taken on it. As time
passes the interval is moved along, in steps and for all such hosts at once, because each change of the availability
costs the same for one host as for many. A host that sleeps is not out of service: leases keep the places that they have
on it for later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from lease_scheduler.plan.availability import FOREVER
from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.taken_hosts import taken


def take_until(plan: Plan, until: Mapping[int, int], now: int) -> None:
    """Take hosts from now on until an instant each, in place of any interval for which they are taken already.

    :param until: host number -> first instant at which it can be used
    """
    longer, shorter = [], []
    # Most hosts are taken already, so only what is between the two instants changes.
    for host, after in sorted(until.items()):
        before = plan.asleep.get(host, now)
        before, after = before if before > now else now, after if after > now else now
        if after > before:
            longer.append((host, before, after))
        elif after < before:
            shorter.append((host, after, before))
    plan.availability = taken(taken(plan.availability, longer), shorter, sign=-1)
    plan.asleep |= until


def give_back(plan: Plan, hosts: Collection[int], now: int) -> None:
    """Let hosts be used from now on that are awake."""
    known = {host: plan.asleep.pop(host) for host in hosts if host in plan.asleep}
    plan.availability = taken(plan.availability, [(host, now, end) for host, end in sorted(known.items())], sign=-1)


@contextmanager
def closed(plan: Plan, hosts: Collection[int], now: int) -> Iterator[None]:
    """Plan nothing new on some sleeping hosts within the block."""
    kept = {host: plan.asleep[host] for host in hosts if host in plan.asleep}
    take_until(plan, dict.fromkeys(kept, FOREVER), now)
    try:
        yield
    finally:
        take_until(plan, kept, now)
