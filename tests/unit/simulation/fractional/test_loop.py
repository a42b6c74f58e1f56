"""Schedules by hand. Unless said otherwise the penalty is 300 s and the period 600 s."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.online.names import parse
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.fractional.loop import Instant, run_online
from lease_scheduler.simulation.fractional.trace import Schedule, Trace


class Expected:
    """A schedule to compare with, up to rounding errors."""

    def __init__(
        self, ends: list[float], resumed: int = 0, moved: int = 0, resumed_memory: float = 0, moved_memory: float = 0
    ) -> None:
        self._values = (ends, resumed, moved, resumed_memory, moved_memory)

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Schedule)
        ends, *totals = self._values
        found = [other.resumed, other.moved, other.resumed_memory, other.moved_memory]
        return other.ends.tolist() == pytest.approx(ends) and found == pytest.approx(totals)

    def __repr__(self) -> str:
        return repr(self._values)

    __hash__ = None  # type: ignore[assignment]


def _trace(nodes: int, *rows: tuple[float, int, float, float, float]) -> Trace:
    """Jobs of (release, tasks, CPU, memory, processing)."""
    return Trace(nodes, *(np.array(column) for column in zip(*rows, strict=True)))


def _run(trace: Trace, name: str, *, penalty: float = 300.0) -> Schedule:
    return run_online(trace, parse(name), penalty=penalty)


_MEMORY_FOR_ONE = _trace(1, (0, 1, 1, 0.6, 100), (10, 1, 1, 0.6, 100))


@pytest.mark.parametrize("name", ["Greedy*/OPT=MIN", "GreedyP*/OPT=AVG", "GreedyPM*/OPT=MIN", "MCB*/OPT=AVG"])
def test_two_jobs_share_a_node(name: str) -> None:
    """dfrs F35, F39, F47: job 0 has done 10 s at 10, then both have half; job 1 has done 90 s at 190."""
    trace = _trace(1, (0, 1, 1, 0.5, 100), (10, 1, 1, 0.5, 100))
    assert _run(trace, name).ends == pytest.approx([190, 200])


def test_without_preemption_jobs_wait_for_memory() -> None:
    """dfrs F44: and are started when a job ends."""
    assert _run(_MEMORY_FOR_ONE, "Greedy*/OPT=MIN") == Expected(ends=[100, 200])


@pytest.mark.parametrize("name", ["GreedyP*/OPT=MIN", "GreedyPM*/OPT=MIN", "MCB*/OPT=MIN", "MCB*/OPT=MIN/MVT=600"])
def test_a_new_job_pauses_another_one(name: str) -> None:
    """dfrs F40, F42, F52: job 0 is paused at 10, and resumed at 110; 90 s of it are left, which begin at 410."""
    assert _run(_MEMORY_FOR_ONE, name) == Expected(ends=[500, 110], resumed=1, resumed_memory=0.6)
    assert _run(_MEMORY_FOR_ONE, name, penalty=0).ends == pytest.approx([200, 110])


def test_a_marked_job_is_moved_to_a_node_with_enough_memory() -> None:
    """dfrs F41, A19: at 20 job 0 has the lowest priority, 20 / 20^2, and moves to the node of job 1.

    Both then have half, but job 0 does nothing before 320. Job 1 ends at 200. Job 0 has done 20 s.
    """
    trace = _trace(2, (0, 1, 1, 0.5, 100), (10, 1, 1, 0.5, 100), (20, 1, 1, 0.6, 100))
    found = _run(trace, "GreedyPM*/OPT=MIN")
    assert found == Expected(ends=[400, 200, 120], moved=1, moved_memory=0.5)
    # A job that has just been paused is not started at once: it waits for the end of job 1 at 110.
    assert _run(trace, "GreedyP*/OPT=MIN") == Expected(ends=[490, 110, 120], resumed=1, resumed_memory=0.5)


def test_periodic_mapping_alone_lets_jobs_wait() -> None:
    """dfrs F44, A29: the first period is at 0. At 600 the load is 1.5: job 2 ends after 30 s, and job 1 has done 20."""
    trace = _trace(1, (0, 1, 1, 0.1, 50), (10, 1, 1, 0.1, 100), (600, 1, 0.5, 0.1, 20))
    assert _run(trace, "/per/OPT=MIN").ends == pytest.approx([50, 710, 630])


def test_the_penalty_applies_at_a_period() -> None:
    """dfrs F44: job 1 of the higher priority starts at 600, and job 0 is paused. It is resumed at 1200."""
    trace = _trace(1, (0, 1, 1, 0.6, 1000), (10, 1, 1, 0.6, 100))
    assert _run(trace, "/per/OPT=MIN") == Expected(ends=[1900, 700], resumed=1, resumed_memory=0.6)
    # The opportunistic start at 700 is 500 s earlier.
    assert _run(trace, "Greedy*/per/OPT=MIN").ends == pytest.approx([1400, 700])


def test_a_submission_at_a_period_is_left_to_the_mapping() -> None:
    """dfrs A29: job 1 is on the first node, as it has more memory; greedily it would be on the second one."""
    trace = _trace(2, (0, 1, 1, 0.4, 1000), (600, 1, 1, 0.5, 100))
    seen: dict[float, dict[int, list[int]]] = {}

    def watch(instant: Instant) -> None:
        seen[instant.now] = {job: nodes.tolist() for job, nodes in instant.nodes.items()}

    run_online(trace, parse("GreedyP/per/OPT=MIN"), watch=watch)
    assert seen[0] == {0: [0]}
    assert seen[600] == {0: [1], 1: [0]}


@pytest.mark.parametrize("bound", ["MVT=600", "MFT=300"])
def test_young_jobs_keep_their_nodes(bound: str) -> None:
    """dfrs F46, A21: without a bound job 0 moves to the second node at 10, and back at 110."""
    trace = _trace(2, (0, 1, 1, 0.4, 100), (10, 1, 1, 0.5, 100))
    assert _run(trace, "MCB*/OPT=MIN") == Expected(ends=[500, 110], moved=2, moved_memory=0.8)
    assert _run(trace, f"MCB*/OPT=MIN/{bound}") == Expected(ends=[100, 110])


def test_bounds_are_measured_in_flow_time_or_virtual_time() -> None:
    """dfrs A21: at 100 job 0 has a flow time of 100 and, sharing its node with job 1, a virtual time of 50."""
    rows = (0, 1, 1, 0.3, 90), (0, 1, 1, 0.3, 90), (100, 1, 1, 0.5, 10)
    moved = {bound: _run(_trace(1, *rows), f"MCB*/OPT=MIN/{bound}").moved for bound in ("MFT=60", "MVT=60")}
    assert moved == {"MFT=60": 0, "MVT=60": 0}
    wide = ((0, 1, 1, 0.4, 90), (0, 1, 1, 0.3, 900), (0, 1, 1, 0.3, 900), (0, 1, 1, 0.3, 900), (100, 1, 1, 0.5, 10))
    moved = {bound: _run(_trace(2, *wide), f"MCB*/OPT=MIN/{bound}").moved for bound in ("MFT=60", "MVT=60")}
    assert moved["MVT=60"] < moved["MFT=60"]


def test_moved_memory_is_that_of_tasks_that_leave_a_node() -> None:
    """dfrs F59, A30: of two tasks of job 0, one makes room for job 1 of the larger memory on the first node."""
    trace = _trace(3, (0, 2, 1, 0.4, 100), (10, 1, 1, 0.5, 1000))
    found = _run(trace, "MCB/per/OPT=MIN")
    assert found.moved == 1 and found.moved_memory == pytest.approx(0.4)


@pytest.mark.parametrize("name", ["/stretch-per/OPT=AVG", "/stretch-per/OPT=MAX"])
def test_mapping_by_stretch_shares_equally_among_equal_stretches(name: str) -> None:
    """dfrs F50, A24: at 600 the jobs get equal shares, as their stretches are equal. Job 0 had the node until then."""
    alone = _run(_trace(1, (0, 1, 1, 0.1, 100)), name)
    assert alone == Expected(ends=[100])
    found = _run(_trace(1, (0, 1, 1, 0.1, 500), (0, 1, 1, 0.1, 500)), "/stretch-per/OPT=MAX")
    assert found.ends == pytest.approx([1000, 1000], rel=0.03)


def test_an_idle_cluster_waits_for_the_next_job() -> None:
    """dfrs A29: periods without jobs change nothing; 1e6 is not one, 1,000,200 is."""
    trace = _trace(1, (0, 1, 1, 0.1, 50), (1_000_000, 1, 1, 0.1, 50))
    assert _run(trace, "/per/OPT=MIN").ends == pytest.approx([50, 1_000_250])


def test_a_trace_without_jobs_has_an_empty_schedule() -> None:
    nothing = Trace(1, np.empty(0), np.empty(0, np.int64), *(np.empty(0) for _ in range(3)))
    assert len(_run(nothing, "GreedyP*/per/OPT=MIN").ends) == 0
    assert len(_run(nothing, "/stretch-per/OPT=AVG").ends) == 0


@pytest.mark.parametrize(
    ("penalty", "period", "field"),
    [(-1, 600, "penalty"), (np.nan, 600, "penalty"), (300, 300, "period"), (0, np.inf, "period")],
)
def test_wrong_options_are_refused(penalty: float, period: float, field: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        run_online(_MEMORY_FOR_ONE, parse("/per/OPT=MIN"), penalty=penalty, period=period)
    assert refused.value.field == field


def test_as_in_an_engine_jobs_end_at_whole_seconds() -> None:
    """dfrs 3.3, A29: job 0 has done 10 s at 10; three jobs get 0.333 each.

    Jobs 1 and 2 need 30 / 0.333 = 90.09 s and end at 101. Then job 0 has done 10 + 91 x 0.333 = 40.303 s, and ends
    59.697 s later, which is rounded up.
    """
    trace = _trace(1, (0, 1, 1, 0.3, 100), (10, 1, 1, 0.3, 30), (10, 1, 1, 0.3, 30))
    seen: list[Instant] = []
    found = run_online(trace, parse("Greedy*/OPT=MIN"), whole=True, watch=seen.append)
    assert found.ends.tolist() == [161, 101, 101]
    assert [each.yields for each in seen] == [{0: 1.0}, {0: 0.333, 1: 0.333, 2: 0.333}, {0: 1.0}, {}]


@pytest.mark.parametrize(
    ("field", "trace", "period"),
    [
        (r"release\[1\]", _trace(1, (0, 1, 1, 0.3, 100), (0.5, 1, 1, 0.3, 100)), 600),
        (r"processing\[0\]", _trace(1, (0, 1, 1, 0.3, 0.1)), 600),
        ("period", _trace(1, (0, 1, 1, 0.3, 1)), 600.5),
    ],
)
def test_whole_seconds_need_times_that_are_whole(field: str, trace: Trace, period: float) -> None:
    with pytest.raises(InvalidValueError, match=f"{field}: must be whole seconds"):
        run_online(trace, parse("/per/OPT=MIN"), period=period, whole=True)
