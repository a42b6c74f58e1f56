"""Traces of parallel jobs for clusters that share CPU (Stillwell 2010, section 5.3.2).

The jobs are those of the model of Lublin and Feitelson (JPDC 63, 2003) with batch and interactive jobs, which arrive in
streams of their own. Stillwell adds needs: nodes have four cores, a job of one task is sequential, and others use all
cores of their nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.fractional.trace import Trace
from lease_scheduler.simulation.generators.lublin import Integers, Lublin

#: Parameters of the two types of the model; the largest number of nodes is 128.
BATCH = Lublin(
    serial=0.2927,
    powers=0.6686,
    low=1.2,
    medium=5.0,
    high=7.0,
    lower_share=0.875,
    short=(6.57, 0.823),
    long=(639.1, 0.0156),
    slope=-0.003,
    intercept=0.6986,
    gaps=(6.0415, 0.8531),
    rush=1.0519,
    day=(6.1271, 5.2740),
)
INTERACTIVE = Lublin(
    serial=0.1541,
    powers=0.625,
    low=1.0,
    medium=3.0,
    high=5.5,
    lower_share=0.705,
    short=(3.8351, 0.6605),
    long=(7.073, 0.6856),
    slope=-0.0118,
    intercept=0.9156,
    gaps=(6.5510, 0.6621),
    rush=0.9797,
    day=(8.9186, 3.6680),
)

NODES = 128
_SEQUENTIAL = 0.25
_SMALL_MEMORY = 0.55
_BUCKETS, _BUCKET, _CYCLE_START = 48, 1800.0, 11
_LONGEST_LOG_RUNTIME, _LONGEST_LOG_GAP = 12.0, 13.0


def lublin_trace(seed: int, jobs: int = 1000) -> Trace:
    """Return a trace of both types of jobs on 128 nodes, from midnight on.

    :param seed: at least 0
    :param jobs: at least 1
    :raises InvalidValueError: there are no jobs
    """
    if jobs < 1:
        raise InvalidValueError("jobs", f"must be at least 1, not {jobs}")
    arrival, nodes, runtime = [], [], []
    for model, purpose in ((BATCH, "batch"), (INTERACTIVE, "interactive")):
        arrival.append(_arrivals(model, jobs, seed, purpose))
        nodes.append(model.nodes(jobs, seed, f"lublin {purpose}"))
        runtime.append(_runtimes(model, nodes[-1], seed, purpose))
    first = np.argsort(np.concatenate(arrival), kind="stable")[:jobs]
    tasks = np.minimum(np.concatenate(nodes)[first], NODES)
    random = random_stream(seed, "lublin memory")
    tenths = np.where(random.random(jobs) < _SMALL_MEMORY, 1, random.integers(2, 11, jobs))
    return Trace(
        NODES,
        np.round(np.concatenate(arrival)[first]),
        tasks,
        np.where(tasks == 1, _SEQUENTIAL, 1.0),
        tenths / 10,
        np.maximum(1.0, np.floor(np.concatenate(runtime)[first])),
    )


@dataclass(frozen=True)
class _Day:
    """The daily cycle: the share of arrivals in each half hour, 1 on average."""

    weights: Floats

    @classmethod
    def of(cls, model: Lublin) -> _Day:
        # Imported here, because only this needs it and the import takes longer than a small run.
        from scipy import stats  # type: ignore[import-untyped]

        law = stats.gamma(model.day[0], scale=model.day[1])
        middle = np.arange(_CYCLE_START, _CYCLE_START + _BUCKETS)
        weights = np.roll(law.cdf(middle + 0.5) - law.cdf(middle - 0.5), _CYCLE_START - 1)
        return cls(weights / weights.mean())


def _arrivals(model: Lublin, count: int, seed: int, purpose: str) -> Floats:
    """Return when jobs arrive: gaps are in units of a half hour's share of arrivals."""
    random = random_stream(seed, f"lublin {purpose} arrivals")
    logarithm = np.full(count, np.inf)
    while (redrawn := logarithm > _LONGEST_LOG_GAP).any():
        logarithm[redrawn] = random.gamma(model.gaps[0] * model.rush, model.gaps[1], int(redrawn.sum()))
    points = np.cumsum(np.exp(logarithm) / _BUCKET)
    weights = _Day.of(model).weights
    days = int(points[-1] // weights.sum()) + 1
    elapsed = np.concatenate([[0.0], np.cumsum(np.tile(weights, days))])
    found: Floats = np.interp(points, elapsed, np.arange(len(elapsed)) * _BUCKET)
    return found


def _runtimes(model: Lublin, nodes: Integers, seed: int, purpose: str) -> Floats:
    random = random_stream(seed, f"lublin {purpose} runtimes")
    logarithm = np.full(len(nodes), np.inf)
    share = np.clip(model.slope * nodes + model.intercept, 0, 1)
    while (redrawn := logarithm > _LONGEST_LOG_RUNTIME).any():
        count = int(redrawn.sum())
        is_short = random.random(count) <= share[redrawn]
        logarithm[redrawn] = np.where(is_short, random.gamma(*model.short, count), random.gamma(*model.long, count))
    found: Floats = np.exp(logarithm)
    return found
