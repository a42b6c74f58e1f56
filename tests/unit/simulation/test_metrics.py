"""Metrics of a run, on leases small enough to check by hand (haizea F82-F84, section 4.19)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.result import Occupation, Phase, RunResult

BEST_EFFORT, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE
RESERVATION, IMMEDIATE = LeaseKind.RESERVATION, LeaseKind.IMMEDIATE
HOST = Resources({"VCPU": 4, "MEMORY_MB": 1024})
ZERO = 1_000


def lease(
    lease_id: str,
    kind: LeaseKind = BEST_EFFORT,
    *,
    submitted: int = 0,
    duration: int = 100,
    nodes: int = 1,
    vcpus: int = 4,
    start: int | None = None,
    deadline: int | None = None,
    state: LeaseState = LeaseState.DONE,
    started: int | None = None,
    ended: int | None = None,
    accumulated: int = 0,
    price: float | None = None,
    rate: str | None = None,
) -> Lease:
    """Return a lease; instants count from the run's zero."""

    def instant(seconds: int | None) -> int | None:
        return None if seconds is None else ZERO + seconds

    request = LeaseRequest(
        lease_id,
        kind,
        (NodeSet(nodes, Resources({"VCPU": vcpus, "MEMORY_MB": 1})),),
        ZERO + submitted,
        duration,
        start=instant(start),
        deadline=instant(deadline),
        extras={} if rate is None else {"simul_userrate": rate},
    )
    return Lease(request, 0, state, accumulated, instant(started), instant(ended), grant=Grant(price=price))


def held(lease_id: str, phase: Phase, start: int, end: int, *hosts: int) -> Occupation:
    return Occupation(lease_id, phase, ZERO + start, ZERO + end, hosts)


def run(
    leases: Sequence[Lease],
    occupations: Sequence[Occupation] = (),
    *,
    hosts: int = 2,
    end: int = 100,
    last_submission: int = 0,
) -> RunResult:
    site = Site.homogeneous(hosts, HOST)
    return RunResult(
        "test", site, tuple(leases), tuple(occupations), {}, ZERO, ZERO + end, ZERO + last_submission, 0.0, 0
    )


def test_waiting_time_counts_from_submission_or_requested_start() -> None:
    """haizea F83: best-effort and immediate wait from their submission, deadline leases from their requested start."""
    leases = [
        lease("a", submitted=10, started=35),
        lease("b", IMMEDIATE, submitted=10, started=10),
        lease("c", DEADLINE, submitted=10, start=50, deadline=500, started=80),
        lease("d", RESERVATION, submitted=10, start=50, started=50),
        lease("e", submitted=10, state=LeaseState.QUEUED),
    ]
    assert metrics.waiting_times(leases) == pytest.approx([25, 0, 30, math.nan, math.nan], nan_ok=True)


def test_bounded_slowdown_divides_by_the_accumulated_run_time() -> None:
    """haizea F83, section 4.19: the denominator of the program of 2010."""
    assert metrics.bounded_slowdowns([lease("a", submitted=10, ended=310, accumulated=100)]).tolist() == [3.0]


def test_bounded_slowdown_divides_by_the_dedicated_run_time_where_it_is_known() -> None:
    """haizea F83, section 4.19: the denominator of the publication; other leases keep the accumulated run time."""
    leases = [lease("a", ended=300, accumulated=120), lease("b", ended=300, accumulated=120)]
    assert metrics.bounded_slowdowns(leases, {"a": 100}).tolist() == [3.0, 2.5]


@pytest.mark.parametrize("run_time", [0, 1, 9, 10])
def test_short_runs_count_as_ten_seconds(run_time: int) -> None:
    """haizea F83, section 8.3: also a lease that was cancelled at once, with nothing accumulated."""
    assert metrics.bounded_slowdowns([lease("a", ended=50, accumulated=run_time)]).tolist() == [5.0]


def test_bounded_slowdown_of_deadline_leases_uses_the_requested_start_and_duration() -> None:
    """haizea section 4.19: (end - requested start) / max(10, requested duration)."""
    leases = [
        lease("a", DEADLINE, start=100, duration=50, deadline=900, ended=250, accumulated=10),
        lease("b", DEADLINE, start=100, duration=4, deadline=900, ended=120, accumulated=4),
    ]
    assert metrics.bounded_slowdowns(leases, {"a": 1}).tolist() == [3.0, 2.0]


@pytest.mark.parametrize("state", [state for state in LeaseState if state is not LeaseState.DONE])
def test_only_leases_that_are_done_have_a_slowdown(state: LeaseState) -> None:
    assert np.isnan(metrics.bounded_slowdowns([lease("a", state=state, ended=50, accumulated=20)])).all()


def test_reservations_have_no_slowdown() -> None:
    assert np.isnan(metrics.bounded_slowdowns([lease("a", RESERVATION, start=5, ended=105, accumulated=100)])).all()


@pytest.mark.parametrize(("count", "left"), [(0, 0), (1, 1), (19, 19), (20, 19), (39, 38), (40, 38), (5_108, 4_853)])
def test_the_first_five_per_cent_are_left_out(count: int, left: int) -> None:
    """haizea section 4.19: discarded in order of submission, ramp-down kept."""
    leases = [lease(str(number), submitted=0, started=number, ended=count + 1) for number in range(count)]
    measured = metrics.measurements(leases)
    assert len(measured) == left
    assert measured.waiting.tolist() == list(range(count - left, count))


def test_measurements_are_of_one_kind_and_of_done_leases() -> None:
    leases = [
        lease("a", nodes=3, duration=7_200, started=0, ended=9_000, accumulated=4_500),
        lease("b", state=LeaseState.FAILED, started=0, ended=9),
        lease("c", IMMEDIATE, started=0, ended=9),
        lease("d", state=LeaseState.QUEUED),
    ]
    measured = metrics.measurements(leases)
    assert measured.requested_duration.tolist() == [7_200]
    assert measured.nodes.tolist() == [3]
    assert measured.cpu_hours.tolist() == [6]
    assert measured.waiting.tolist() == [0]
    assert measured.slowdown.tolist() == [2]
    assert len(metrics.measurements(leases, kind=IMMEDIATE)) == 1


@pytest.mark.parametrize("discard", [-0.1, 1.0, math.nan])
def test_a_share_out_of_bounds_is_refused(discard: float) -> None:
    with pytest.raises(InvalidValueError, match="discard: must be at least 0 and less than 1"):
        metrics.measurements([], discard=discard)
    with pytest.raises(InvalidValueError, match="ramp_up: must be at least 0 and less than 1"):
        metrics.average_utilisation(run([]), discard)


def test_the_mean_of_nothing_is_none() -> None:
    assert metrics.mean(np.array([])) is None
    assert metrics.mean(np.array([1.0, 4.0])) == 2.5


def test_spearman_gives_ties_their_mean_rank() -> None:
    """haizea section 5.1, check E1.3; ranks (1, 2.5, 2.5, 4) against (1, 2, 3, 4): 4.5 / sqrt(4.5 * 5)."""
    first, second = np.array([1.0, 5.0, 5.0, 9.0]), np.array([0.0, 1.0, 100.0, 101.0])
    assert metrics.spearman(first, second) == pytest.approx(math.sqrt(0.9))
    assert metrics.spearman(first, -second) == pytest.approx(-math.sqrt(0.9))


@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([1.0], [2.0]), ([1.0, 1.0], [2.0, 3.0]), ([1.0, 2], [3.0, 3])]
)
def test_spearman_of_too_few_or_equal_values_is_none(first: list[float], second: list[float]) -> None:
    assert metrics.spearman(np.array(first), np.array(second)) is None


def test_all_best_effort_counts_from_the_zero_of_the_run() -> None:
    """haizea sections 4.19 and 8.3: until the last best-effort lease is done, whatever other kinds do."""
    leases = [
        lease("a", submitted=40, ended=300),
        lease("b", submitted=50, ended=200),
        lease("c", RESERVATION, start=400, ended=500),
        lease("d", state=LeaseState.REJECTED, ended=600),
        lease("e", state=LeaseState.CANCELLED, ended=700),
    ]
    assert metrics.all_best_effort(run(leases)) == 300


def test_all_best_effort_of_a_cut_run_is_unknown() -> None:
    assert metrics.all_best_effort(run([lease("a", ended=300), lease("b", state=LeaseState.ACTIVE)])) is None
    assert metrics.all_best_effort(run([lease("a", RESERVATION, start=3, ended=300)])) is None


def test_every_lease_has_exactly_one_outcome() -> None:
    """haizea section 4.19, counts; every lease has exactly one outcome."""
    leases = [lease(str(number), state=state) for number, state in enumerate(LeaseState)]
    counts = metrics.count_leases(leases)
    assert counts == metrics.LeaseCounts(
        requested=19, accepted=17, rejected=2, rejected_by_user=1, done=1, cancelled=1, failed=1, unfinished=14
    )
    assert counts.rejected + counts.done + counts.cancelled + counts.failed + counts.unfinished == counts.requested


def test_counts_by_kind_follow_the_order_of_the_kinds() -> None:
    leases = [lease("a"), lease("b", RESERVATION, start=1, state=LeaseState.REJECTED), lease("c")]
    counts = metrics.count_by_kind(leases)
    assert list(counts) == [RESERVATION, BEST_EFFORT]
    assert counts[RESERVATION].accepted == 0
    assert counts[BEST_EFFORT].done == 2


def test_utilisation_counts_running_vms_only() -> None:
    """haizea F84, section 4.19: suspending, resuming and shutting down count as idle."""
    leases = [lease("a", nodes=2), lease("b", RESERVATION, start=20, vcpus=1)]
    occupations = [
        held("a", Phase.RUN, 0, 10, 0, 1),
        held("a", Phase.SUSPEND, 10, 20, 0, 1),
        held("b", Phase.RUN, 20, 60, 0),
        held("b", Phase.SHUTDOWN, 60, 70, 0),
        held("a", Phase.RESUME, 60, 80, 0, 1),
        held("a", Phase.RUN, 80, 100, 0, 1),
    ]
    result = run(leases, occupations)
    used = metrics.utilisation(result)
    assert used.times.tolist() == [0, 10, 20, 60, 80]
    assert used.values.tolist() == [1.0, 0.0, 0.125, 0.0, 1.0]
    assert used.end == 100
    assert metrics.utilisation(result, RESERVATION).values.tolist() == [0.0, 0.125, 0.0]


def test_utilisation_weighs_hosts_and_vms_by_their_vcpus() -> None:
    """haizea F84: two node sets of different VMs on two hosts of different size."""
    nodes = (NodeSet(1, Resources({"VCPU": 1})), NodeSet(2, Resources({"VCPU": 3})))
    request = LeaseRequest("a", BEST_EFFORT, nodes, ZERO, 50)
    site = Site.of([Host("small", Resources({"VCPU": 4})), Host("large", Resources({"VCPU": 10}))])
    occupation = Occupation("a", Phase.RUN, ZERO, ZERO + 50, (0, 0, 1))
    result = RunResult("test", site, (Lease(request, 0),), (occupation,), {}, ZERO, ZERO + 50, ZERO, 0.0, 0)
    assert metrics.utilisation(result).values.tolist() == [0.5]


def test_average_utilisation_leaves_out_ramp_up_and_ramp_down() -> None:
    """haizea F84, section 4.19: from 5 % of the time of submissions to the last submission."""
    occupations = [held("a", Phase.RUN, 5, 50, 0, 1), held("b", Phase.RUN, 100, 200, 0, 1)]
    result = run([lease("a", nodes=2), lease("b", nodes=2)], occupations, end=200, last_submission=100)
    assert metrics.average_utilisation(result) == pytest.approx(45 / 95)
    assert metrics.average_utilisation(result, ramp_up=0) == pytest.approx(0.45)


def test_with_all_submissions_at_zero_average_utilisation_covers_the_whole_run() -> None:
    assert metrics.average_utilisation(run([lease("a")], [held("a", Phase.RUN, 0, 50, 0)], end=100)) == 0.25
    assert metrics.average_utilisation(run([], end=0)) == 0.0


def test_a_site_without_vcpus_has_a_utilisation_of_zero() -> None:
    site = Site.homogeneous(1, Resources({"MEMORY_MB": 1}))
    result = RunResult("test", site, (lease("a"),), (held("a", Phase.RUN, 0, 9, 0),), {}, ZERO, ZERO + 9, ZERO, 0.0, 0)
    assert metrics.utilisation(result).average(0, 9) == 0.0


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 10), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=8
    )
)
def test_utilisation_equals_the_sum_over_every_second(runs: list[tuple[int, int, int, int]]) -> None:
    """haizea F84, against a count second by second."""
    leases = [lease(str(number), nodes=nodes, vcpus=vcpus) for number, (_, _, nodes, vcpus) in enumerate(runs)]
    occupations = [
        held(str(number), Phase.RUN, start, start + length, *range(nodes))
        for number, (start, length, nodes, _) in enumerate(runs)
    ]
    result = run(leases, occupations, hosts=3, end=40)
    expected = [
        sum(nodes * vcpus for start, length, nodes, vcpus in runs if start <= second < start + length) / 12
        for second in range(40)
    ]
    assert metrics.utilisation(result).averages(np.arange(41.0)) == pytest.approx(expected)


def test_queue_length_counts_leases_that_wait_and_that_are_suspended() -> None:
    leases = [
        lease("a", submitted=5, started=20, ended=95),
        lease("b", submitted=10, state=LeaseState.QUEUED),
        lease("c", RESERVATION, submitted=0, start=50, ended=60),
        lease("d", submitted=30, state=LeaseState.REJECTED, ended=30),
    ]
    occupations = [
        held("a", Phase.RUN, 20, 40, 0),
        held("a", Phase.SUSPEND, 40, 50, 0),
        held("c", Phase.RUN, 50, 60, 0),
        held("a", Phase.RESUME, 70, 80, 0),
        held("a", Phase.RUN, 80, 95, 0),
        # Its VMs shut down when it is already done.
        held("a", Phase.SHUTDOWN, 95, 98, 0),
    ]
    queue = metrics.queue_length(run(leases, occupations))
    assert queue.times.tolist() == [0, 5, 10, 20, 50, 70]
    assert queue.values.tolist() == [0, 1, 2, 1, 2, 1]


def test_revenue_parts_add_up_to_the_worth_of_all_requests() -> None:
    """haizea F82, section 4.19: rate times nodes times hours; four parts."""
    leases = [
        lease("a", nodes=2, duration=7_200, price=3.0, rate="1.00"),
        lease("b", duration=3_600, rate="0.50", state=LeaseState.REJECTED),
        lease("c", duration=1_800, price=9.0, rate="2.00", state=LeaseState.REJECTED_BY_USER),
    ]
    money = metrics.revenue(leases)
    assert money == metrics.Revenue(earned=3.0, undercharged=1.0, rejected=0.5, rejected_by_user=1.0)
    assert money.missed == 2.5
    assert money.earned + money.missed == 5.5


@pytest.mark.parametrize("rate", [None, "much", "nan", "inf"])
def test_a_lease_whose_users_rate_is_unknown_is_worth_its_price(rate: str | None) -> None:
    leases = [lease("a", price=3.0, rate=rate), lease("b", state=LeaseState.REJECTED, rate=rate)]
    assert metrics.revenue(leases) == metrics.Revenue(3.0, 0.0, 0.0, 0.0)


def test_without_prices_there_is_no_revenue() -> None:
    assert metrics.revenue([lease("a")]) is None


def test_an_empty_run_has_metrics_of_zero() -> None:
    empty = run([], end=0)
    assert len(metrics.waiting_times([])) == 0
    assert metrics.utilisation(empty).values.tolist() == [0.0]
    assert metrics.queue_length(empty).values.tolist() == [0.0]
    assert metrics.count_by_kind([]) == {}
