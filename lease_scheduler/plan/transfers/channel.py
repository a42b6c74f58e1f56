"""The repository's channel, which carries one transfer at a time (haizea F62; Sotomayor 2010, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: An interval ``[start, end)`` in which the channel is in use.
Block = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A transfer whose time is not fixed.

    :ivar seconds: its duration
    :ivar due: instant by which it must be over
    """

    seconds: int
    due: int


def first_gap(blocks: Iterable[Block], seconds: int, since: int) -> int:
    """Return the earliest instant from ``since`` on from which the channel is free for ``seconds``."""
    start = since
    for block_start, block_end in sorted(blocks):
        if block_start - start >= seconds:
            break
        start = max(start, block_end)
    return start


def latest_gap(blocks: Iterable[Block], seconds: int, since: int, due: int) -> int | None:
    """Return the latest instant, not before ``since``, from which the channel is free for ``seconds``, or None.

    The seconds are over by ``due``.
    """
    start = due - seconds
    for block_start, block_end in sorted(blocks, key=lambda block: block[1], reverse=True):
        if block_end <= start:
            break
        if block_start < start + seconds:
            start = min(start, block_start - seconds)
    return start if start >= since else None


def as_late_as_possible(jobs: Sequence[Job], fixed: Sequence[Block], since: int) -> list[int] | None:
    """Return starts for all jobs, in the order of their due dates and each as late as possible, or None.

    This is earliest due date first, pushed to the right: with an empty channel a transfer ends exactly when it is due.
    Jobs with the same due date keep their order in the sequence.

    :param fixed: intervals in which the channel is in use by transfers with a fixed time
    :return: starts in the order of ``jobs``; None if one would have to begin before ``since``
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
