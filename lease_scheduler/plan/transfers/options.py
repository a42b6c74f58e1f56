"""Options of image transfers as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil

from lease_scheduler.model.nodes import DiskImage


class Mechanism(Enum):
    """How an image gets to several hosts: to all at once, or to one after the other (haizea F61)."""

    MULTICAST = "multicast"
    UNICAST = "unicast"


class Reuse(Enum):
    """What happens to an image that no lease needs any longer (haizea F63)."""

    NONE = "none"
    IMAGE_CACHES = "image-caches"


@dataclass(frozen=True)
class TransferOptions:
    """Options of image transfers (Sotomayor 2010, chapter 6).

    :ivar bandwidth: Mb/s of the image repository
    :ivar mechanism: whether hosts get an image at once or one after the other
    :ivar reuse: whether hosts keep images for later leases
    :ivar cache_size_mb: MB of images that a host keeps; None means no limit
    :ivar avoid_redundant: whether a lease may use a transfer that is planned for another one (haizea F65, F66)
    :ivar force_seconds: seconds that a transfer takes in place of size / bandwidth; None to compute it (haizea F67)
    :ivar keep_replanned: whether images that were brought for a lease stay on its old hosts when it is planned again
    :ivar copy_on_write: whether servers on a host share the image, so that it is on the disk only once (haizea F68)
    :ivar required: whether a lease waits for its image. If not, booting brings missing images, and transfers ahead of
        the start only make the boot faster
    :ivar host_cache_age: if not ``required``, seconds for which a host keeps an image that is not used
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
        """Return the seconds to transfer an image to ``hosts`` hosts, rounded up."""
        once = ceil(image.size_mb / (self.bandwidth / 8)) if self.force_seconds is None else self.force_seconds
        return once * hosts if self.mechanism is Mechanism.UNICAST else once
