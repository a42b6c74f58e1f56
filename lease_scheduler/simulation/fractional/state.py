"""The state of a cluster on which jobs share CPU, in arrays for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import Jobs, by_priority

#: Places in ``State.counts``: the next job to be submitted, the number of jobs in the system, that of the next period.
UPCOMING, PRESENT, CYCLE = range(3)
#: Places in ``State.totals``; see ``Schedule``.
RESUMED, MOVED, RESUMED_MEMORY, MOVED_MEMORY = range(4)


class Facts(NamedTuple):
    """The trace; see there."""

    nodes: int
    release: Floats
    processing: Floats
    jobs: Jobs


class Rules(NamedTuple):
    """The algorithm, as numbers.

    :ivar keep_flow: running jobs with less flow time keep their nodes
    :ivar keep_virtual: running jobs with less virtual time keep their nodes
    """

    submission: int
    opportunistic: bool
    is_periodic: bool
    is_stretch: bool
    keep_flow: float
    keep_virtual: float
    penalty: float
    period: float
    literal: bool


class State(NamedTuple):
    """The state of a run; arrays by job unless said otherwise.

    :ivar now: a single number
    :ivar counts: see ``UPCOMING``
    :ivar totals: see ``RESUMED``
    :ivar present: jobs in the system in the order of submission, at the beginning of the array
    :ivar place: node of each task of running jobs
    :ivar last_place: the same at the beginning of the instant, for jobs that have been taken from their nodes since
    :ivar was_running: whether the job ran at the beginning of the instant
    :ivar is_placed: whether the job was given nodes since then
    :ivar is_marked: whether the job was paused for another one at this instant
    :ivar held_up_until: when the penalty ends
    :ivar aim: yield that mapping by stretch aims at
    :ivar load: sum of CPU needs on each node
    :ivar held: memory in use on each node
    """

    now: Floats
    counts: Integers
    totals: Floats
    present: Integers
    place: Integers
    last_place: Integers
    is_running: NDArray[np.bool_]
    was_running: NDArray[np.bool_]
    is_placed: NDArray[np.bool_]
    is_marked: NDArray[np.bool_]
    has_started: NDArray[np.bool_]
    virtual: Floats
    yields: Floats
    held_up_until: Floats
    ends: Floats
    aim: Floats
    load: Floats
    held: Floats


def begin_state(facts: Facts) -> State:
    """Return the state before anything is submitted."""
    jobs, tasks = len(facts.release), int(facts.jobs.first[-1])
    return State(
        now=np.zeros(1),
        counts=np.zeros(3, np.int64),
        totals=np.zeros(4),
        present=np.zeros(jobs, np.int64),
        place=np.zeros(tasks, np.int64),
        last_place=np.zeros(tasks, np.int64),
        is_running=np.zeros(jobs, np.bool_),
        was_running=np.zeros(jobs, np.bool_),
        is_placed=np.zeros(jobs, np.bool_),
        is_marked=np.zeros(jobs, np.bool_),
        has_started=np.zeros(jobs, np.bool_),
        virtual=np.zeros(jobs),
        yields=np.zeros(jobs),
        held_up_until=np.zeros(jobs),
        ends=np.zeros(jobs),
        aim=np.zeros(jobs),
        load=np.zeros(facts.nodes),
        held=np.zeros(facts.nodes),
    )


@compiled
def running_jobs(state: State) -> Integers:
    """Return running jobs in the order of submission."""
    present = state.present[: state.counts[PRESENT]]
    return present[state.is_running[present]]


@compiled
def ordered(facts: Facts, state: State, numbers: Integers) -> Integers:
    """Return jobs by decreasing priority."""
    return by_priority(numbers, state.now[0] - facts.release[numbers], state.virtual[numbers])


@compiled
def put(facts: Facts, state: State, job: int, nodes: Integers) -> None:
    """Let a job have these sorted nodes."""
    state.is_running[job] = True
    state.is_placed[job] = True
    state.place[facts.jobs.first[job] : facts.jobs.first[job + 1]] = nodes
    cpu, memory, load, held = facts.jobs.cpu[job], facts.jobs.memory[job], state.load, state.held
    for node in nodes:
        load[node] += cpu
        held[node] += memory


@compiled
def take(facts: Facts, state: State, job: int) -> None:
    """Take a running job from its nodes."""
    state.is_running[job] = False
    tasks = slice(facts.jobs.first[job], facts.jobs.first[job + 1])
    if not state.is_placed[job]:
        state.last_place[tasks] = state.place[tasks]
    cpu, memory, load, held = facts.jobs.cpu[job], facts.jobs.memory[job], state.load, state.held
    for node in state.place[tasks]:
        load[node] -= cpu
        held[node] -= memory
