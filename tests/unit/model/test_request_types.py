"""The request types of shared sites as terms of leases (contention F3-F7)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import TERMS, RequestType, request_type
from lease_scheduler.model.resources import VCPU, Resources

_NODES = (NodeSet(1, Resources({VCPU: 1})),)


def _request(kind: LeaseKind, *, preemptible: bool, mode: PreemptionMode) -> LeaseRequest:
    start = 100 if kind.has_start else None
    deadline = 1_000 if kind is LeaseKind.DEADLINE else None
    return LeaseRequest("a", kind, _NODES, 0, 60, start, deadline, preemptible=preemptible, preemption_mode=mode)


@pytest.mark.parametrize(
    ("kind", "preemptible", "mode", "expected"),
    [
        pytest.param(LeaseKind.BEST_EFFORT, True, PreemptionMode.DELETE, RequestType.CANCELLABLE, id="F3"),
        pytest.param(LeaseKind.BEST_EFFORT, True, PreemptionMode.SHELVE, RequestType.SUSPENDABLE, id="F4 shelve"),
        pytest.param(LeaseKind.BEST_EFFORT, True, PreemptionMode.SUSPEND, RequestType.SUSPENDABLE, id="F4 suspend"),
        pytest.param(LeaseKind.DEADLINE, True, PreemptionMode.MIGRATE, RequestType.MIGRATABLE, id="F5"),
        pytest.param(LeaseKind.DEADLINE, False, PreemptionMode.NONE, RequestType.NON_PREEMPTABLE, id="F6"),
        pytest.param(LeaseKind.DEADLINE, False, PreemptionMode.MIGRATE, RequestType.NON_PREEMPTABLE, id="F6 any mode"),
        pytest.param(LeaseKind.DEADLINE, True, PreemptionMode.NONE, RequestType.NON_PREEMPTABLE, id="F6 mode none"),
        pytest.param(LeaseKind.RESERVATION, False, PreemptionMode.NONE, RequestType.LOCAL, id="F7"),
        pytest.param(LeaseKind.RESERVATION, True, PreemptionMode.SUSPEND, None, id="a reservation to be preempted"),
        pytest.param(LeaseKind.DEADLINE, True, PreemptionMode.DELETE, None, id="a deadline, yet killed"),
        pytest.param(LeaseKind.BEST_EFFORT, True, PreemptionMode.STOP, None, id="servers that stay on their hosts"),
        pytest.param(LeaseKind.BEST_EFFORT, False, PreemptionMode.NONE, None, id="best-effort, not preemptible"),
        pytest.param(LeaseKind.IMMEDIATE, False, PreemptionMode.NONE, None, id="immediate"),
    ],
)
def test_the_terms_of_a_request_say_its_type(
    kind: LeaseKind, preemptible: bool, mode: PreemptionMode, expected: RequestType | None
) -> None:
    assert request_type(_request(kind, preemptible=preemptible, mode=mode)) is expected


@pytest.mark.parametrize("wanted", list(RequestType))
def test_a_request_with_the_terms_of_a_type_has_that_type(wanted: RequestType) -> None:
    """contention F9: the permission to preempt is part of the terms."""
    terms = TERMS[wanted]
    for mode in terms.modes:
        assert request_type(_request(terms.kind, preemptible=terms.preemptible, mode=mode)) is wanted
