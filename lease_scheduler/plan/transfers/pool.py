"""The images that a host keeps (haizea F63; Sotomayor 2010, section 6.2, algorithm 6)."""

from __future__ import annotations

from typing import NamedTuple

from lease_scheduler.model.lease import DiskImage


class PooledImage(NamedTuple):
    """An image that a host keeps.

    :ivar image: the image
    :ivar expires: when the last lease that was planned with it ends; it only grows
    :ivar users: ids of the leases that need it now or later; while there is one it stays
    """

    image: DiskImage
    expires: int
    users: frozenset[str]


#: What a host keeps, in the order in which it came.
Pool = tuple[PooledImage, ...]


def pooled(pool: Pool, image_id: str) -> PooledImage | None:
    """The image in a pool, none if it is not there."""
    return next((entry for entry in pool if entry.image.image_id == image_id), None)


def with_user(pool: Pool, image_id: str, lease_id: str, until: int) -> Pool:
    """The pool with one more lease that needs an image, if that is there."""
    for index, entry in enumerate(pool):
        if entry.image.image_id == image_id:
            used = PooledImage(entry.image, max(entry.expires, until), entry.users | {lease_id})
            return (*pool[:index], used, *pool[index + 1 :])
    return pool


def without_user(pool: Pool, lease_id: str) -> Pool:
    """The pool without a lease, which needs one image at most; the image stays."""
    for index, entry in enumerate(pool):
        if lease_id in entry.users:
            left = PooledImage(entry.image, entry.expires, entry.users - {lease_id})
            return (*pool[:index], left, *pool[index + 1 :])
    return pool


def with_image(
    pool: Pool, image: DiskImage, users: frozenset[str], until: int, limit_mb: int | None
) -> tuple[Pool, int] | None:
    """The pool with an image that has arrived.

    Images that nobody needs make room for it, the one that expires first before the others. Unlike in the author's
    programs of 2010 the pool is within its limit with the new image, not just without it.

    :param limit_mb: MB that the pool may hold, none if as much as comes
    :return: the pool and how many images were evicted; none if there is no room for the image
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
