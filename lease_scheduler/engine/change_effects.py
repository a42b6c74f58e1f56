"""Effects of a change of a lease in the plan on its nodes and on the agenda."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import Operation
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState


def boots(lease: Lease, operation: Operation) -> bool:
    """Return whether the boot in progress still fits the lease's plan."""
    if lease.state is not LeaseState.READY or not lease.holdings:
        return False
    holding = lease.holdings[0]
    return holding.assignment == operation.assignment and holding.start <= operation.begun


def shares_otherwise(before: Lease | None, after: Lease) -> bool:
    """Return whether only the yield of a lease has changed, so that its entry in the agenda stays valid."""
    if before is None or before.progress is after.progress:
        return False
    return replace(before, progress=after.progress) == after


def runs_elsewhere(before: Lease, after: Lease) -> bool:
    """Return whether a lease continues to run, but on other hosts."""
    if before.active_since is None or after.active_since is None:
        return False
    return before.holdings[0].assignment != after.holdings[0].assignment


def left_behind(before: Lease, after: Lease) -> bool:
    """Return whether nodes that were booted ahead are no longer needed where they are.

    False if the lease ends, because its end removes them.
    """
    if not before.is_prepared or after.is_final or after.state is LeaseState.ACTIVE:
        return False
    return not after.is_prepared or after.holdings[0].assignment != before.holdings[0].assignment
