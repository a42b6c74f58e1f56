"""On-line algorithms by fractions of hosts: nothing is overloaded, jobs get what they need, and bounds are bounds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.fractional.online.names import NAMES, parse
from lease_scheduler.simulation.fractional.batch import Backfilling, run_batch
from lease_scheduler.simulation.fractional.loop import Instant, run_online
from lease_scheduler.simulation.fractional.trace import Schedule, Trace

_TINY = 1e-6


@st.composite
def _traces(draw: st.DrawFn, jobs: int = 7) -> Trace:
    """Traces with several jobs at one instant, on periods and off them, and memory for few of them."""
    nodes = draw(st.integers(1, 3))
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([0, 0, 1, 10, 590, 600, 600, 900, 1200]),
                st.integers(1, nodes),
                st.integers(1, 100),
                st.integers(0, 100),
                st.sampled_from([1, 10, 60, 333, 1000, 5000]),
            ),
            min_size=1,
            max_size=jobs,
        )
    )
    release, tasks, cpu, memory, processing = np.array(sorted(rows, key=lambda row: row[0]), float).T
    return Trace(nodes, release, tasks, cpu / 100, memory / 100, processing)


class _Accounts:
    """Checks every instant, and adds up what jobs do from one to the next."""

    def __init__(self, trace: Trace, penalty: float) -> None:
        self._trace, self._penalty = trace, penalty
        self._last: Instant | None = None
        self._ever: set[int] = set()
        self._held_up_until = np.zeros(len(trace.release))
        self.done = np.zeros(len(trace.release))

    def watch(self, instant: Instant) -> None:
        trace = self._trace
        cpu, memory = np.zeros(trace.nodes), np.zeros(trace.nodes)
        for job, nodes in instant.nodes.items():
            assert len(nodes) == trace.tasks[job] and trace.release[job] <= instant.now + _TINY
            assert 0 < instant.yields[job] <= 1 + _TINY
            np.add.at(cpu, nodes, instant.yields[job] * trace.cpu[job])
            np.add.at(memory, nodes, trace.memory[job])
        assert cpu.max() <= 1 + _TINY and memory.max() <= 1 + _TINY
        assert not set(instant.waiting) & set(instant.nodes)
        self.account(instant.now)
        before = self._last.nodes if self._last else {}
        for job, nodes in instant.nodes.items():
            is_new_place = job not in before or before[job].tolist() != nodes.tolist()
            if job in self._ever and is_new_place:
                self._held_up_until[job] = instant.now + self._penalty
            self._ever.add(job)
        self._last = instant

    def account(self, until: float) -> None:
        if self._last is not None:
            for job, share in self._last.yields.items():
                begin = max(self._last.now, self._held_up_until[job])
                self.done[job] += share * max(0.0, until - begin)


def _check(trace: Trace, schedule: Schedule) -> None:
    assert (schedule.ends >= trace.release + trace.processing - 1e-3).all()
    assert trace.stretches(schedule.ends).max() >= trace.bound() * (1 - _TINY)


@settings(max_examples=150, deadline=None)
@given(_traces(), st.sampled_from(NAMES), st.sampled_from([0.0, 300.0]), st.booleans())
def test_no_host_is_overloaded_and_every_job_is_done(trace: Trace, name: str, penalty: float, literal: bool) -> None:
    """dfrs F37, F40 to F50, E14: CPU is at most 100 %, memory is never shared, the bound is below every schedule."""
    accounts = _Accounts(trace, penalty)
    schedule = run_online(trace, parse(name), penalty=penalty, literal=literal, watch=accounts.watch)
    _check(trace, schedule)
    accounts.account(float(schedule.ends.max()))
    assert np.allclose(accounts.done, trace.processing, rtol=1e-6, atol=1e-3)
    if penalty == 0 and name.startswith("Greedy*/OPT"):
        assert schedule.resumed == schedule.moved == 0


@settings(max_examples=60, deadline=None)
@given(_traces(), st.sampled_from(NAMES))
def test_watching_a_run_does_not_change_it(trace: Trace, name: str) -> None:
    """dfrs A29: with OPT=MIN the loop does not stop between instants unless it is watched."""
    alone = run_online(trace, parse(name))
    watched = run_online(trace, parse(name), watch=lambda instant: None)
    assert alone.ends.tolist() == watched.ends.tolist()
    assert (alone.resumed, alone.moved) == (watched.resumed, watched.moved)


@settings(max_examples=100, deadline=None)
@given(_traces(jobs=12), st.sampled_from(Backfilling))
def test_batch_schedulers_share_nothing(trace: Trace, backfilling: Backfilling) -> None:
    """dfrs F53: there is a node for each task, and the bound is below the schedule."""
    schedule = run_batch(trace, backfilling)
    _check(trace, schedule)
    starts = schedule.ends - trace.processing
    for start in starts:
        runs = (starts <= start + _TINY) & (schedule.ends > start + _TINY)
        assert trace.tasks[runs].sum() <= trace.nodes
    if backfilling is Backfilling.NONE:
        assert (np.diff(starts) >= -_TINY).all()


@settings(max_examples=60, deadline=None)
@given(_traces(jobs=12))
def test_backfilling_never_delays_the_first_blocked_job(trace: Trace) -> None:
    """dfrs A28: with exact run times, the first job that FCFS makes wait starts no later with EASY."""
    first, easy = (run_batch(trace, each).ends - trace.processing for each in (Backfilling.NONE, Backfilling.EASY))
    blocked = np.flatnonzero(first > trace.release + _TINY)
    if len(blocked):
        assert easy[blocked[0]] <= first[blocked[0]] + _TINY
