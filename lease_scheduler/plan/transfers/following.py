"""Keeping transfers in line with holdings: each change of a lease plans, moves or drops transfers (haizea F60)."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.images import ImagePlan

#: The lease neither runs nor has saved state: it starts from its image.
_FRESH = frozenset({LeaseState.SCHEDULED, LeaseState.PREPARING, LeaseState.READY})

#: The lease is being planned, so another place can be tried.
_UNDECIDED = frozenset({LeaseState.NEW, LeaseState.PENDING})


def followed(images: ImagePlan, old: Lease | None, new: Lease) -> tuple[ImagePlan, Lease]:
    """Return the images after a lease got a new value, and that value in the state that goes with its image.

    :raises NotInTimeError: the lease is being planned, and cannot have its image in time
    """
    image = new.request.software
    lease_id = new.lease_id
    if old is not None and old.request.software != image:
        images = images.forgotten(lease_id)
    if image is None:
        return images, new
    if new.is_final:
        return images.forgotten(lease_id), new
    if old is not None and _is_alike(old, new):
        return images, new
    starts, disks = _needed(new)
    wanted = starts.keys() | disks
    had = images.claims.get(lease_id, frozenset())
    if had - wanted:
        keeps = not wanted and old is not None and old.state in _FRESH and _may_come_back(images, new)
        images = images.released(lease_id, had - wanted, keep_copies=keeps)
    if disks - had:
        images = images.copied(lease_id, disks - had)
    missing = {host: start for host, start in starts.items() if host not in images.claims.get(lease_id, frozenset())}
    if missing:
        promises = new.kind is not LeaseKind.BEST_EFFORT
        images = images.provided(
            lease_id,
            image,
            missing,
            max(holding.run_end for holding in new.holdings),
            is_flexible=promises and new.kind is not LeaseKind.IMMEDIATE,
            may_be_late=not promises or not _is_being_planned(old, new),
        )
    if wanted:
        images = images.without_other_copies(lease_id, wanted)
    if new.holdings and new.state in _FRESH:
        new = _waiting_or_ready(new, is_waiting=images.outstanding(lease_id, new.holdings[0].assignment))
    return images, new


def _may_come_back(images: ImagePlan, lease: Lease) -> bool:
    """Return whether images stay for a lease that lost its place before it started.

    A lease that is planned again keeps them only with ``keep_replanned``. A lease that went back to the queue always
    does: otherwise repeated late transfers could keep a short lease from ever starting.
    """
    return images.options.keep_replanned or lease.state is LeaseState.QUEUED


def _waiting_or_ready(lease: Lease, *, is_waiting: bool) -> Lease:
    """Return a lease that has a place in the state that tells whether its image is there."""
    if is_waiting and lease.state is LeaseState.READY:
        # A ready lease was planned anew on other hosts. The state machine has this transition only through pending.
        return lease.to(LeaseState.PENDING, LeaseState.SCHEDULED, reason=lease.reason)
    if not is_waiting and lease.state is not LeaseState.READY:
        return lease.to(LeaseState.READY, reason=lease.reason)
    return lease


def _is_alike(old: Lease, new: Lease) -> bool:
    """Return whether nothing changed that determines where the lease's nodes are or will be."""
    return (
        old.holdings == new.holdings
        and old.saved_on == new.saved_on
        and (old.state in _FRESH) == (new.state in _FRESH)
        and new.state is not LeaseState.READY
    )


def _is_being_planned(old: Lease | None, new: Lease) -> bool:
    """Return whether the caller can try another place for the lease, or refuse it, if its image would be late.

    That is always so for a deadline lease without a place. A lease that already has a place keeps it even if its image
    is late.
    """
    if old is None or old.holdings:
        return False
    return new.kind is LeaseKind.DEADLINE or old.state in _UNDECIDED


def _needed(lease: Lease) -> tuple[Mapping[int, int], frozenset[int]]:
    """Return hosts that need the image, with the start of their first node, and hosts that have disks of the lease."""
    starts: dict[int, int] = {}
    disks: frozenset[int] = frozenset()
    fresh = lease.state in _FRESH
    if not fresh:
        if lease.saved_on is not None and lease.state not in (LeaseState.RESUMING, LeaseState.RESUMED_READY):
            disks = frozenset(lease.saved_on)
        elif lease.holdings and lease.state not in _UNDECIDED:
            disks = lease.holdings[0].hosts
    for holding in lease.holdings:
        if fresh:
            for host in holding.assignment:
                starts.setdefault(host, holding.run_start)
        # A lease whose work is lost starts from the image again.
        fresh = holding.closing is Closing.KILL
    return starts, disks
