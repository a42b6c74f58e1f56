"""Execution of planned transfers of disk images (haizea F60; Sotomayor 2010, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.engine.interfaces import CloudEvent, EventKind, ImageCarrier
from lease_scheduler.engine.relocation import Relocation
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.plan.transfers.images import ImagePlan

#: States in which a lease has a place and waits for its image or its start.
_WAITING = (LeaseState.SCHEDULED, LeaseState.PREPARING, LeaseState.READY)


class Transfers:
    """Transfers of images to hosts, one at a time.

    A transfer that takes longer than planned delays those after it. Leases whose image is late start late.

    :param state: state that the parts of the engine share
    :param relocation: ends leases whose image cannot be brought
    :param carrier: brings images; None if the plan has no transfers
    """

    def __init__(self, state: EngineState, relocation: Relocation, carrier: ImageCarrier | None) -> None:
        self._state = state
        self._relocation = relocation
        self._carrier = carrier

    @property
    def _images(self) -> ImagePlan | None:
        return self._state.planner.plan.images

    def restore(self, leases: Iterable[Lease], cached: Iterable[CachedImage], now: int) -> None:
        """See ``ImageSupply.restore``. Does nothing, because the plan knows the images on hosts."""

    def next_due(self) -> int | None:
        """Return the instant at which the next transfer begins; None if none is planned, or one is in progress."""
        return None if self._images is None else self._images.next_start()

    def begin_due(self, now: int) -> None:
        """Begin the next transfer if it is due and none is in progress."""
        images = self._images
        if images is None or self._carrier is None:
            return
        start = images.next_start()
        if start is None or start > now:
            return
        number = images.transfers[0].number
        images = self._put(images.begun(number, now))
        transfer = images.transfer(number)
        assert transfer is not None
        self._state.recorder.count("image_transfers")
        self._state.recorder.count("transferred_images", len(transfer.hosts))
        self._carrier.bring(transfer, now)
        for lease in self._users(transfer):
            if lease.state is LeaseState.SCHEDULED and images.outstanding(lease.lease_id, lease.holdings[0].assignment):
                self._state.put(lease.to(LeaseState.PREPARING))
        self._state.publish(now)

    def handle(self, event: CloudEvent, now: int) -> None:
        """Handle the completion or the failure of a transfer."""
        images = self._images
        transfer = None if images is None or event.transfer is None else images.transfer(event.transfer)
        if images is None or transfer is None:
            return
        if event.kind is EventKind.COMPLETED:
            self._arrived(images, transfer)
        else:
            self._failed(images, transfer, now, event.reason)
        self._state.publish(now)
        self.begin_due(now)

    def host_lost(self, host: int, now: int) -> None:
        """Drop the images of a failed host, and plan transfers again for leases that need them."""
        images = self._images
        if images is None:
            return
        losers = [lease_id for lease_id, hosts in images.claims.items() if host in hosts]
        self._put(images.host_lost(host))
        for lease_id in losers:
            lease = self._state.lease(lease_id)
            if lease is None or not lease.holdings:
                continue
            if lease.state in _WAITING:
                self._provide_again(lease)
            elif host in lease.holdings[0].assignment:
                # In the plan, the servers of the lease, with their disks, are still there.
                assert self._images is not None
                self._put(self._images.copied(lease_id, (host,)))
        self._state.publish(now)

    def _arrived(self, images: ImagePlan, transfer: Transfer) -> None:
        before = images.evicted
        images = self._put(images.ended(transfer.number))
        self._state.recorder.count("evicted_images", images.evicted - before)
        for lease in self._users(transfer):
            waits = lease.state in (LeaseState.SCHEDULED, LeaseState.PREPARING)
            if waits and not images.outstanding(lease.lease_id, lease.holdings[0].assignment):
                self._state.put(lease.to(LeaseState.READY))

    def _failed(self, images: ImagePlan, transfer: Transfer, now: int, reason: str) -> None:
        """Plan another transfer for leases that wait for this one, and end those that have no attempts left."""
        self._state.recorder.count("failed_transfers")
        self._put(images.failed(transfer.number))
        for lease in self._users(transfer):
            self._state.runs[lease.lease_id].failed_boots += 1
            if self._state.runs[lease.lease_id].failed_boots >= self._state.options.boot_attempts:
                self._relocation.fail(lease, now, f"its disk image could not be brought to its hosts: {reason}")
            elif lease.state in _WAITING:
                self._provide_again(lease)

    def _provide_again(self, lease: Lease) -> None:
        """Plan the transfers that a lease lacks. The plan gives the lease the state in which it waits for them."""
        self._state.put(lease if lease.state is LeaseState.READY else lease.to(LeaseState.READY))

    def _users(self, transfer: Transfer) -> list[Lease]:
        """Return the live leases with a place that need a transfer."""
        leases = (self._state.lease(user.lease_id) for user in transfer.users)
        return [lease for lease in leases if lease is not None and lease.holdings]

    def _put(self, images: ImagePlan) -> ImagePlan:
        self._state.planner.plan.images = images
        return images
