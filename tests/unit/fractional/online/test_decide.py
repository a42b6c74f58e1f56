from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.online.decide import decide, rules_of
from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.names import parse
from lease_scheduler.fractional.online.system import System, add_up, new_system, put

#: Jobs of one task: CPU, memory, submission.
_ROWS = ((1.0, 0.6, 0.0), (1.0, 0.5, 10.0), (0.5, 0.3, 20.0))


def _system(others_load: list[float], others_held: list[float]) -> System:
    cpu, memory, release = np.array(_ROWS).T
    jobs = Jobs(cpu.copy(), memory.copy(), np.arange(len(cpu) + 1))
    return new_system(jobs, release.copy(), np.array(others_load), np.array(others_held))


def _decided(
    system: System, name: str, *, present: int, submitted: int, has_ended: bool = False, is_period: bool = False
) -> dict[int, int]:
    """Return the nodes of running jobs after a decision at 20."""
    decide(rules_of(parse(name), 600), system, 20.0, np.arange(present), submitted, has_ended, is_period)
    return {job: int(system.place[job]) for job in range(present) if system.is_running[job]}


@pytest.mark.parametrize("name", ["Greedy*/OPT=MIN", "GreedyPM*/per/OPT=MIN", "MCB*/per/OPT=MIN"])
def test_others_keep_what_they_hold(name: str) -> None:
    """Node 0 has memory for none of these jobs, node 1 for one of them."""
    assert _decided(_system([0.0, 0.0], [0.8, 0.35]), name, present=1, submitted=1) == {0: 1}
    assert _decided(_system([0.0, 0.0], [0.8, 0.45]), name, present=1, submitted=1) == {}


def test_the_cpu_of_others_is_a_load() -> None:
    """dfrs A16: node 1 has the lower load."""
    assert _decided(_system([0.75, 0.5], [0.0, 0.0]), "Greedy*/OPT=MIN", present=1, submitted=1) == {0: 1}


def test_a_mapping_counts_the_cpu_of_others() -> None:
    """dfrs A20: nodes are filled in their order, but on node 0 the job would get a tenth."""
    assert _decided(_system([0.0, 0.0], [0.0, 0.0]), "MCB*/OPT=MIN", present=1, submitted=1) == {0: 0}
    assert _decided(_system([0.9, 0.0], [0.0, 0.0]), "MCB*/OPT=MIN", present=1, submitted=1) == {0: 1}


def test_new_jobs_are_placed_one_after_the_other() -> None:
    """dfrs A18: job 1 pauses no job, as it fits beside job 0; job 2 fits there too."""
    assert _decided(_system([0.0], [0.0]), "GreedyP*/OPT=MIN", present=3, submitted=3) == {1: 0, 2: 0}


def test_without_a_new_job_nothing_is_paused() -> None:
    """dfrs F44: and with ``*`` waiting jobs are started where they fit."""
    for name, waits in (("GreedyP*/OPT=MIN", False), ("GreedyP/per/OPT=MIN", True), ("MCB/per/OPT=MIN", True)):
        assert bool(_decided(_system([0.0], [0.0]), name, present=1, submitted=0)) is not waits


def test_mcb_maps_anew_when_a_job_ends() -> None:
    """dfrs F44: with ``*`` only."""
    for name, acts in (("MCB*/OPT=MIN", True), ("MCB*/per/OPT=MIN", True), ("MCB/per/OPT=MIN", False)):
        assert bool(_decided(_system([0.0], [0.0]), name, present=1, submitted=0, has_ended=True)) is acts


def test_decisions_tell_what_has_changed() -> None:
    """The new job 2 needs the node: job 0 is paused, and moved to where it fits."""
    system = _system([0.0, 0.0], [0.0, 0.4])
    put(system, 0, np.array([0]))
    system.virtual[0] = 20.0
    system.jobs.memory[2] = 0.8
    decide(rules_of(parse("GreedyPM*/OPT=MIN"), 600), system, 20.0, np.array([0, 2]), 1, False, False)
    assert system.was_running.tolist()[0] and system.is_running[[0, 2]].all()
    assert system.is_placed[[0, 2]].all() and system.is_marked.tolist() == [True, False, False]
    assert (system.last_place[0], system.place[0], system.place[2]) == (0, 1, 0)


def test_loads_are_added_up_in_the_order_of_submission() -> None:
    system = _system([0.1], [0.2])
    put(system, 2, np.array([0]))
    put(system, 1, np.array([0]))
    add_up(system, np.arange(3))
    assert system.load.tolist() == [0.1 + 1.0 + 0.5]
    assert system.held.tolist() == [0.2 + 0.5 + 0.3]
