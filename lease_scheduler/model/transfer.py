"""Transfers of disk images from the image repository to hosts (haizea F60; Sotomayor 2010, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.nodes import DiskImage


@dataclass(frozen=True, slots=True)
class TransferUser:
    """A lease that waits for a transfer.

    :ivar lease_id: the lease
    :ivar hosts: hosts on which it needs the image
    :ivar due: instant at which its nodes start; the image must be on the hosts by then
    :ivar until: planned end of its run
    """

    lease_id: str
    hosts: frozenset[int]
    due: int
    until: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of an image to hosts; it occupies the repository's channel in ``[start, end)``.

    :ivar number: unique number, ascending in the order of planning
    :ivar image: the image
    :ivar start: first second
    :ivar end: first second after the transfer; from then on the image is on the hosts
    :ivar users: leases that need it; empty if all of them gave it up while it was in progress
    :ivar hosts: hosts that get the image
    :ivar is_fixed: whether its time is fixed; else it may be moved as long as it ends before it is due
    :ivar has_begun: whether it is in progress
    """

    number: int
    image: DiskImage
    start: int
    end: int
    users: tuple[TransferUser, ...]
    hosts: frozenset[int]
    is_fixed: bool = False
    has_begun: bool = False

    @property
    def seconds(self) -> int:
        """Duration in seconds."""
        return self.end - self.start

    @property
    def due(self) -> int:
        """Instant at which the first of its users starts."""
        return min(user.due for user in self.users)
