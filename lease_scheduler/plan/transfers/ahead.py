"""Images that are brought to hosts ahead of a start, in clouds that otherwise bring them when servers boot.

See haizea F60-F62, F65. Unlike ``images.ImagePlan``, these transfers do not influence whether and when a lease gets
hosts. They follow from what leases hold and which images hosts have, and are computed anew when either changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer, TransferUser
from lease_scheduler.plan.transfers.channel import Job, as_late_as_possible
from lease_scheduler.plan.transfers.options import TransferOptions

#: The lease neither runs nor has saved state: it starts from its images.
FRESH = frozenset({LeaseState.SCHEDULED, LeaseState.PREPARING, LeaseState.READY})

#: Earlier than anything can be planned.
_LONG_AGO = -(2**60)


@dataclass(frozen=True, slots=True)
class ImageUse:
    """The use of an image by servers of a lease that run from it, or will.

    :ivar lease_id: the lease
    :ivar image: the image
    :ivar hosts: numbers of the servers' hosts
    :ivar boot: when the servers boot
    :ivar until: when their run is planned to end
    :ivar is_ahead: whether the image is to be there when they boot; else booting brings it
    :ivar is_running: whether they have booted. Their host may lack the image even so, for example after a migration
    """

    lease_id: str
    image: DiskImage
    hosts: frozenset[int]
    boot: int
    until: int
    is_ahead: bool
    is_running: bool = False


@dataclass(frozen=True, slots=True)
class ImageNeed:
    """An image that a host lacks when a lease boots there."""

    host: int
    due: int
    lease_id: str
    until: int


def uses_of(lease: Lease, preparation_time: int) -> tuple[ImageUse, ...]:
    """Return how a lease uses images, now or in its first run; empty if it does not start from images.

    :param preparation_time: how many seconds before the start of a reservation or deadline lease its servers boot
    """
    if not lease.holdings or not lease.request.image_ids:
        return ()
    first = lease.holdings[0]
    promised = lease.kind.is_prepared
    if lease.state in FRESH:
        boot = first.run_start - preparation_time if promised else first.run_start
        # Offers may be declined, and servers that have begun to boot bring their images themselves.
        is_ahead = promised and not lease.is_offered and not lease.is_prepared
        is_running = False
    elif lease.active_since is not None:
        boot, is_ahead, is_running = lease.active_since, False, True
    else:
        return ()
    return tuple(
        ImageUse(lease.lease_id, image, hosts, boot, first.run_end, is_ahead, is_running)
        for image, hosts in lease.request.images_on(first.assignment).items()
        if hosts
    )


def lacking(host: int, uses: Iterable[ImageUse], kept_until: int | None, age: int) -> list[ImageNeed]:
    """Return when a host lacks an image that it needs.

    :param host: number of the host
    :param uses: all uses of the image on the host
    :param kept_until: until when the host keeps the image without these uses; None if it does not have the image
    :param age: seconds for which a host keeps an image after a use
    """
    found = []
    until = _LONG_AGO if kept_until is None else kept_until
    for use in sorted(uses, key=lambda use: (use.boot, use.lease_id)):
        if until < use.boot and use.is_ahead:
            found.append(ImageNeed(host, use.boot, use.lease_id, use.until))
        if not use.is_running or kept_until is not None:
            until = max(until, use.until + age)
    return found


def planned(needs: Mapping[DiskImage, Sequence[ImageNeed]], options: TransferOptions, now: int) -> tuple[Transfer, ...]:
    """Return transfers for all needs, one after the other from now on, each as late as due dates allow.

    Transfers of the same image that would overlap are merged. A transfer that cannot be over in time begins as soon as
    possible, as hosts that get the image before the boot still profit.

    :return: in the order of their starts, numbered from 0
    """
    transfers = [transfer for image, of_image in needs.items() for transfer in _merged(image, of_image, options, now)]
    transfers.sort(key=lambda transfer: (transfer.due, transfer.image.image_id))
    jobs = [Job(transfer.seconds, transfer.due) for transfer in transfers]
    latest = as_late_as_possible(jobs, (), _LONG_AGO) or ()
    found: list[Transfer] = []
    free = now
    for start, transfer in sorted(zip(latest, transfers, strict=True), key=lambda pair: pair[0]):
        begin = max(start, free)
        free = begin + transfer.seconds
        found.append(replace(transfer, number=len(found), start=begin, end=free))
    return tuple(found)


def _merged(image: DiskImage, needs: Sequence[ImageNeed], options: TransferOptions, now: int) -> list[Transfer]:
    """Return the transfers of one image, without regard to other images."""
    groups: list[list[ImageNeed]] = []
    for need in sorted(needs, key=lambda need: (need.due, need.host)):
        if need.due <= now:
            continue
        if groups:
            hosts = {each.host for each in groups[-1]} | {need.host}
            if need.due - options.seconds(image, len(hosts)) <= groups[-1][0].due:
                groups[-1].append(need)
                continue
        groups.append([need])
    return [_transfer(image, group, options) for group in groups]


def _transfer(image: DiskImage, needs: Sequence[ImageNeed], options: TransferOptions) -> Transfer:
    hosts = frozenset(need.host for need in needs)
    by_lease: dict[str, list[ImageNeed]] = {}
    for need in needs:
        by_lease.setdefault(need.lease_id, []).append(need)
    users = tuple(
        TransferUser(lease_id, frozenset(need.host for need in of_lease), of_lease[0].due, of_lease[0].until)
        for lease_id, of_lease in sorted(by_lease.items())
    )
    due = min(need.due for need in needs)
    return Transfer(0, image, due - options.seconds(image, len(hosts)), due, users, hosts)
