"""Images follow what leases hold: each change of a lease plans, moves or drops transfers (haizea F60)."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.images import ImagePlan

#: Nothing of the lease runs or is saved: it starts from its image.
_FRESH = frozenset({LeaseState.SCHEDULED, LeaseState.PREPARING, LeaseState.READY})

#: Somebody plans it just now, and can do without the place.
_UNDECIDED = frozenset({LeaseState.NEW, LeaseState.PENDING})


def followed(images: ImagePlan, old: Lease | None, new: Lease) -> tuple[ImagePlan, Lease]:
    """The images after a lease got a new value, and that value in the state in which it waits for its image.

    :raises NotInTimeError: a promise that is just being planned cannot have its image in time
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
    """Whether untouched images are kept for a lease that lost its place.

    Who is planned again loses them if the operator wants it so. Who was sent back to the queue does not: transfers that
    are late again and again would keep a short lease from ever starting.
    """
    return images.options.keep_replanned or lease.state is LeaseState.QUEUED


def _waiting_or_ready(lease: Lease, *, is_waiting: bool) -> Lease:
    """A lease with a place in the state that says whether its image is there."""
    if is_waiting and lease.state is LeaseState.READY:
        # It was ready and is planned anew on other hosts.
        return lease.to(LeaseState.PENDING, LeaseState.SCHEDULED, reason=lease.reason)
    if not is_waiting and lease.state is not LeaseState.READY:
        return lease.to(LeaseState.READY, reason=lease.reason)
    return lease


def _is_alike(old: Lease, new: Lease) -> bool:
    """Whether nothing changed that says where the lease's VMs are or will be."""
    return (
        old.holdings == new.holdings
        and old.saved_on == new.saved_on
        and (old.state in _FRESH) == (new.state in _FRESH)
        and new.state is not LeaseState.READY
    )


def _is_being_planned(old: Lease | None, new: Lease) -> bool:
    """Whether whoever puts the lease can look for another place, or refuse it.

    A deadline lease is planned under watch always; what holds an interval keeps it even if its image comes late.
    """
    if old is None or old.holdings:
        return False
    return new.kind is LeaseKind.DEADLINE or old.state in _UNDECIDED


def _needed(lease: Lease) -> tuple[Mapping[int, int], frozenset[int]]:
    """Hosts that need the image, each with when its first VM starts from it, and hosts that have disks of the lease."""
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
        # Work that is lost starts from the image once more.
        fresh = holding.closing is Closing.KILL
    return starts, disks
