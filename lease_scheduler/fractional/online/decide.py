"""All decisions of an instant except those about shares (Stillwell 2010, sections 5.2.1 to 5.2.4).

The simulation and the engine make the same decisions, because both call ``decide``. It knows nothing of run times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lease_scheduler.fractional.arrays import Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import admit, greedy_nodes
from lease_scheduler.fractional.online.names import Algorithm, Periodic, Submission
from lease_scheduler.fractional.online.remap import Outlook, map_anew
from lease_scheduler.fractional.online.system import System, ordered, put, running_jobs, take

#: Submissions as numbers, in this order.
_SUBMISSIONS = tuple(Submission)
_GREEDY, _PAUSE_OR_MOVE, _REMAP = (
    _SUBMISSIONS.index(each) for each in (Submission.GREEDY, Submission.GREEDY_PAUSE_OR_MOVE, Submission.REMAP)
)


class Rules(NamedTuple):
    """The algorithm, as numbers for compiled code.

    :ivar submission: what happens to a job that is submitted
    :ivar opportunistic: as in ``Algorithm``
    :ivar is_stretch: whether everything is mapped anew by stretch
    :ivar keep_flow: running jobs with less flow time keep their nodes when everything is mapped anew
    :ivar keep_virtual: running jobs with less virtual time keep them
    :ivar period: seconds between two times at which everything is mapped anew
    :ivar literal: as in ``map_anew``
    """

    submission: int
    opportunistic: bool
    is_stretch: bool
    keep_flow: float
    keep_virtual: float
    period: float
    literal: bool


def rules_of(algorithm: Algorithm, period: float, *, literal: bool = False) -> Rules:
    """Return the rules of an algorithm."""
    # Minimum virtual time is the stronger rule where an algorithm has both.
    keep_flow = 0 if algorithm.min_virtual_time is not None else algorithm.min_flow_time or 0
    return Rules(
        _SUBMISSIONS.index(algorithm.submission),
        algorithm.opportunistic,
        algorithm.periodic is Periodic.STRETCH,
        float(keep_flow),
        float(algorithm.min_virtual_time or 0),
        float(period),
        literal,
    )


@compiled
def decide(
    rules: Rules, system: System, now: float, present: Integers, submitted: int, has_ended: bool, is_period: bool
) -> None:
    """Decide which jobs run from now on, and where; ``system`` is changed accordingly.

    :param now: seconds; a job that is submitted now has a flow time of 0
    :param present: numbers of the jobs in the system, in the order of submission; the last ones are new
    :param submitted: how many of them are new
    :param has_ended: whether a job has ended since the last decision
    :param is_period: whether it is time to map everything anew; new jobs are left to that
    """
    is_running, was_running, is_placed, is_marked = (
        system.is_running,
        system.was_running,
        system.is_placed,
        system.is_marked,
    )
    for job in present:
        was_running[job] = is_running[job]
        is_placed[job] = is_marked[job] = False
    is_remap = rules.submission == _REMAP and (submitted > 0 or (has_ended and rules.opportunistic))
    if is_period or is_remap:
        _map_anew(rules, system, now, present)
    elif rules.submission not in (0, _REMAP):
        count = len(present)
        for position in range(count - submitted, count):
            _admit(rules, system, now, present, present[position])
        if rules.submission == _PAUSE_OR_MOVE:
            _start(system, now, present, True)
    if rules.opportunistic and rules.submission != _REMAP:
        # A job that has just been paused would only come back to where it did not fit.
        _start(system, now, present, False)


@compiled
def _admit(rules: Rules, system: System, now: float, present: Integers, job: int) -> None:
    """Place a new job, by pausing others if the algorithm does so."""
    jobs = system.jobs
    nodes = greedy_nodes(job, jobs, system.load, system.held)
    if len(nodes) == 0 and rules.submission != _GREEDY:
        victims = ordered(system, running_jobs(system, present), now)[::-1].copy()
        nodes, is_paused = admit(job, victims, jobs, system.place, system.load, system.held)
        for victim in victims[is_paused]:
            take(system, victim)
            system.is_marked[victim] = True
    if len(nodes):
        put(system, job, nodes)


@compiled
def _start(system: System, now: float, present: Integers, marked: bool) -> None:
    """Place jobs that do not run where they fit, by decreasing priority.

    :param marked: those that were paused just now and may move; otherwise those that did not run before
    """
    is_running, was_running, is_marked, stays = (
        system.is_running,
        system.was_running,
        system.is_marked,
        system.stays,
    )
    waiting, count = np.empty(len(present), np.int64), 0
    for job in present:
        may_start = is_marked[job] and not stays[job] if marked else not was_running[job]
        if may_start and not is_running[job]:
            waiting[count] = job
            count += 1
    if count == 0:
        return
    jobs, load, held = system.jobs, system.load, system.held
    for job in ordered(system, waiting[:count], now):
        nodes = greedy_nodes(job, jobs, load, held)
        if len(nodes):
            put(system, job, nodes)


@compiled
def _map_anew(rules: Rules, system: System, now: float, present: Integers) -> None:
    order = ordered(system, present, now)
    if len(order) == 0:
        return
    jobs = system.jobs
    flow, virtual = now - system.release[order], system.virtual[order]
    keeps = (flow < rules.keep_flow) | (virtual < rules.keep_virtual) | system.stays[order]
    keeps &= system.is_running[order]
    outlook = Outlook(rules.period if rules.is_stretch else 0.0, flow, virtual)
    kept, found, aims = map_anew(
        order, jobs, system.place, keeps, system.others_load, system.others_held, outlook, rules.literal
    )
    is_running, place, first = system.is_running, system.place, jobs.first
    begin = 0
    for position in range(len(order)):
        job = order[position]
        end = begin + first[job + 1] - first[job]
        is_kept = position < kept
        if is_kept:
            system.aim[job] = aims[position]
        if is_running[job]:
            is_same = is_kept
            for task in range(end - begin):
                is_same = is_same and found[begin + task] == place[first[job] + task]
            if is_same:
                begin = end
                continue
            take(system, job)
        if is_kept:
            put(system, job, found[begin:end])
        begin = end
