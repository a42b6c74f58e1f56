"""When leases are planned to be done, and when they are interrupted before that."""

from __future__ import annotations

import pytest

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.planned_end import latest_end, planned_end, preempted_at
from lease_scheduler.model.resources import VCPU, Resources

_TO_THE_END = Holding((0,), 0, 0, 100, 100)
_CUT = Holding((0,), 0, 0, 40, 45, Closing.SUSPEND)
_KILLED = Holding((0,), 0, 0, 40, 45, Closing.KILL)
_RESUMED = Holding((0,), 200, 210, 250, 260, Closing.SUSPEND)


def _lease(
    *holdings: Holding, accumulated: int = 0, active_since: int | None = None, deadline: int | None = None
) -> Lease:
    kind = LeaseKind.BEST_EFFORT if deadline is None else LeaseKind.DEADLINE
    start = None if deadline is None else 0
    request = LeaseRequest("1", kind, (NodeSet(1, Resources({VCPU: 1})),), 0, 100, start, deadline)
    return Lease(request, 0, accumulated=accumulated, active_since=active_since, holdings=holdings)


@pytest.mark.parametrize(
    ("lease", "end", "cut"),
    [
        (_lease(), None, None),
        (_lease(_TO_THE_END), 100, None),
        (_lease(_CUT), 45 + 60, 40),
        (_lease(_CUT, accumulated=25), 45 + 35, 40),
        (_lease(_CUT, active_since=10), 45 + 70, 40),
        (_lease(_CUT, _RESUMED), 260 + 20, 40),
        (_lease(_CUT, Holding((1,), 200, 200, 260, 260)), 260, 40),
        (_lease(_KILLED), 45 + 100, 40),
        (_lease(_KILLED, _RESUMED), 260 + 60, 40),
        (_lease(Holding((0,), 0, 0, 40, 40, Closing.SUSPEND, charged=15)), 40 + 75, 40),
    ],
    ids=["queued", "whole", "cut", "resumed", "late", "cut twice", "planned rest", "killed", "killed, cut", "charged"],
)
def test_the_end_is_that_of_all_of_the_work(lease: Lease, end: int | None, cut: int | None) -> None:
    assert (planned_end(lease), preempted_at(lease)) == (end, cut)


@pytest.mark.parametrize(
    ("lease", "end"),
    [
        (_lease(), None),
        (_lease(_TO_THE_END), 100),
        (_lease(_CUT), None),
        (_lease(_TO_THE_END, deadline=500), 100),
        (_lease(_CUT, deadline=500), 500),
        (_lease(deadline=500), 500),
    ],
)
def test_what_is_not_planned_ends_by_its_deadline_or_nobody_knows_when(lease: Lease, end: int | None) -> None:
    assert latest_end(lease) == end
