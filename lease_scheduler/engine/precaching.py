"""Image transfers ahead of starts, on clouds that otherwise bring images when servers boot (haizea F60-F65).

No lease waits for an image here. A lease is ``preparing`` while an image is being brought for it, until it boots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from lease_scheduler.engine.interfaces import CloudEvent, EventKind, ImageCarrier
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.capacity.availability import FOREVER
from lease_scheduler.plan.transfers.ahead import FRESH, ImageNeed, ImageUse, lacking, planned, uses_of
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.plan.transfers.options import TransferOptions

#: Seconds after a failed transfer before the image is brought to the host again. Earlier, it would likely fail again.
_PAUSE = 3_600


class AheadTransfers:
    """Transfers of images to hosts, one at a time, and the record of images that hosts have after transfers and boots.

    :param state: state that the parts of the engine share
    :param options: options of transfers, such as their rate
    :param carrier: brings images
    """

    def __init__(self, state: EngineState, options: TransferOptions, carrier: ImageCarrier) -> None:
        self._state = state
        self._options = options
        self._carrier = carrier
        self._caches = state.planner.caches
        state.follow = self.follow
        self._uses: dict[str, tuple[ImageUse, ...]] = {}
        # Image id -> host -> uses. The key is not the image, because leases may state different sizes of the same one.
        self._of_image: dict[str, dict[int, set[ImageUse]]] = {}
        self._caches.planned = self._of_image
        self._needs: dict[str, dict[int, list[ImageNeed]]] = {}
        #: (image id, host) whose needs must be computed again.
        self._stale: set[tuple[str, int]] = set()
        self._planned: tuple[Transfer, ...] = ()
        self._valid_until = FOREVER
        self._now = 0
        self._going: Transfer | None = None
        #: Hosts of the present transfer that have not reported yet.
        self._awaited: set[int] = set()
        self._refused: dict[tuple[int, str], int] = {}
        self._next_number = 1
        self._preparing: set[str] = set()
        self._site: Site | None = None

    def restore(self, leases: Iterable[Lease], cached: Iterable[CachedImage], now: int) -> None:
        """Take over from an engine that has stopped. Its present transfer is repeated if it is still needed."""
        self._caches.restore(cached)
        for lease in leases:
            self._index(lease)

    # -- changes of leases ---------------------------------------------------------------------------------

    def follow(self, before: Lease | None, lease: Lease, now: int) -> None:
        """Handle a new value of a lease."""
        self._index(lease)
        if not lease.request.image_ids:
            return
        was_running = before is not None and before.active_since is not None
        if lease.active_since is not None:
            hosts = lease.holdings[0].assignment
            # Servers that are unshelved boot from their snapshots, not from their image.
            has_booted = before is None or before.state in FRESH
            has_moved = was_running and before is not None and before.holdings[0].assignment != hosts
            if has_booted or has_moved:
                self._used(lease, hosts, now)
        elif before is not None and was_running and before.holdings:
            for image, there in before.request.images_on(before.holdings[0].assignment).items():
                self._caches.used_if_there(image.image_id, there, now)
                self._stale |= {(image.image_id, host) for host in there}

    def _used(self, lease: Lease, hosts: tuple[int, ...], now: int) -> None:
        for image, there in lease.request.images_on(hosts).items():
            self._caches.used(image.image_id, there, now)
            self._stale |= {(image.image_id, host) for host in there}
            for host in there:
                self._refused.pop((host, image.image_id), None)

    def _index(self, lease: Lease) -> None:
        """Record how a lease uses images now."""
        known = self._uses.pop(lease.lease_id, ())
        uses = () if lease.is_final else uses_of(lease, self._state.options.preparation_time)
        if uses:
            self._uses[lease.lease_id] = uses
        if uses == known:
            return
        for use in uses:
            of_image = self._of_image.setdefault(use.image.image_id, {})
            for host in use.hosts:
                of_image.setdefault(host, set()).add(use)
        for use in set(known).difference(uses):
            of_image = self._of_image[use.image.image_id]
            for host in use.hosts:
                of_image[host].discard(use)
                if not of_image[host]:
                    del of_image[host]
            if not of_image:
                del self._of_image[use.image.image_id]
        self._stale |= {(use.image.image_id, host) for use in (*known, *uses) for host in use.hosts}

    # -- due transfers ---------------------------------------------------------------------------------------

    def next_due(self) -> int | None:
        """Return the instant at which the next transfer begins; None if none is planned, or one is in progress."""
        if self._going is not None:
            return None
        self._plan(self._now)
        return None if self._valid_until == FOREVER else self._valid_until

    def _plan(self, now: int) -> None:
        """Compute the transfers that are needed, and the instant until which this result is valid."""
        if not self._stale and now < self._valid_until:
            return
        for image_id, host in self._stale:
            uses = self._of_image.get(image_id, {}).get(host, ())
            needs = lacking(host, uses, self._caches.kept_until(image_id, host), self._caches.age)
            of_image = self._needs.setdefault(image_id, {})
            of_image[host] = needs
            if not needs:
                del of_image[host]
            if not of_image:
                del self._needs[image_id]
        self._stale.clear()
        wanted: dict[DiskImage, list[ImageNeed]] = {}
        later: list[int] = []
        for image_id in sorted(self._needs):
            by_host = self._needs[image_id]
            here = (use.image for host in by_host for use in self._of_image[image_id][host])
            image = max(here, key=lambda image: image.size_mb)
            for need in chain.from_iterable(by_host[host] for host in sorted(by_host)):
                # An image that is brought earlier would leave the cache before it is used.
                possible = max(need.due - self._caches.age, self._refused.get((need.host, image_id), 0))
                if possible <= now < need.due:
                    wanted.setdefault(image, []).append(need)
                elif now < possible < need.due:
                    later.append(possible)
        self._planned = planned(wanted, self._options, now)
        starts = [transfer.start for transfer in self._planned[:1]]
        # Until then, no transfer must begin, and no further one is needed.
        self._valid_until = min((*starts, *later), default=FOREVER)

    def begin_due(self, now: int) -> None:
        """Begin the next transfer if it is due and none is in progress."""
        self._now = now
        self._forget_hosts()
        self._age_out(now)
        if self._going is None:
            self._plan(now)
            if self._planned and self._planned[0].start <= now:
                self._begin(self._planned[0], now)
        self._show(now)

    def _begin(self, transfer: Transfer, now: int) -> None:
        begun = replace(
            transfer, number=self._next_number, start=now, end=now + transfer.seconds, is_fixed=True, has_begun=True
        )
        self._next_number += 1
        self._going, self._awaited = begun, set(begun.hosts)
        self._state.recorder.count("image_transfers")
        self._state.recorder.count("transferred_images", len(begun.hosts))
        self._carrier.bring(begun, now)

    def _show(self, now: int) -> None:
        """Set the state ``preparing`` for leases for which an image is being brought, and only for those."""
        waiting = set()
        if self._going is not None:
            for user in self._going.users:
                lease = self._state.lease(user.lease_id)
                if lease is not None and self._is_served(lease, now):
                    waiting.add(lease.lease_id)
                    if lease.state is LeaseState.READY:
                        self._state.put(lease.to(LeaseState.PREPARING))
                        self._preparing.add(lease.lease_id)
        for lease_id in self._preparing - waiting:
            lease = self._state.lease(lease_id)
            if lease is not None and lease.state is LeaseState.PREPARING:
                self._state.put(lease.to(LeaseState.READY))
        self._preparing &= waiting
        self._state.publish(now)

    def _is_served(self, lease: Lease, now: int) -> bool:
        """Return whether the present transfer brings an image to a host on which a lease has yet to boot."""
        uses = self._uses.get(lease.lease_id, ())
        return (
            self._going is not None
            and self._state.is_ready(lease)
            and lease.lease_id not in self._state.runs.operating
            and any(
                use.is_ahead
                and use.boot > now
                and use.image.image_id == self._going.image.image_id
                and not use.hosts.isdisjoint(self._awaited)
                for use in uses
            )
        )

    # -- reports of the cloud ----------------------------------------------------------------------------

    def handle(self, event: CloudEvent, now: int) -> None:
        """Handle a report that an image has arrived on a host, or could not be brought there.

        A report without a host ends the transfer.
        """
        going = self._going
        if going is None or event.transfer != going.number:
            return
        hosts = frozenset(self._awaited if event.host is None else {event.host} & self._awaited)
        self._awaited -= hosts
        if event.kind is EventKind.COMPLETED:
            in_pool = [host for host in hosts if self._is_in_pool(host)]
            self._caches.used(going.image.image_id, in_pool, now)
        else:
            for host in hosts:
                self._caches.lost(going.image.image_id, host)
                self._refused[host, going.image.image_id] = now + _PAUSE
            if hosts:
                self._state.recorder.count("failed_transfers")
        self._stale |= {(going.image.image_id, host) for host in going.hosts}
        if event.host is None:
            self._going = None
        self._refused = {key: until for key, until in self._refused.items() if until > now}
        self._state.publish(now)
        self.begin_due(now)

    def host_lost(self, host: int, now: int) -> None:
        """Drop the images of a failed host."""
        self._drop(host)
        self._awaited.discard(host)

    def _age_out(self, now: int) -> None:
        for image_id, host in self._caches.expired(now):
            if any(use.is_running for use in self._of_image.get(image_id, {}).get(host, ())):
                self._caches.used(image_id, [host], now)
            else:
                self._caches.lost(image_id, host)
            self._stale.add((image_id, host))

    def _drop(self, host: int) -> None:
        self._stale |= {(image_id, host) for image_id in self._caches.host_lost(host)}

    def _forget_hosts(self) -> None:
        """Drop the images of hosts that have left the pool, because they may return without them."""
        site = self._state.planner.plan.site
        if site is not self._site:
            self._site = site
            for host in sorted(self._caches.hosts()):
                if not self._is_in_pool(host):
                    self._drop(host)

    def _is_in_pool(self, host: int) -> bool:
        hosts = self._state.planner.plan.site.hosts
        return host < len(hosts) and bool(hosts[host].capacity)
