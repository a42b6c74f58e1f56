"""A cluster on which jobs share CPU by an on-line algorithm (Stillwell 2010, sections 5.2 and 5.3.1).

The loop keeps time and the state of jobs. Decisions are those of ``fractional.online``, which do not see run times. Of
several events at one instant, ends come first, then submissions, then mapping anew; a job that is submitted when
everything is mapped anew periodically is left to that. Shares are computed once after all of them.

The whole loop is compiled where numba is installed. It stops before shares are computed if these need a linear program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import Jobs, admit, greedy_nodes
from lease_scheduler.fractional.online.names import Algorithm, Periodic, Sharing, Submission
from lease_scheduler.fractional.online.remap import Outlook, map_anew
from lease_scheduler.fractional.online.sharing import average_yields, fair_yields, stretch_yields
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.fractional.state import (
    CYCLE,
    MOVED,
    MOVED_MEMORY,
    PRESENT,
    RESUMED,
    RESUMED_MEMORY,
    UPCOMING,
    Facts,
    Rules,
    State,
    begin_state,
    ordered,
    put,
    running_jobs,
    take,
)
from lease_scheduler.simulation.fractional.trace import Schedule, Trace

#: Seconds within which two events are at one instant, so that rounding errors do not split them.
_INSTANT = 1e-6

#: Submissions as numbers, in this order.
_SUBMISSIONS = tuple(Submission)
_GREEDY, _PAUSE_OR_MOVE, _REMAP = (
    _SUBMISSIONS.index(each) for each in (Submission.GREEDY, Submission.GREEDY_PAUSE_OR_MOVE, Submission.REMAP)
)


@dataclass(frozen=True)
class Instant:
    """What runs from an instant on.

    :ivar now: seconds
    :ivar nodes: job -> sorted nodes of its tasks, for all running jobs
    :ivar yields: job -> yield
    :ivar waiting: jobs that were submitted and neither run nor have ended
    """

    now: float
    nodes: dict[int, Integers]
    yields: dict[int, float]
    waiting: list[int]


def run_online(
    trace: Trace,
    algorithm: Algorithm,
    *,
    penalty: float = 300.0,
    period: float = 600.0,
    literal: bool = False,
    watch: Callable[[Instant], None] | None = None,
) -> Schedule:
    """Return the schedule of an on-line algorithm.

    :param penalty: seconds without progress after a job was resumed or moved, at least 0
    :param period: seconds between two times at which everything is mapped anew; the first one is at 0
    :param literal: as in ``map_anew``
    :param watch: called after all decisions of an instant
    :raises InvalidValueError: the penalty is negative, or the period is not longer than it
    """
    if not 0 <= penalty < np.inf:
        raise InvalidValueError("penalty", f"must be at least 0, not {penalty}")
    # Jobs that are moved whenever their penalty is over would never end.
    if not penalty < period < np.inf:
        raise InvalidValueError("period", f"must be more than the penalty ({penalty:g}), not {period:g}")
    first = np.concatenate([[0], np.cumsum(trace.tasks)])
    jobs = Jobs(trace.cpu, trace.memory, first)
    facts = Facts(trace.nodes, trace.release, trace.processing, jobs)
    # Minimum virtual time is the stronger rule where an algorithm has both.
    keep_flow = 0 if algorithm.min_virtual_time is not None else algorithm.min_flow_time or 0
    rules = Rules(
        _SUBMISSIONS.index(algorithm.submission),
        algorithm.opportunistic,
        algorithm.periodic is not Periodic.NOTHING,
        algorithm.periodic is Periodic.STRETCH,
        float(keep_flow),
        float(algorithm.min_virtual_time or 0),
        float(penalty),
        float(period),
        literal,
    )
    state = begin_state(facts)
    if algorithm.sharing is Sharing.LEAST and watch is None:
        _run(facts, rules, state)
    else:
        while _step(facts, rules, state):
            running = running_jobs(state)
            if len(running):
                _set_yields(facts, state, running, _shares(facts, rules, state, algorithm, running))
            if watch is not None:
                watch(_instant(facts, state, running))
    return Schedule(
        state.ends,
        int(state.totals[RESUMED]),
        int(state.totals[MOVED]),
        float(state.totals[RESUMED_MEMORY]),
        float(state.totals[MOVED_MEMORY]),
    )


def _shares(facts: Facts, rules: Rules, state: State, algorithm: Algorithm, running: Integers) -> Floats:
    if algorithm.sharing is Sharing.LEAST:
        return fair_yields(running, facts.jobs, state.place, facts.nodes)
    if not rules.is_stretch:
        return average_yields(running, facts.jobs, state.place, facts.nodes, None)
    horizon = float(state.counts[CYCLE] * rules.period - state.now[0])
    flow, virtual, aim = state.now[0] - facts.release[running], state.virtual[running], state.aim[running]
    if algorithm.sharing is Sharing.STRETCH:
        return stretch_yields(running, facts.jobs, state.place, facts.nodes, aim, flow, virtual, horizon)
    weights = horizon / (flow + horizon)
    return average_yields(running, facts.jobs, state.place, facts.nodes, aim, weights)


def _instant(facts: Facts, state: State, running: Integers) -> Instant:
    first = facts.jobs.first
    present = [int(job) for job in state.present[: state.counts[PRESENT]]]
    return Instant(
        float(state.now[0]),
        {int(job): state.place[first[job] : first[job + 1]].copy() for job in running},
        {int(job): float(state.yields[job]) for job in running},
        [job for job in present if not state.is_running[job]],
    )


@compiled
def _run(facts: Facts, rules: Rules, state: State) -> None:
    """Run to the end with OPT=MIN."""
    while _step(facts, rules, state):
        running = running_jobs(state)
        if len(running):
            _set_yields(facts, state, running, fair_yields(running, facts.jobs, state.place, facts.nodes))


@compiled
def _step(facts: Facts, rules: Rules, state: State) -> bool:
    """Go to the next instant and take all decisions but those about shares; return False if all jobs have ended."""
    counts = state.counts
    if counts[UPCOMING] == len(facts.release) and counts[PRESENT] == 0:
        return False
    now = facts.release[counts[UPCOMING]] if counts[UPCOMING] < len(facts.release) else np.inf
    is_running, ends = state.is_running, state.ends
    for job in state.present[: counts[PRESENT]]:
        if is_running[job]:
            now = min(now, ends[job])
    is_period = False
    if rules.is_periodic:
        if counts[PRESENT] == 0:
            # There is nothing to be mapped before the next submission.
            counts[CYCLE] = max(counts[CYCLE], int(np.ceil(now / rules.period)))
        now = min(now, counts[CYCLE] * rules.period)
        is_period = bool(counts[CYCLE] * rules.period <= now + _INSTANT)
        if is_period:
            counts[CYCLE] += 1
    _pass(state, now)
    has_ended = _end(facts, state)
    submitted = counts[UPCOMING]
    while counts[UPCOMING] < len(facts.release) and facts.release[counts[UPCOMING]] <= now + _INSTANT:
        state.present[counts[PRESENT]] = counts[UPCOMING]
        counts[PRESENT] += 1
        counts[UPCOMING] += 1
    is_remap = rules.submission == _REMAP and (counts[UPCOMING] > submitted or (has_ended and rules.opportunistic))
    if is_period or is_remap:
        _map_anew(facts, rules, state)
    elif rules.submission not in (0, _REMAP):
        for job in range(submitted, counts[UPCOMING]):
            _admit(facts, rules, state, job)
        if rules.submission == _PAUSE_OR_MOVE:
            _start(facts, state, state.is_marked)
    if rules.opportunistic and rules.submission != _REMAP:
        # A job that has just been paused would only come back to where there was no room for it.
        _start(facts, state, ~state.was_running)
    _hold_up(facts, rules, state)
    return True


@compiled
def _pass(state: State, now: float) -> None:
    """Let time pass: running jobs make progress by their yields, except while they are held up."""
    is_running, was_running, is_placed, is_marked = (
        state.is_running,
        state.was_running,
        state.is_placed,
        state.is_marked,
    )
    virtual, yields, held_up_until = state.virtual, state.yields, state.held_up_until
    for job in state.present[: state.counts[PRESENT]]:
        was_running[job] = is_running[job]
        is_placed[job] = is_marked[job] = False
        if is_running[job]:
            begin = max(state.now[0], held_up_until[job])
            virtual[job] += yields[job] * max(0.0, now - begin)
    state.now[0] = now


@compiled
def _end(facts: Facts, state: State) -> bool:
    """Take jobs that have ended out of the system, and return whether there were any."""
    count = state.counts[PRESENT]
    kept = 0
    for position in range(count):
        job = state.present[position]
        if state.is_running[job] and state.ends[job] <= state.now[0] + _INSTANT:
            take(facts, state, job)
        else:
            state.present[kept] = job
            kept += 1
    state.counts[PRESENT] = kept
    return bool(kept < count)


@compiled
def _admit(facts: Facts, rules: Rules, state: State, job: int) -> None:
    """Place a new job, by pausing others if the algorithm does so."""
    nodes = greedy_nodes(job, facts.jobs, state.load, state.held)
    if len(nodes) == 0 and rules.submission != _GREEDY:
        victims = ordered(facts, state, running_jobs(state))[::-1].copy()
        nodes, is_paused = admit(job, victims, facts.jobs, state.place, state.load, state.held)
        for victim in victims[is_paused]:
            take(facts, state, victim)
            state.is_marked[victim] = True
    if len(nodes):
        put(facts, state, job, nodes)


@compiled
def _start(facts: Facts, state: State, may_start: NDArray[np.bool_]) -> None:
    """Place jobs that do not run where there is room, by decreasing priority."""
    present = state.present[: state.counts[PRESENT]]
    for job in ordered(facts, state, present[may_start[present] & ~state.is_running[present]]):
        nodes = greedy_nodes(job, facts.jobs, state.load, state.held)
        if len(nodes):
            put(facts, state, job, nodes)


@compiled
def _map_anew(facts: Facts, rules: Rules, state: State) -> None:
    order = ordered(facts, state, state.present[: state.counts[PRESENT]])
    if len(order) == 0:
        return
    flow, virtual = state.now[0] - facts.release[order], state.virtual[order]
    keeps = state.is_running[order] & ((flow < rules.keep_flow) | (virtual < rules.keep_virtual))
    outlook = Outlook(rules.period if rules.is_stretch else 0.0, flow, virtual)
    kept, found, aims = map_anew(order, facts.jobs, state.place, keeps, facts.nodes, outlook, rules.literal)
    is_running, place, first = state.is_running, state.place, facts.jobs.first
    begin = 0
    for position in range(len(order)):
        job = order[position]
        end = begin + first[job + 1] - first[job]
        is_kept = position < kept
        if is_kept:
            state.aim[job] = aims[position]
        if is_running[job]:
            if is_kept and (found[begin:end] == place[first[job] : first[job + 1]]).all():
                begin = end
                continue
            take(facts, state, job)
        if is_kept:
            put(facts, state, job, found[begin:end])
        begin = end


@compiled
def _hold_up(facts: Facts, rules: Rules, state: State) -> None:
    """Hold up what was resumed or moved."""
    running = running_jobs(state)
    for job in running[state.is_placed[running]]:
        tasks = slice(facts.jobs.first[job], facts.jobs.first[job + 1])
        width = tasks.stop - tasks.start
        if not state.was_running[job]:
            if state.has_started[job]:
                state.totals[RESUMED] += 1
                state.totals[RESUMED_MEMORY] += facts.jobs.memory[job] * width
                state.held_up_until[job] = state.now[0] + rules.penalty
            state.has_started[job] = True
            continue
        gone = width - _common(state.place[tasks], state.last_place[tasks])
        if gone:
            state.totals[MOVED] += 1
            state.totals[MOVED_MEMORY] += facts.jobs.memory[job] * gone
            state.held_up_until[job] = state.now[0] + rules.penalty


@compiled
def _common(some: Integers, others: Integers) -> int:
    """Return how many values two sorted arrays have in common, each as often as it is in both."""
    one, other, count = 0, 0, 0
    while one < len(some) and other < len(others):
        if some[one] == others[other]:
            count += 1
            one += 1
            other += 1
        elif some[one] < others[other]:
            one += 1
        else:
            other += 1
    return count


@compiled
def _set_yields(facts: Facts, state: State, running: Integers, yields: Floats) -> None:
    """Let jobs run at some yields, and compute when they end."""
    for position in range(len(running)):
        job = running[position]
        state.yields[job] = yields[position]
        begin = max(state.now[0], state.held_up_until[job])
        state.ends[job] = begin + max(0.0, facts.processing[job] - state.virtual[job]) / yields[position]
