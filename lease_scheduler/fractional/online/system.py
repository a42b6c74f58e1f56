"""A cluster that jobs share by fractions, in arrays for compiled code (Stillwell 2010, sections 3.1 and 5.1).

A simulation has one that lasts; an engine builds one for each decision from what its leases carry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import Jobs, by_priority


class System(NamedTuple):
    """Jobs and the nodes that they have; arrays by the number of the job unless said otherwise.

    :ivar jobs: what jobs need
    :ivar release: when each was submitted, in seconds
    :ivar virtual: virtual time in seconds
    :ivar place: node of each task of running jobs, sorted for each job
    :ivar last_place: the same before the latest decision, for jobs that it has taken from their nodes
    :ivar is_running: whether the job runs
    :ivar was_running: whether it ran before the latest decision
    :ivar is_placed: whether the latest decision gave it nodes
    :ivar is_marked: whether the latest decision paused it for another job
    :ivar stays: whether the job keeps its nodes as long as it runs, because it cannot be moved
    :ivar aim: yield that mapping by stretch aims at
    :ivar load: sum of CPU needs on each node, with what others hold
    :ivar held: memory in use on each node, with what others hold
    :ivar others_load: what others than these jobs hold of the CPU of each node, at most 1
    :ivar others_held: what they hold of its memory, at most 1
    """

    jobs: Jobs
    release: Floats
    virtual: Floats
    place: Integers
    last_place: Integers
    is_running: NDArray[np.bool_]
    was_running: NDArray[np.bool_]
    is_placed: NDArray[np.bool_]
    is_marked: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    aim: Floats
    load: Floats
    held: Floats
    others_load: Floats
    others_held: Floats


def new_system(jobs: Jobs, release: Floats, others_load: Floats, others_held: Floats) -> System:
    """Return a system in which no job runs yet, nor has ever run."""
    count, tasks = len(release), int(jobs.first[-1])
    return System(
        jobs=jobs,
        release=release,
        virtual=np.zeros(count),
        place=np.zeros(tasks, np.int64),
        last_place=np.zeros(tasks, np.int64),
        is_running=np.zeros(count, np.bool_),
        was_running=np.zeros(count, np.bool_),
        is_placed=np.zeros(count, np.bool_),
        is_marked=np.zeros(count, np.bool_),
        stays=np.zeros(count, np.bool_),
        aim=np.zeros(count),
        load=others_load.copy(),
        held=others_held.copy(),
        others_load=others_load,
        others_held=others_held,
    )


@compiled
def running_jobs(system: System, present: Integers) -> Integers:
    """Return the jobs among these that run."""
    is_running = system.is_running
    running, count = np.empty(len(present), np.int64), 0
    for job in present:
        if is_running[job]:
            running[count] = job
            count += 1
    return running[:count]


@compiled
def ordered(system: System, numbers: Integers, now: float) -> Integers:
    """Return jobs by decreasing priority."""
    release, virtual = system.release, system.virtual
    flows, virtuals = np.empty(len(numbers)), np.empty(len(numbers))
    for position in range(len(numbers)):
        flows[position] = now - release[numbers[position]]
        virtuals[position] = virtual[numbers[position]]
    return by_priority(numbers, flows, virtuals)


@compiled
def put(system: System, job: int, nodes: Integers) -> None:
    """Put a job on these sorted nodes."""
    jobs, place, load, held = system.jobs, system.place, system.load, system.held
    cpu, memory, begin = jobs.cpu[job], jobs.memory[job], jobs.first[job]
    system.is_running[job] = True
    system.is_placed[job] = True
    for task in range(len(nodes)):
        node = nodes[task]
        place[begin + task] = node
        load[node] += cpu
        held[node] += memory


@compiled
def take(system: System, job: int) -> None:
    """Take a running job from its nodes."""
    jobs, place, last_place, load, held = system.jobs, system.place, system.last_place, system.load, system.held
    cpu, memory = jobs.cpu[job], jobs.memory[job]
    had_nodes_before = not system.is_placed[job]
    system.is_running[job] = False
    for task in range(jobs.first[job], jobs.first[job + 1]):
        node = place[task]
        if had_nodes_before:
            last_place[task] = node
        load[node] -= cpu
        held[node] -= memory


@compiled
def add_up(system: System, present: Integers) -> None:
    """Compute the loads of nodes anew, so that they do not depend on how they came about.

    :param present: jobs in the system, in the order of submission
    """
    load, held, place, first = system.load, system.held, system.place, system.jobs.first
    load[:] = system.others_load
    held[:] = system.others_held
    for job in running_jobs(system, present):
        for task in range(first[job], first[job + 1]):
            load[place[task]] += system.jobs.cpu[job]
            held[place[task]] += system.jobs.memory[job]
