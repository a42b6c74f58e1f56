"""Image pools: the images that a host keeps (haizea F63; Sotomayor 2010, section 6.2, algorithm 6)."""

from __future__ import annotations

from typing import NamedTuple

from lease_scheduler.model.nodes import DiskImage


class PooledImage(NamedTuple):
    """An image that a host keeps.

    :ivar image: the image
    :ivar expires: when the last lease that was planned with it ends; it never decreases
    :ivar users: ids of the leases that need it now or later; the image stays while there is one
    """

    image: DiskImage
    expires: int
    users: frozenset[str]


#: The images of a host in the order of their arrival.
Pool = tuple[PooledImage, ...]


def pooled(pool: Pool, image_id: str) -> PooledImage | None:
    """Return the image in a pool, or None."""
    return next((entry for entry in pool if entry.image.image_id == image_id), None)


def with_user(pool: Pool, image_id: str, lease_id: str, until: int) -> Pool:
    """Return the pool with one more user of an image, if it has the image."""
    for index, entry in enumerate(pool):
        if entry.image.image_id == image_id:
            used = PooledImage(entry.image, max(entry.expires, until), entry.users | {lease_id})
            return (*pool[:index], used, *pool[index + 1 :])
    return pool


def without_user(pool: Pool, lease_id: str) -> Pool:
    """Return the pool without a user. The image stays. A lease needs at most one image of a pool."""
    for index, entry in enumerate(pool):
        if lease_id in entry.users:
            left = PooledImage(entry.image, entry.expires, entry.users - {lease_id})
            return (*pool[:index], left, *pool[index + 1 :])
    return pool


def with_image(
    pool: Pool, image: DiskImage, users: frozenset[str], until: int, limit_mb: int | None
) -> tuple[Pool, int] | None:
    """Return the pool with an image that has arrived and the number of images evicted for it, or None.

    Images without users are evicted as needed, those that expire first before the others. Unlike in the author's
    programs of 2010, the limit includes the new image.

    :param limit_mb: maximum MB in the pool; None means no limit
    :return: None if the image does not fit
    """
    known = pooled(pool, image.image_id)
    if known is not None:
        newer = PooledImage(image, max(known.expires, until), known.users | users)
        return tuple(newer if entry is known else entry for entry in pool), 0
    left = list(pool)
    evicted = 0
    if limit_mb is not None:
        excess = sum(entry.image.size_mb for entry in pool) + image.size_mb - limit_mb
        idle = sorted((entry for entry in pool if not entry.users), key=lambda entry: entry.expires)
        if excess > sum(entry.image.size_mb for entry in idle):
            return None
        for entry in idle:
            if excess <= 0:
                break
            left.remove(entry)
            excess -= entry.image.size_mb
            evicted += 1
    return (*left, PooledImage(image, until, users)), evicted
