"""The image plan: which images hosts have, and which transfers are planned.

Sotomayor 2010, chapter 6 (haizea F60-F66).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.transfer import Transfer, TransferUser
from lease_scheduler.plan.transfers.changed_values import counted, in_order, with_hosts, without, without_hosts
from lease_scheduler.plan.transfers.channel import Block, Job, as_late_as_possible, first_gap, latest_gap
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.plan.transfers.pool import Pool, pooled, with_image, with_user, without_user

_NOWHERE: frozenset[int] = frozenset()


class NotInTimeError(LeaseSchedulerError):
    """An image cannot be on its hosts when it is needed there."""


@dataclass(frozen=True)
class ImagePlan:
    """The images on hosts and the transfers to them, as an immutable value. Methods return changed copies.

    :ivar options: options set by the operator
    :ivar now: no transfer is planned to begin before this instant
    :ivar transfers: transfers that are planned or going on, in the order of their starts
    :ivar pools: host number -> images that the host keeps
    :ivar copies: lease id -> hosts that have the image for this lease alone
    :ivar claims: lease id -> hosts where the image is, or will be in time, for the lease
    :ivar holding: image id -> hosts that keep the image
    :ivar reused: lease id -> number of hosts where the lease found its image
    :ivar shared: lease id -> number of hosts to which another lease's transfer brings its image
    :ivar evicted: number of images evicted so far
    :ivar next_number: number of the next transfer
    """

    options: TransferOptions
    now: int = 0
    transfers: tuple[Transfer, ...] = ()
    pools: Mapping[int, Pool] = field(default_factory=dict)
    copies: Mapping[str, frozenset[int]] = field(default_factory=dict)
    claims: Mapping[str, frozenset[int]] = field(default_factory=dict)
    holding: Mapping[str, frozenset[int]] = field(default_factory=dict)
    reused: Mapping[str, int] = field(default_factory=dict)
    shared: Mapping[str, int] = field(default_factory=dict)
    evicted: int = 0
    next_number: int = 1

    # -- questions -------------------------------------------------------------------------------------

    def hosts_with(self, image: DiskImage, lease_id: str) -> frozenset[int]:
        """Return the hosts on which a lease finds the image now."""
        return self.holding.get(image.image_id, _NOWHERE) | self.copies.get(lease_id, _NOWHERE)

    def hosts_with_or_soon(self, image: DiskImage, lease_id: str) -> frozenset[int]:
        """Return the hosts that have the image or will have it according to the plan."""
        coming = (transfer.hosts for transfer in self.transfers if transfer.image == image)
        return self.hosts_with(image, lease_id).union(*coming)

    def outstanding(self, lease_id: str, hosts: Iterable[int]) -> bool:
        """Return whether a lease still waits for its image on one of the hosts."""
        wanted = frozenset(hosts)
        return any(
            user.lease_id == lease_id and not wanted.isdisjoint(user.hosts)
            for transfer in self.transfers
            for user in transfer.users
        )

    def arrival(self, lease_id: str) -> int | None:
        """Return when the last transfer that a lease waits for ends, or None."""
        return self._arrivals.get(lease_id)

    def transfer(self, number: int) -> Transfer | None:
        """Return the transfer with this number, or None if it is over or was dropped."""
        return next((transfer for transfer in self.transfers if transfer.number == number), None)

    def next_start(self) -> int | None:
        """Return when the next transfer is to begin, or None if one is going on or none is planned."""
        if any(transfer.has_begun for transfer in self.transfers):
            return None
        return self.transfers[0].start if self.transfers else None

    def soonest_end(self, image: DiskImage, hosts: int) -> int:
        """Return the earliest end of a transfer that is planned now, without moving others."""
        seconds = self.options.seconds(image, hosts)
        if seconds not in self._soonest_ends:
            self._soonest_ends[seconds] = first_gap(self._blocks(), seconds, self.now) + seconds
        return self._soonest_ends[seconds]

    @cached_property
    def _soonest_ends(self) -> dict[int, int]:
        """Cache of ``soonest_end`` by duration; leases of a queue mostly need the same."""
        return {}

    @cached_property
    def _arrivals(self) -> dict[str, int]:
        """Lease id -> when the last transfer that it waits for ends."""
        found: dict[str, int] = {}
        for transfer in self.transfers:
            for user in transfer.users:
                found[user.lease_id] = max(transfer.end, found.get(user.lease_id, transfer.end))
        return found

    @cached_property
    def ends(self) -> Mapping[DiskImage, tuple[int, ...]]:
        """Image -> ends of its transfers, for images that have any."""
        found: dict[DiskImage, tuple[int, ...]] = {}
        for transfer in self.transfers:
            found[transfer.image] = (*found.get(transfer.image, ()), transfer.end)
        return found

    def can_be_there(self, image: DiskImage, hosts: int, due: int) -> bool:
        """Return whether a transfer can be over by an instant, possibly by moving others."""
        return self._late_start(self.options.seconds(image, hosts), due) is not None

    def _blocks(self) -> list[Block]:
        # A transfer that is overdue still occupies the channel; how long is unknown, so assume one more second.
        return [(transfer.start, max(transfer.end, self.now + 1)) for transfer in self.transfers]

    def _movable(self) -> list[Transfer]:
        return [
            transfer
            for transfer in self.transfers
            if not transfer.is_fixed and not transfer.has_begun and transfer.start > self.now
        ]

    def _late_start(self, seconds: int, due: int) -> tuple[int, dict[int, int]] | None:
        """Return the latest start of a new transfer and new starts of others by number, or None if it would be late."""
        movable = self._movable()
        numbers = {transfer.number for transfer in movable}
        fixed = [
            block
            for block, transfer in zip(self._blocks(), self.transfers, strict=True)
            if transfer.number not in numbers
        ]
        jobs = [Job(transfer.seconds, transfer.due) for transfer in movable]
        starts = as_late_as_possible([*jobs, Job(seconds, due)], fixed, self.now)
        if starts is not None:
            moved = {transfer.number: start for transfer, start in zip(movable, starts[:-1], strict=True)}
            return starts[-1], moved
        # With fixed transfers, earliest due date first may fail although there is a gap.
        start = latest_gap(self._blocks(), seconds, self.now, due)
        return None if start is None else (start, {})

    # -- leases get hosts and give them up ---------------------------------------------------------------

    def provided(
        self,
        lease_id: str,
        image: DiskImage,
        needs: Mapping[int, int],
        until: int,
        *,
        is_flexible: bool,
        may_be_late: bool,
    ) -> ImagePlan:
        """Return the plan with the image transferred to where a lease needs it (haizea F60, F65, F66).

        :param needs: host number -> when the image must be there
        :param until: when the lease's run is planned to end
        :param is_flexible: whether its own transfer goes as late as possible and may move, as for leases with a start;
            otherwise it takes the first gap, and the lease may join the multicast of another one
        :param may_be_late: whether to plan the transfer even if the image cannot be there in time
        :raises NotInTimeError: the image cannot be there in time
        """
        here = self.hosts_with(image, lease_id) & needs.keys()
        missing = {host: due for host, due in needs.items() if host not in here}
        joined, missing = self._joined(lease_id, image, missing, until, is_flexible=is_flexible)
        shared = len(needs) - len(here) - len(missing)
        own = joined._transferring(lease_id, image, missing, until, is_flexible, may_be_late) if missing else joined
        in_pool = here & self.holding.get(image.image_id, _NOWHERE)
        pools = {**own.pools, **{h: with_user(own.pools[h], image.image_id, lease_id, until) for h in in_pool}}
        return replace(
            own,
            pools=pools if in_pool else own.pools,
            claims={**own.claims, lease_id: own.claims.get(lease_id, _NOWHERE) | needs.keys()},
            reused=counted(own.reused, lease_id, len(in_pool)),
            shared=counted(own.shared, lease_id, shared),
        )

    def _joined(
        self, lease_id: str, image: DiskImage, missing: Mapping[int, int], until: int, *, is_flexible: bool
    ) -> tuple[ImagePlan, dict[int, int]]:
        """Add the lease to transfers that are planned anyway; return also the hosts that these do not serve."""
        left = dict(missing)
        if not left or not self.options.avoid_redundant:
            return self, left
        transfers = list(self.transfers)
        for index, transfer in enumerate(transfers):
            if transfer.image != image:
                continue
            # Adding hosts to a multicast that has not begun costs nothing.
            any_host = not is_flexible and not transfer.has_begun and self.options.mechanism is Mechanism.MULTICAST
            served = {
                host: due for host, due in left.items() if transfer.end <= due and (any_host or host in transfer.hosts)
            }
            if served:
                user = TransferUser(lease_id, frozenset(served), min(served.values()), until)
                hosts = transfer.hosts | served.keys()
                transfers[index] = replace(transfer, users=(*transfer.users, user), hosts=hosts)
                left = {host: due for host, due in left.items() if host not in served}
        return (self if len(left) == len(missing) else replace(self, transfers=tuple(transfers))), left

    def _transferring(
        self,
        lease_id: str,
        image: DiskImage,
        missing: Mapping[int, int],
        until: int,
        is_flexible: bool,
        may_be_late: bool,
    ) -> ImagePlan:
        """Return the plan with a new transfer to the hosts that no other transfer serves."""
        seconds = self.options.seconds(image, len(missing))
        due = min(missing.values())
        moved: dict[int, int] = {}
        late = self._late_start(seconds, due) if is_flexible else None
        if late is not None:
            start, moved = late
        else:
            start = first_gap(self._blocks(), seconds, self.now)
            if start + seconds > due and not may_be_late:
                raise NotInTimeError(f"the disk image of lease {lease_id} cannot be on its hosts when it starts")
        hosts = frozenset(missing)
        own = Transfer(
            self.next_number,
            image,
            start,
            start + seconds,
            (TransferUser(lease_id, hosts, due, until),),
            hosts,
            is_fixed=late is None,
        )
        others = (
            replace(t, start=moved[t.number], end=moved[t.number] + t.seconds) if t.number in moved else t
            for t in self.transfers
        )
        return replace(self, transfers=in_order((*others, own)), next_number=self.next_number + 1)

    def released(self, lease_id: str, hosts: Iterable[int], *, keep_copies: bool = False) -> ImagePlan:
        """Return the plan when a lease no longer needs its image on some hosts. Images in pools stay there.

        :param keep_copies: whether copies for this lease alone stay, because it may return
        """
        given_up = frozenset(hosts)
        pools = dict(self.pools)
        for host in given_up & pools.keys():
            pools[host] = without_user(pools[host], lease_id)
        transfers = []
        for transfer in self.transfers:
            if transfer.users and not any(user.lease_id == lease_id for user in transfer.users):
                transfers.append(transfer)
                continue
            users = tuple(
                left for user in transfer.users if (left := without_hosts(user, lease_id, given_up)) is not None
            )
            if transfer.has_begun:
                # A transfer that has begun is not stopped; its image is kept if it fits into the pool.
                transfers.append(replace(transfer, users=users))
            elif users:
                needed = frozenset().union(*(user.hosts for user in users))
                transfers.append(replace(transfer, users=users, hosts=needed))
        copies = self.copies
        if not keep_copies:
            copies = with_hosts(copies, lease_id, copies.get(lease_id, _NOWHERE) - given_up)
        left_over = self.claims.get(lease_id, _NOWHERE) - given_up
        gone = () if left_over else (lease_id,)
        return replace(
            self,
            pools=pools,
            transfers=tuple(transfers),
            copies=copies,
            claims=with_hosts(self.claims, lease_id, left_over),
            reused=without(self.reused, gone),
            shared=without(self.shared, gone),
        )

    def forgotten(self, lease_id: str) -> ImagePlan:
        """Return the plan without a lease that has ended."""
        everywhere = self.claims.get(lease_id, _NOWHERE) | self.copies.get(lease_id, _NOWHERE)
        return self.released(lease_id, everywhere) if everywhere else self

    def copied(self, lease_id: str, hosts: Iterable[int]) -> ImagePlan:
        """Return the plan with disks of a lease on the hosts to which its nodes have moved."""
        there = frozenset(hosts)
        return replace(
            self,
            copies=with_hosts(self.copies, lease_id, self.copies.get(lease_id, _NOWHERE) | there),
            claims=with_hosts(self.claims, lease_id, self.claims.get(lease_id, _NOWHERE) | there),
        )

    def without_other_copies(self, lease_id: str, hosts: Iterable[int]) -> ImagePlan:
        """Return the plan without the copies of a lease on hosts other than these."""
        had = self.copies.get(lease_id, _NOWHERE)
        kept = had & frozenset(hosts)
        return self if kept == had else replace(self, copies=with_hosts(self.copies, lease_id, kept))

    # -- what happens ------------------------------------------------------------------------------------

    def at(self, now: int) -> ImagePlan:
        """Return the plan at a later instant."""
        return replace(self, now=now) if now > self.now else self

    def begun(self, number: int, now: int) -> ImagePlan:
        """Return the plan when a transfer has begun, possibly later than planned."""
        transfers = (
            replace(t, start=now, end=now + t.seconds, has_begun=True) if t.number == number else t
            for t in self.transfers
        )
        return replace(self, transfers=in_order(transfers))

    def failed(self, number: int) -> ImagePlan:
        """Return the plan without a transfer that failed. The caller has to provide for its users again."""
        lost = self.transfer(number)
        if lost is None:
            return self
        claims = self.claims
        for user in lost.users:
            claims = with_hosts(claims, user.lease_id, claims.get(user.lease_id, _NOWHERE) - user.hosts)
        return replace(self, transfers=tuple(t for t in self.transfers if t is not lost), claims=claims)

    def ended(self, number: int) -> ImagePlan:
        """Return the plan when a transfer has ended and its image is on its hosts (algorithm 6).

        If the image does not fit into the pool of a host, the host has it only for the leases that wait for it.
        """
        done = self.transfer(number)
        if done is None:
            return self
        pools, copies, holding = dict(self.pools), dict(self.copies), dict(self.holding)
        evicted = 0
        image = done.image
        for host in sorted(done.hosts):
            users = [user for user in done.users if host in user.hosts]
            ids = frozenset(user.lease_id for user in users)
            until = max((user.until for user in users), default=self.now)
            kept = None
            if self.options.reuse is Reuse.IMAGE_CACHES:
                kept = with_image(pools.get(host, ()), image, ids, until, self.options.cache_size_mb)
            if kept is None:
                for lease_id in ids:
                    copies[lease_id] = copies.get(lease_id, _NOWHERE) | {host}
                continue
            for entry in pools.get(host, ()):
                if pooled(kept[0], entry.image.image_id) is None:
                    holding[entry.image.image_id] -= {host}
            pools[host] = kept[0]
            holding[image.image_id] = holding.get(image.image_id, _NOWHERE) | {host}
            evicted += kept[1]
        return replace(
            self,
            transfers=tuple(t for t in self.transfers if t is not done),
            pools=pools,
            copies=copies,
            holding=holding,
            evicted=self.evicted + evicted,
        )

    def host_lost(self, host: int) -> ImagePlan:
        """Return the plan without all images of a host."""
        pools = dict(self.pools)
        users = {user for entry in pools.pop(host, ()) for user in entry.users}
        users |= {lease_id for lease_id, hosts in self.copies.items() if host in hosts}
        copies, claims = self.copies, self.claims
        for lease_id in sorted(users):
            copies = with_hosts(copies, lease_id, copies.get(lease_id, _NOWHERE) - {host})
            claims = with_hosts(claims, lease_id, claims.get(lease_id, _NOWHERE) - {host})
        holding = {image_id: hosts - {host} for image_id, hosts in self.holding.items()}
        return replace(self, pools=pools, copies=copies, claims=claims, holding=holding)
