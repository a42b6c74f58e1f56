"""When the repository's channel is free (haizea F62)."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.plan.transfers.channel import Job, as_late_as_possible, first_gap, latest_gap

_BLOCKS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda b: (b[0], b[0] + b[1])), max_size=5)


def _is_free(blocks: list[tuple[int, int]], start: int, seconds: int) -> bool:
    return all(start + seconds <= block_start or block_end <= start for block_start, block_end in blocks)


def test_the_first_gap_is_long_enough() -> None:
    blocks = [(20, 30), (5, 10), (34, 40)]

    assert first_gap(blocks, 5, 0) == 0
    assert first_gap(blocks, 6, 0) == 10
    assert first_gap(blocks, 11, 0) == 40
    assert first_gap(blocks, 4, 12) == 12
    assert first_gap(blocks, 4, 25) == 30
    assert first_gap([], 4, 25) == 25


def test_the_latest_gap_ends_in_time() -> None:
    blocks = [(20, 30), (5, 10), (34, 40)]

    assert latest_gap(blocks, 4, 0, 50) == 46
    assert latest_gap(blocks, 4, 0, 41) == 30
    assert latest_gap(blocks, 5, 0, 41) == 15
    assert latest_gap(blocks, 11, 0, 41) is None
    assert latest_gap([], 82, 0, 900) == 818
    assert latest_gap([], 82, 819, 900) is None


@given(_BLOCKS, st.integers(0, 15), st.integers(0, 40), st.integers(0, 100))
def test_gaps_equal_those_found_second_by_second(
    blocks: list[tuple[int, int]], seconds: int, since: int, due: int
) -> None:
    """Including blocks that overlap each other, as late transfers do."""
    fitting = [start for start in range(since, 200) if _is_free(blocks, start, seconds)]

    if seconds:
        assert first_gap(blocks, seconds, since) == fitting[0]
        in_time = [start for start in fitting if start + seconds <= due]
        assert latest_gap(blocks, seconds, since, due) == (in_time[-1] if in_time else None)


def test_an_empty_channel_lets_a_transfer_end_when_it_is_due() -> None:
    assert as_late_as_possible([Job(82, 900)], [], 0) == [818]


def test_earlier_due_dates_go_first_and_are_pushed_forward() -> None:
    """haizea 4.14: a job with an earlier due date makes room for one with a later due date."""
    assert as_late_as_possible([Job(10, 100), Job(10, 105), Job(10, 300)], [], 0) == [85, 95, 290]
    assert as_late_as_possible([Job(10, 100), Job(10, 100)], [], 0) == [80, 90]
    assert as_late_as_possible([Job(10, 100)], [(92, 120)], 0) == [82]
    assert as_late_as_possible([Job(10, 20), Job(11, 20)], [], 0) is None


_JOBS = st.lists(st.builds(Job, st.integers(1, 12), st.integers(5, 60)), min_size=1, max_size=4)


@given(_JOBS, _BLOCKS)
def test_transfers_never_overlap_and_are_in_time(jobs: list[Job], blocks: list[tuple[int, int]]) -> None:
    starts = as_late_as_possible(jobs, blocks, 0)

    if starts is None:
        return
    taken = list(blocks)
    for job, start in zip(jobs, starts, strict=True):
        assert start >= 0
        assert start + job.seconds <= job.due
        assert _is_free(taken, start, job.seconds)
        taken.append((start, start + job.seconds))


@given(_JOBS)
def test_without_fixed_transfers_a_schedule_is_found_if_there_is_one(jobs: list[Job]) -> None:
    """Earliest due date first is optimal on one channel."""

    def in_this_order(order: tuple[Job, ...]) -> bool:
        over = 0
        for job in order:
            over += job.seconds
            if over > job.due:
                return False
        return True

    possible = any(in_this_order(order) for order in permutations(jobs))

    assert (as_late_as_possible(jobs, [], 0) is not None) == possible
