"""Differences in use between two values of a lease."""

from __future__ import annotations

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease, LeaseRequest

#: Hosts of the nodes, start, end, and whether the use is added (1) or released (-1).
HoldingChange = tuple[tuple[int, ...], int, int, int]


def changes_of(old: Lease | None, new: Lease) -> list[tuple[LeaseRequest, HoldingChange]]:
    """Return how the availability changes when a lease gets a new value, each change with its terms."""
    if old is not None and old.request is not new.request and old.request.nodes != new.request.nodes:
        gone = [(old.request, (r.assignment, r.start, r.end, -1)) for r in old.holdings]
        return gone + [(new.request, (r.assignment, r.start, r.end, 1)) for r in new.holdings]
    return [(new.request, part) for part in _differences(old, new)]


def _differences(old: Lease | None, new: Lease) -> list[HoldingChange]:
    """Return how the availability changes between two values of a lease with the same node sets."""
    before = old.holdings if old else ()
    gone = [r for r in before if r not in new.holdings]
    come = [r for r in new.holdings if r not in before]
    if len(gone) == 1 and len(come) == 1 and gone[0].assignment == come[0].assignment:
        return _difference(gone[0], come[0])
    parts = [(r.assignment, r.start, r.end, -1) for r in gone]
    return parts + [(r.assignment, r.start, r.end, 1) for r in come]


def _difference(old: Holding, new: Holding) -> list[HoldingChange]:
    """Return the intervals in which two holdings on the same hosts differ."""
    if old.end <= new.start or new.end <= old.start:
        return [(old.assignment, old.start, old.end, -1), (new.assignment, new.start, new.end, 1)]
    parts = []
    if old.start != new.start:
        sign = 1 if new.start < old.start else -1
        parts.append((old.assignment, min(old.start, new.start), max(old.start, new.start), sign))
    if old.end != new.end:
        sign = 1 if new.end > old.end else -1
        parts.append((old.assignment, min(old.end, new.end), max(old.end, new.end), sign))
    return parts
