"""Disk images on their way from the image repository to hosts (haizea F60; Sotomayor 2010, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import DiskImage


@dataclass(frozen=True, slots=True)
class TransferUser:
    """A lease that waits for a transfer.

    :ivar lease_id: the lease
    :ivar hosts: where it needs the image
    :ivar due: when its VMs start, in seconds; the image must be there by then
    :ivar until: when its run is planned to end
    """

    lease_id: str
    hosts: frozenset[int]
    due: int
    until: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """The repository's channel is taken in ``[start, end)`` to bring an image to hosts.

    :ivar number: tells it from all others, ascending in the order in which they were planned
    :ivar image: what is brought
    :ivar start: first second
    :ivar end: first second after; the image is on the hosts then
    :ivar users: the leases that need it; none is left if they went away while it goes on
    :ivar hosts: the hosts that get it
    :ivar is_fixed: whether it stays where it is; else it may move as long as it ends before it is due
    :ivar has_begun: whether it is going on
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
        """How long it takes."""
        return self.end - self.start

    @property
    def due(self) -> int:
        """When the first of its users starts."""
        return min(user.due for user in self.users)
