"""The policies priority and edf."""

from __future__ import annotations

from collections.abc import Callable

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.edf import EarliestDeadlineFirst
from lease_scheduler.policy.queueing.priority import Priority
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import Book

MakeBook = Callable[[object], Book]


def test_priority_serves_the_higher_weight_first(make_book: MakeBook) -> None:
    """shirako F66, F96: projects by weight, then leases of equal weight by their own priority and by submission."""
    book = make_book(Priority(PolicyOptions()))
    book.weights = {"high": 5.0}
    book.queue("low")
    book.queue("low", extras={"priority": "7"})
    book.queue("high")
    book.queue("low", extras={"priority": "not a number"})
    book.queue("low", extras={"priority": "nan"})

    assert book.turns(0) == ["3", "2", "1", "4", "5"]


def test_the_earliest_deadline_is_served_first(make_book: MakeBook) -> None:
    """shirako F67."""
    book = make_book(EarliestDeadlineFirst(PolicyOptions()))
    book.queue("a", duration=100)
    book.queue("a", now=10, duration=50)
    book.queue("a", now=10, extras={"due_within": "20"})
    book.queue("a", now=10, extras={"due_within": "-1"})

    assert book.turns(10) == ["3", "2", "1", "4"]


def _lease(lease_id: str, user: str, submitted: int, duration: int) -> WorkloadLease:
    nodes = (NodeSet(10, Resources({VCPU: 100})),)
    return WorkloadLease(LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, nodes, submitted, duration, user=user))


def test_priority_inversion_lasts_for_the_term_of_the_lower_priority() -> None:
    """shirako G15: which lease is served first when the site is free again; running leases are not preempted."""
    site = Site.homogeneous(10, Resources({VCPU: 100}))
    settings = RunSettings(
        policies={"queueing": "priority"}, planning=PlanningOptions(backfilling_limit=0), flow_weights={"high": 2.0}
    )
    for term, starts in ((72, 72), (12, 12)):
        low = [_lease(f"low-{number}", "low", 0, term) for number in range(72 // term)]
        workload = Workload("inversion", (*low, _lease("high", "high", 10, 5)), site)

        result = Run(workload, settings).execute()

        assert {lease.lease_id: lease.started for lease in result.leases}["high"] == starts
