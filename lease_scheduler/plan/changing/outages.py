"""Hosts that are out of service: the plan takes them for the time of their outage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.plan.plan import Plan


def block(plan: Plan, host: int, start: int, end: int) -> None:
    """Take a host out of service for an interval, or change that interval.

    Leases that hold something on it are not moved; that is up to the caller.
    """
    if host in plan.outages:
        unblock(plan, host)
    plan.outages[host] = (start, end)
    plan.availability = plan.availability.blocked(host, start, end)


def unblock(plan: Plan, host: int) -> None:
    """Bring a host back into service."""
    if host in plan.outages:
        start, end = plan.outages.pop(host)
        plan.availability = plan.availability.blocked(host, start, end, back=True)


@contextmanager
def closed(plan: Plan, hosts: Iterable[int], now: int) -> Iterator[None]:
    """Exclude hosts from planning within the block."""
    closed = sorted(set(hosts))
    out = {host: plan.outages[host] for host in closed if host in plan.outages}
    for host in closed:
        block(plan, host, now, FOREVER)
    try:
        yield
    finally:
        for host in closed:
            unblock(plan, host)
            if host in out:
                block(plan, host, *out[host])
