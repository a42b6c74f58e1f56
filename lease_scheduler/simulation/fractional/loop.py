"""A cluster on which jobs share CPU by an on-line algorithm (Stillwell 2010, sections 5.2 and 5.3.1).

The loop keeps time and the progress of jobs. Decisions are those of ``fractional.online``, which do not see run times.
At one instant, ends come first, then submissions, then the periodic remapping, which also places the jobs submitted at
that instant. Yields are computed once after all of them.

The whole loop is compiled where numba is installed. It stops before yields are computed if these need a linear program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decide import Rules, decide, rules_of
from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.names import Algorithm, Periodic, Sharing
from lease_scheduler.fractional.online.sharing import average_yields, fair_yields, stretch_yields
from lease_scheduler.fractional.online.system import add_up, new_system, running_jobs, take
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.progress import FULL
from lease_scheduler.simulation.fractional.state import (
    CYCLE,
    MOVED,
    MOVED_MEMORY,
    PRESENT,
    RESUMED,
    RESUMED_MEMORY,
    UPCOMING,
    State,
    Times,
    begin_state,
)
from lease_scheduler.simulation.fractional.trace import Schedule, Trace

#: Seconds within which two events are at one instant, so that rounding errors do not split them.
_INSTANT = 1e-6

#: Tolerance for rounding errors: a yield this many thousandths below a whole thousandth counts as that thousandth.
_PART = 1e-6


@dataclass(frozen=True)
class Instant:
    """The running and the waiting jobs from an instant on.

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
    whole: bool = False,
    watch: Callable[[Instant], None] | None = None,
) -> Schedule:
    """Return the schedule of an on-line algorithm.

    :param penalty: seconds without progress after a job was resumed or moved, at least 0
    :param period: seconds between two times at which everything is mapped anew; the first one is at 0
    :param literal: as in ``map_anew``
    :param whole: as in an engine: jobs end at whole seconds, yields are rounded down to thousandths, and results do not
        depend on the order in which loads were added up. Submissions, processing times, penalty and period must then
        be whole seconds
    :param watch: called after all decisions of an instant
    :raises InvalidValueError: the penalty is negative, or the period is not longer than it, or a time is not whole
    """
    if not 0 <= penalty < np.inf:
        raise InvalidValueError("penalty", f"must be at least 0, not {penalty}")
    # Jobs that are moved whenever their penalty is over would never end.
    if not penalty < period < np.inf:
        raise InvalidValueError("period", f"must be more than the penalty ({penalty:g}), not {period:g}")
    if whole:
        _check_whole(trace, penalty=penalty, period=period)
    jobs = Jobs(trace.cpu, trace.memory, np.concatenate([[0], np.cumsum(trace.tasks)]))
    rules = rules_of(algorithm, period, literal=literal)
    is_periodic = algorithm.periodic is not Periodic.NOTHING
    times = Times(trace.processing, float(penalty), is_periodic, float(period), whole)
    nobody = np.zeros(trace.nodes)
    state = begin_state(new_system(jobs, trace.release, nobody, nobody))
    if algorithm.sharing is Sharing.LEAST and watch is None:
        _run(rules, times, state)
    else:
        while _step(rules, times, state):
            running = running_jobs(state.system, state.present[: state.counts[PRESENT]])
            if len(running):
                _set_yields(times, state, running, _shares(rules, state, algorithm, running))
            if watch is not None:
                watch(_instant(state, running))
    return Schedule(
        state.ends,
        int(state.totals[RESUMED]),
        int(state.totals[MOVED]),
        float(state.totals[RESUMED_MEMORY]),
        float(state.totals[MOVED_MEMORY]),
    )


def _check_whole(trace: Trace, **times: float) -> None:
    for field, values in (("release", trace.release), ("processing", trace.processing)):
        if (values % 1).any():
            raise InvalidValueError(f"{field}[{int(np.argmax(values % 1 > 0))}]", "must be whole seconds")
    for field, value in times.items():
        if value % 1:
            raise InvalidValueError(field, f"must be whole seconds, not {value:g}")


def _shares(rules: Rules, state: State, algorithm: Algorithm, running: Integers) -> Floats:
    system = state.system
    jobs, place, nodes = system.jobs, system.place, len(system.load)
    if algorithm.sharing is Sharing.LEAST:
        return fair_yields(running, jobs, place, nodes)
    if not rules.is_stretch:
        return average_yields(running, jobs, place, nodes, None)
    horizon = float(state.counts[CYCLE] * rules.period - state.now[0])
    flow, virtual, aim = state.now[0] - system.release[running], system.virtual[running], system.aim[running]
    if algorithm.sharing is Sharing.STRETCH:
        return stretch_yields(running, jobs, place, nodes, aim, flow, virtual, horizon)
    return average_yields(running, jobs, place, nodes, aim, horizon / (flow + horizon))


def _instant(state: State, running: Integers) -> Instant:
    system, first = state.system, state.system.jobs.first
    present = [int(job) for job in state.present[: state.counts[PRESENT]]]
    return Instant(
        float(state.now[0]),
        {int(job): system.place[first[job] : first[job + 1]].copy() for job in running},
        {int(job): float(state.yields[job]) for job in running},
        [job for job in present if not system.is_running[job]],
    )


@compiled
def _run(rules: Rules, times: Times, state: State) -> None:
    """Run to the end with OPT=MIN."""
    system = state.system
    while _step(rules, times, state):
        running = running_jobs(system, state.present[: state.counts[PRESENT]])
        if len(running):
            _set_yields(times, state, running, fair_yields(running, system.jobs, system.place, len(system.load)))


@compiled
def _step(rules: Rules, times: Times, state: State) -> bool:
    """Go to the next instant and take all decisions but those about yields. Return False if all jobs have ended."""
    counts, release = state.counts, state.system.release
    if counts[UPCOMING] == len(release) and counts[PRESENT] == 0:
        return False
    now = release[counts[UPCOMING]] if counts[UPCOMING] < len(release) else np.inf
    is_running, ends = state.system.is_running, state.ends
    for job in state.present[: counts[PRESENT]]:
        if is_running[job]:
            now = min(now, ends[job])
    is_period = False
    if times.is_periodic:
        if counts[PRESENT] == 0:
            # There is nothing to be mapped before the next submission.
            counts[CYCLE] = max(counts[CYCLE], int(np.ceil(now / times.period)))
        now = min(now, counts[CYCLE] * times.period)
        is_period = bool(counts[CYCLE] * times.period <= now + _INSTANT)
        if is_period:
            counts[CYCLE] += 1
    _pass(times, state, now)
    has_ended = _end(state)
    submitted = counts[UPCOMING]
    while counts[UPCOMING] < len(release) and release[counts[UPCOMING]] <= now + _INSTANT:
        state.present[counts[PRESENT]] = counts[UPCOMING]
        counts[PRESENT] += 1
        counts[UPCOMING] += 1
    present = state.present[: counts[PRESENT]]
    if times.is_whole:
        add_up(state.system, present)
    decide(rules, state.system, now, present, counts[UPCOMING] - submitted, has_ended, is_period)
    _hold_up(times, state)
    return True


@compiled
def _pass(times: Times, state: State, now: float) -> None:
    """Let time pass: running jobs make progress by their yields, except while they are held up."""
    is_running, virtual = state.system.is_running, state.system.virtual
    yields, held_up_until = state.yields, state.held_up_until
    for job in state.present[: state.counts[PRESENT]]:
        if is_running[job]:
            begin = max(state.now[0], held_up_until[job])
            virtual[job] += yields[job] * max(0.0, now - begin)
            if times.is_whole:
                virtual[job] = np.round(virtual[job] * FULL) / FULL
    state.now[0] = now


@compiled
def _end(state: State) -> bool:
    """Take jobs that have ended out of the system, and return whether there were any."""
    system, present, ends = state.system, state.present, state.ends
    is_running = system.is_running
    count = state.counts[PRESENT]
    kept = 0
    for position in range(count):
        job = present[position]
        if is_running[job] and ends[job] <= state.now[0] + _INSTANT:
            take(system, job)
        else:
            present[kept] = job
            kept += 1
    state.counts[PRESENT] = kept
    return bool(kept < count)


@compiled
def _hold_up(times: Times, state: State) -> None:
    """Hold up what was resumed or moved."""
    system, totals, has_started, held_up_until = state.system, state.totals, state.has_started, state.held_up_until
    is_running, was_running, is_placed = system.is_running, system.was_running, system.is_placed
    place, last_place = system.place, system.last_place
    first, memory = system.jobs.first, system.jobs.memory
    for job in state.present[: state.counts[PRESENT]]:
        if not (is_running[job] and is_placed[job]):
            continue
        begin, end = first[job], first[job + 1]
        if not was_running[job]:
            if has_started[job]:
                totals[RESUMED] += 1
                totals[RESUMED_MEMORY] += memory[job] * (end - begin)
                held_up_until[job] = state.now[0] + times.penalty
            has_started[job] = True
            continue
        gone = end - begin - _common(place, last_place, begin, end)
        if gone:
            totals[MOVED] += 1
            totals[MOVED_MEMORY] += memory[job] * gone
            held_up_until[job] = state.now[0] + times.penalty


@compiled
def _common(some: Integers, others: Integers, begin: int, end: int) -> int:
    """Return the number of common values, with repetitions, of two arrays that are sorted from ``begin`` to ``end``."""
    one, other, count = begin, begin, 0
    while one < end and other < end:
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
def _set_yields(times: Times, state: State, running: Integers, yields: Floats) -> None:
    """Set the yields of running jobs, and compute when the jobs end."""
    processing, virtual = times.processing, state.system.virtual
    for position in range(len(running)):
        job = running[position]
        begin = max(state.now[0], state.held_up_until[job])
        if times.is_whole:
            permille = np.floor(yields[position] * FULL + _PART)
            state.yields[job] = permille / FULL
            left = max(0.0, np.round((processing[job] - virtual[job]) * FULL))
            state.ends[job] = begin + np.ceil(left / permille) if permille else np.inf
        else:
            state.yields[job] = yields[position]
            state.ends[job] = begin + max(0.0, processing[job] - virtual[job]) / yields[position]
