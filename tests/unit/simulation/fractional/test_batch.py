from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.fractional.batch import Backfilling, run_batch
from lease_scheduler.simulation.fractional.trace import Trace


def _trace(nodes: int, *rows: tuple[float, int, float]) -> Trace:
    """Jobs of (release, tasks, processing)."""
    release, tasks, processing = (np.array(column) for column in zip(*rows, strict=True))
    return Trace(nodes, release, tasks, np.full(len(rows), 0.25), np.full(len(rows), 0.1), processing)


def test_fcfs_lets_later_jobs_wait_for_earlier_ones() -> None:
    """dfrs F53, A27: job 2 waits for job 1, though a node is free, and each task has a node for itself."""
    trace = _trace(2, (0, 1, 100), (10, 2, 50), (20, 1, 30))
    assert run_batch(trace, Backfilling.NONE).ends.tolist() == [100, 150, 180]


def test_jobs_that_end_in_time_are_backfilled() -> None:
    """dfrs F53, A28: job 1 has to wait until 100. Job 2 ends before, job 3 would not. The defect misses job 2."""
    trace = _trace(2, (0, 1, 100), (10, 2, 50), (20, 1, 80), (30, 1, 100))
    assert run_batch(trace, Backfilling.EASY).ends.tolist() == [100, 150, 100, 250]
    assert run_batch(trace, Backfilling.LEGACY_EASY).ends.tolist() == [100, 150, 230, 250]


def test_jobs_on_spare_nodes_are_backfilled() -> None:
    """dfrs F53, A28: at 100 job 1 takes two of four nodes, so that two others are spare; job 4 is one too many."""
    trace = _trace(4, (0, 3, 100), (10, 2, 50), (20, 1, 500), (25, 1, 500), (26, 1, 500))
    for backfilling in (Backfilling.EASY, Backfilling.LEGACY_EASY):
        assert run_batch(trace, backfilling).ends.tolist() == [100, 150, 520, 600, 650]
    assert run_batch(trace, Backfilling.NONE).ends.tolist() == [100, 150, 600, 600, 650]


def test_a_spare_node_is_given_to_one_job_only() -> None:
    """dfrs A28: of three nodes, job 1 needs two at 100; the third one is for job 2, not also for job 3."""
    trace = _trace(3, (0, 1, 100), (0, 3, 1), (5, 1, 500), (5, 1, 500))
    assert run_batch(trace, Backfilling.EASY).ends.tolist() == [100, 101, 601, 601]
    trace = _trace(3, (0, 1, 100), (0, 2, 10), (5, 3, 50), (5, 1, 500))
    assert run_batch(trace, Backfilling.EASY).ends.tolist() == [100, 10, 150, 650]


def test_under_fcfs_a_short_job_has_the_largest_stretch() -> None:
    """dfrs A26, E14: on one node FCFS is Delta-competitive: a job of 10 s behind one of 1,000."""
    trace = _trace(1, (0, 1, 1000), (1, 1, 10))
    schedule = run_batch(trace, Backfilling.NONE)
    assert trace.stretches(schedule.ends).max() == pytest.approx(100.9)


def test_jobs_wider_than_the_cluster_are_refused() -> None:
    """Two tasks fit on one node by sharing, but not with a node for each."""
    with pytest.raises(InvalidValueError, match=r"tasks\[1\]: must be at most the number of nodes \(1\)"):
        run_batch(_trace(1, (0, 1, 10), (0, 2, 10)), Backfilling.NONE)
