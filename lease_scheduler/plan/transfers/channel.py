"""When the repository's channel is free: one transfer at a time (haizea F62; Sotomayor 2010, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: An interval ``[start, end)`` in which the channel is taken.
Block = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A transfer that may move.

    :ivar seconds: how long it takes
    :ivar due: when it must be over
    """

    seconds: int
    due: int


def first_gap(blocks: Iterable[Block], seconds: int, since: int) -> int:
    """The earliest instant from ``since`` on from which the channel is free for so many seconds."""
    start = since
    for block_start, block_end in sorted(blocks):
        if block_start - start >= seconds:
            break
        start = max(start, block_end)
    return start


def latest_gap(blocks: Iterable[Block], seconds: int, since: int, due: int) -> int | None:
    """The latest instant from which the channel is free for so many seconds that are over by ``due``.

    :return: none if there is no such one from ``since`` on
    """
    start = due - seconds
    for block_start, block_end in sorted(blocks, key=lambda block: block[1], reverse=True):
        if block_end <= start:
            break
        if block_start < start + seconds:
            start = min(start, block_start - seconds)
    return start if start >= since else None


def as_late_as_possible(jobs: Sequence[Job], fixed: Sequence[Block], since: int) -> list[int] | None:
    """Starts for all jobs, the one that is due last at the end, each as late as those behind it allow.

    Earliest due date first, pushed to the right; with an empty channel a transfer ends exactly when it is due. Of jobs
    that are due at the same time the one that comes later in the sequence goes last.

    :param fixed: where the channel is taken by what does not move
    :return: in the order of the jobs, none if one would have to begin before ``since``
    """
    order = sorted(range(len(jobs)), key=lambda index: jobs[index].due)
    starts = [0] * len(jobs)
    following: int | None = None
    for index in reversed(order):
        job = jobs[index]
        end = job.due if following is None else min(job.due, following)
        start = latest_gap(fixed, job.seconds, since, end)
        if start is None:
            return None
        starts[index] = following = start
    return starts
