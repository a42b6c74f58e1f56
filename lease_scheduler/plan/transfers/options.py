"""What an operator sets about image transfers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil

from lease_scheduler.model.lease import DiskImage


class Mechanism(Enum):
    """How an image gets to several hosts: to all at once, or to one after the other (haizea F61)."""

    MULTICAST = "multicast"
    UNICAST = "unicast"


class Reuse(Enum):
    """What happens to an image when nobody needs it any more (haizea F63)."""

    NONE = "none"
    IMAGE_CACHES = "image-caches"


@dataclass(frozen=True)
class TransferOptions:
    """Options of image transfers (Sotomayor 2010, chapter 6).

    :ivar bandwidth: Mb/s of the image repository
    :ivar mechanism: whether hosts get an image at once or one after the other
    :ivar reuse: whether hosts keep images for later leases
    :ivar cache_size_mb: MB that a host keeps of images, none if there is no limit
    :ivar avoid_redundant: whether a lease may use a transfer that is planned for another one (haizea F65, F66)
    :ivar force_seconds: seconds that a transfer takes in place of size / bandwidth, none to compute it (haizea F67)
    :ivar keep_replanned: whether a lease that is planned again finds the images that were brought for its old place
    :ivar copy_on_write: whether VMs share the image on their host, so that it is on the disk once (haizea F68)
    :ivar required: whether a lease waits until its image is there; else its boot brings what is missing, and transfers
        only see to it that there is little to bring
    :ivar host_cache_age: if they are not required: seconds for which a host keeps an image that nobody uses
    """

    bandwidth: float = 1000.0
    mechanism: Mechanism = Mechanism.MULTICAST
    reuse: Reuse = Reuse.NONE
    cache_size_mb: int | None = None
    avoid_redundant: bool = True
    force_seconds: int | None = None
    keep_replanned: bool = True
    copy_on_write: bool = False
    required: bool = True
    host_cache_age: int = 86_400

    def seconds(self, image: DiskImage, hosts: int) -> int:
        """Seconds to bring an image to so many hosts, rounded up."""
        once = ceil(image.size_mb / (self.bandwidth / 8)) if self.force_seconds is None else self.force_seconds
        return once * hosts if self.mechanism is Mechanism.UNICAST else once
