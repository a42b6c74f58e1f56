"""The weeks of a log as traces for clusters that share CPU (Stillwell 2010, section 5.3.2).

The log is that of HPC2N: 120 nodes of two processors and 2 GB. It does not say how much CPU jobs need. Stillwell takes
jobs with an even number of processors and less than half of a node's memory for each to have a task on each node.
"""

from __future__ import annotations

import os

import numpy as np

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.swf import read_numbers
from lease_scheduler.simulation.fractional.trace import Trace

NODES = 120
_WEEK = 7 * 86_400
_NODE_KB = 2 * 1024 * 1024
_SMALLEST_MEMORY = 0.1
_HALF = 0.5


def log_weeks(path: str | os.PathLike[str]) -> list[Trace]:
    """Return a trace for each calendar week since the zero of the log. Jobs are those that are submitted in the week.

    Jobs that did not run, or are wider than the cluster, are left out.

    :param path: SWF log, plain or gzip
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    rows = np.array([values for _, values in read_numbers(path)])
    if not len(rows):
        raise InputFileError(os.fspath(path), None, "has no jobs")
    number, submitted, runtime = rows[:, 0], rows[:, 1], rows[:, 3]
    # Those that the job ran on; if they are unknown, those that it asked for.
    processors = np.where(rows[:, 4] > 0, rows[:, 4], rows[:, 7])
    # Used and requested memory are in KB for each processor, -1 if unknown.
    memory = np.clip(np.maximum(rows[:, 6], rows[:, 9]) / _NODE_KB, _SMALLEST_MEMORY, 1)
    has_whole_nodes = (processors % 2 == 0) & (memory < _HALF)
    tasks = np.where(has_whole_nodes, processors / 2, processors)
    cpu = np.where(has_whole_nodes, 1.0, _HALF)
    memory = np.where(has_whole_nodes, 2 * memory, memory)
    fits = (runtime > 0) & (tasks >= 1) & (tasks <= NODES)
    order = np.lexsort((number, submitted))
    order = order[fits[order]]
    weeks = submitted[order] // _WEEK
    return [
        Trace(
            NODES,
            submitted[chosen] - week * _WEEK,
            tasks[chosen].astype(np.int64),
            cpu[chosen],
            memory[chosen],
            runtime[chosen],
        )
        for week in np.unique(weeks)
        for chosen in (order[weeks == week],)
    ]
