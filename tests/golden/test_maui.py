"""A batch scheduler from outside drives a broker (Grit 2007, section 4.8.3; shirako A40, A41, E4, F82-F86).

The thesis turns Maui into the controller of a broker and leaves its scheduling alone. Here it is a queueing policy that
knows only jobs: their class of service, their quality of service, and when they arrived. The broker's nodes come from
tickets of providers, so each node is there from the start of its ticket to its end. Outside of it, a reservation of the
system holds the node, which is all that a batch scheduler needs to know of tickets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_NODE = Resources({VCPU: 1})
#: Longer than all jobs of a test one after the other.
_FOR_EVER = 10_000
#: When all reservations of the system end, and with them a run.
_END = 2 * _FOR_EVER

Ticket = tuple[int, int]
Span = tuple[int, int]


class Maui(QueueingPolicy):
    """Orders jobs by the class of their virtual cluster, then by their quality of service, then as they arrived (A40).

    The planner reserves the earliest place of the first job that does not fit, and backfills behind it.
    """

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        return map(Turn, sorted(queue.queued, key=_rank))


def _rank(lease: Lease) -> tuple[int, int, int]:
    extras = lease.request.extras
    return int(extras["class"]), -int(extras["quality"]), lease.sequence


def _job(name: str, nodes: int, duration: int, *, at: int = 0, grade: int = 0, quality: int = 0) -> WorkloadLease:
    """Return the lease that is a job of as many slots and as long (A41)."""
    return WorkloadLease(
        LeaseRequest(
            name,
            LeaseKind.BEST_EFFORT,
            (NodeSet(nodes, _NODE, per_host=1),),
            at,
            duration,
            extras={"class": str(grade), "quality": str(quality)},
        )
    )


def _absences(number: int, ticket: Ticket) -> list[WorkloadLease]:
    """Return the reservations of the system that hold a node before its ticket starts and after it has ended."""
    held = NodeSet(1, _NODE, hosts=frozenset({f"host-{number}"}))
    return [
        WorkloadLease(
            LeaseRequest(f"no ticket {number} {start}", LeaseKind.RESERVATION, (held,), 0, end - start, start)
        )
        for start, end in ((0, ticket[0]), (ticket[1], _END))
        if start < end
    ]


def _run(tickets: list[Ticket], jobs: list[WorkloadLease], backfilling_limit: int = 1) -> Run:
    absences = [absence for number, ticket in enumerate(tickets, 1) for absence in _absences(number, ticket)]
    leases = (*absences, *sorted(jobs, key=lambda job: job.request.submitted))
    settings = RunSettings(planning=PlanningOptions(backfilling_limit=backfilling_limit, suspension=Suspension.NONE))
    run = Run(Workload("broker", leases, Site.homogeneous(len(tickets), _NODE)), settings)
    run.engine.use(replace(run.engine.policies, queueing=Maui(PolicyOptions())))
    return run


def _spans(run: Run) -> dict[str, dict[int, Span]]:
    """Run to the end, and return from when to when each job was on each of its nodes."""
    spans: dict[str, dict[int, Span]] = {}
    _note(run, spans)
    while (event := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), event))
        run.step()
        _note(run, spans)
    return spans


def _note(run: Run, spans: dict[str, dict[int, Span]]) -> None:
    """Note on which nodes jobs are now. The span of one that goes on ends later than now."""
    now = run.clock.now()
    for lease in run.engine.live_leases():
        if lease.active_since is not None and lease.request.kind is LeaseKind.BEST_EFFORT:
            (holding,) = lease.holdings
            for host in holding.assignment:
                start, _ = spans.setdefault(lease.lease_id, {}).setdefault(host + 1, (now, now))
                spans[lease.lease_id][host + 1] = (start, holding.end)


def test_a_job_goes_to_nodes_whose_tickets_last_longer() -> None:
    """Node 1 is free and comes first, but its ticket ends before the long job would."""
    spans = _spans(_run([(0, 10), (0, 100)], [_job("long", 1, 20), _job("short", 1, 10)]))

    assert spans == {"long": {2: (0, 20)}, "short": {1: (0, 10)}}


def test_the_pool_grows_and_shrinks() -> None:
    """The wide job waits for the ticket of node 3. A job of ten ticks backfills before it, one of fifteen does not."""
    spans = _spans(
        _run(
            [(0, 30), (0, _FOR_EVER), (10, 30)],
            [_job("wide", 3, 20), _job("fifteen", 1, 15), _job("ten", 1, 10)],
        )
    )

    assert spans == {
        "ten": {1: (0, 10)},
        "wide": {1: (10, 30), 2: (10, 30), 3: (10, 30)},
        "fifteen": {2: (30, 45)},
    }


@pytest.mark.parametrize(
    ("backfilling_limit", "order"),
    [(0, ["now", "best", "first", "second", "late"]), (1, ["now", "late", "best", "first", "second"])],
)
def test_the_batch_scheduler_decides_the_order(backfilling_limit: int, order: list[str]) -> None:
    """By class, then by quality of service, then by arrival. A job keeps the place that was reserved for it."""
    jobs = [
        _job("now", 1, 5),
        _job("late", 1, 5, at=1, grade=1, quality=9),
        _job("first", 1, 5, at=2, grade=0, quality=1),
        _job("second", 1, 5, at=3, grade=0, quality=0),
        _job("best", 1, 5, at=3, grade=0, quality=2),
    ]
    spans = _spans(_run([(0, _FOR_EVER)], jobs, backfilling_limit))

    assert sorted(spans, key=lambda name: spans[name][1]) == order


def test_a_job_that_no_ticket_lasts_for_waits() -> None:
    """Both nodes are there from 5 to 10 only. After ``_END`` the system holds nothing any more."""
    spans = _spans(_run([(0, 10), (5, 15)], [_job("wide", 2, 6), _job("narrow", 1, 6)]))

    assert spans == {"narrow": {1: (0, 6)}, "wide": {1: (_END, _END + 6), 2: (_END, _END + 6)}}


def test_an_extension_stays_on_its_nodes() -> None:
    """An extension is not elastic in time (F85): the job goes on where it is, or the extension is refused."""
    run = _run([(0, 30), (0, _FOR_EVER)], [_job("job", 1, 20), _job("other", 1, 40)])
    run.step()
    (job,) = (lease for lease in run.engine.live_leases() if lease.lease_id == "job")
    assert job.holdings[0].assignment == (0,)

    with pytest.raises(NoPlaceError):
        run.engine.change("job", replace(job.request, duration=31))
    run.engine.change("job", replace(job.request, duration=30))

    assert _spans(run) == {"job": {1: (0, 30)}, "other": {2: (0, 40)}}


_TICKETS = st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda ticket: (ticket[0], sum(ticket)))


@st.composite
def _jobs(draw: st.DrawFn) -> list[WorkloadLease]:
    return [
        _job(
            f"job-{number}",
            draw(st.integers(1, 3)),
            draw(st.integers(1, 25)),
            at=draw(st.integers(0, 30)),
            grade=draw(st.integers(0, 1)),
            quality=draw(st.integers(0, 2)),
        )
        for number in range(draw(st.integers(1, 8)))
    ]


@given(st.lists(_TICKETS, min_size=1, max_size=3), _jobs())
def test_no_job_is_on_a_node_without_a_ticket(tickets: list[Ticket], jobs: list[WorkloadLease]) -> None:
    """Nor has a node two jobs at once. Three nodes stay for good, so every job ends."""
    tickets = [*tickets, *[(0, _FOR_EVER)] * 3]
    durations = {job.request.lease_id: job.request.duration for job in jobs}

    spans = _spans(_run(tickets, jobs))

    assert set(spans) == set(durations)
    on_node: dict[int, list[Span]] = {}
    for name, nodes_of in spans.items():
        for node, (start, end) in nodes_of.items():
            first, last = tickets[node - 1]
            assert first <= start < end <= last, f"{name} is on {node} from {start} to {end}; the ticket: {first, last}"
            assert end - start == durations[name]
            on_node.setdefault(node, []).append((start, end))
    for taken in on_node.values():
        for (_, end), (start, _) in pairwise(sorted(taken)):
            assert end <= start
