from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.generators.typed_lublin import NODES, lublin_trace

_DATA = os.environ.get("LEASE_SCHEDULER_DATA")


def test_a_seed_determines_a_trace() -> None:
    one, same, other = (lublin_trace(seed, 50) for seed in (7, 7, 8))
    for field in ("release", "tasks", "cpu", "memory", "processing"):
        assert (getattr(one, field) == getattr(same, field)).all()
    assert (one.release != other.release).any()


def test_needs_are_those_of_the_dissertation() -> None:
    """dfrs F55: a job of one task has one core of four; 55 % of the jobs have 10 % of memory, others up to 100 %."""
    traces = [lublin_trace(seed) for seed in range(10)]
    tasks, cpu, memory = (
        np.concatenate([getattr(each, field) for each in traces]) for field in ("tasks", "cpu", "memory")
    )
    assert (cpu == np.where(tasks == 1, 0.25, 1)).all()
    assert tasks.min() >= 1 and tasks.max() == NODES
    assert sorted(set(memory)) == pytest.approx(np.arange(1, 11) / 10)
    assert (memory == 0.1).mean() == pytest.approx(0.55, abs=0.02)
    assert (memory == 1.0).mean() == pytest.approx(0.05, abs=0.01)
    assert all((np.diff(each.release) >= 0).all() and (each.processing >= 1).all() for each in traces)


def test_traces_are_those_of_the_published_model() -> None:
    """dfrs F55: 6.1 days, 1,777 s, 8.9 nodes and a load of 0.44 on average, by the program of the model's authors."""
    days, runtime, nodes, load = [], [], [], []
    for seed in range(200):
        trace = lublin_trace(seed)
        span = trace.release[-1] - trace.release[0]
        days.append(span / 86_400)
        runtime.append(trace.processing.mean())
        nodes.append(trace.tasks.mean())
        load.append((trace.processing * trace.tasks * trace.cpu).sum() / NODES / span)
    assert np.mean(days) == pytest.approx(6.1, abs=0.4)
    assert np.mean(runtime) == pytest.approx(1777, abs=150)
    assert np.mean(nodes) == pytest.approx(8.9, abs=0.2)
    assert np.mean(load) == pytest.approx(0.44, abs=0.05)


@pytest.mark.skipif(not _DATA, reason="needs LEASE_SCHEDULER_DATA")
def test_sizes_and_run_times_are_those_of_the_authors_program() -> None:
    """dfrs F55: quantiles of 40,000 jobs by their program and by ours."""
    with gzip.open(Path(_DATA or "") / "lublin" / "lublin99-both-40x1000.swf.gz", "rt") as file:
        jobs = np.array([line.split() for line in file if not line.startswith(";")], float)
    runtime, nodes = jobs[:, 3], jobs[:, 4]
    ours = [lublin_trace(seed) for seed in range(40)]
    our_runtime = np.concatenate([each.processing for each in ours])
    our_nodes = np.concatenate([each.tasks for each in ours])
    for size in (1, 2, 4, 8, 16, 32):
        assert (our_nodes == size).mean() == pytest.approx((nodes == size).mean(), abs=0.01)
    # Higher ones depend on how many jobs of a run are batch jobs, which varies much.
    for percent in (25, 50, 75):
        assert np.percentile(our_runtime, percent) == pytest.approx(np.percentile(runtime, percent), rel=0.2, abs=1)


def test_a_trace_without_jobs_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="jobs: must be at least 1, not 0"):
        lublin_trace(0, 0)
