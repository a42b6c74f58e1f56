"""What the history tells projects about moves and victims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.history import move_of, reason_of


def _name(host: int) -> str:
    return f"compute-{host}"


def _lease(lease_id: str, kind: LeaseKind, start: int, end: int, *hosts: int, **said: Any) -> Lease:
    nodes = (NodeSet(len(hosts), Resources({VCPU: 1})),)
    terms: dict[str, Any] = {"start": None if kind is LeaseKind.BEST_EFFORT else start}
    if kind is LeaseKind.DEADLINE:
        terms["deadline"] = end
    request = LeaseRequest(lease_id, kind, nodes, 0, duration=end - start, **terms)
    reservation = Holding(hosts, start, start, end, end)
    return Lease(request, int(lease_id), LeaseState.SCHEDULED, holdings=(reservation,), **said)


def _document(lease_id: str, project_id: str, **said: Any) -> LeaseDocument:
    return LeaseDocument(lease_id, f"lease {lease_id}", project_id, "user", 0, **said)


_BEFORE = _lease("1", LeaseKind.RESERVATION, 100, 200, 7, 8)
_AFTER = replace(_BEFORE, holdings=(replace(_BEFORE.holdings[0], assignment=(9, 8)),))
_MAINTENANCE = _lease("2", LeaseKind.RESERVATION, 150, 300, 7)
_DOCUMENTS = {"1": _document("1", "ada"), "2": _document("2", "operators", maintenance=True)}


def test_who_moves_for_a_maintenance_is_told_of_which_host() -> None:
    told = move_of(_BEFORE, _AFTER, [_AFTER, _MAINTENANCE], _DOCUMENTS, _name)
    assert told == "moved: maintenance of compute-7 (from compute-7 to compute-9)"


@pytest.mark.parametrize(
    ("other", "reason", "why"),
    [
        (_lease("2", LeaseKind.RESERVATION, 200, 300, 7), "", "planned anew"),
        (_lease("2", LeaseKind.RESERVATION, 150, 300, 6), "host compute-7 is down", "host compute-7 is down"),
    ],
    ids=["later", "elsewhere"],
)
def test_a_maintenance_that_is_not_in_the_way_is_no_reason(other: Lease, reason: str, why: str) -> None:
    after = replace(_AFTER, reason=reason)
    told = move_of(_BEFORE, after, [after, other], _DOCUMENTS, _name)
    assert told == f"moved: {why} (from compute-7 to compute-9)"


def test_who_stays_or_ends_does_not_move() -> None:
    assert move_of(_BEFORE, _BEFORE, [_MAINTENANCE], _DOCUMENTS, _name) == ""
    assert move_of(_BEFORE, replace(_AFTER, state=LeaseState.DONE), [_MAINTENANCE], _DOCUMENTS, _name) == ""
    assert move_of(None, _AFTER, [_MAINTENANCE], _DOCUMENTS, _name) == ""


@pytest.mark.parametrize(
    ("kind", "document", "cause"),
    [
        (LeaseKind.RESERVATION, _document("2", "bob"), "a reservation of another project"),
        (LeaseKind.RESERVATION, _document("2", "ada"), "a reservation of the same project"),
        (LeaseKind.DEADLINE, _document("2", "bob"), "a deadline lease of another project"),
        (LeaseKind.RESERVATION, _DOCUMENTS["2"], "maintenance of its hosts"),
    ],
)
def test_who_is_suspended_is_told_for_whom(kind: LeaseKind, document: LeaseDocument, cause: str) -> None:
    before = _lease("1", LeaseKind.BEST_EFFORT, 0, 1000, 7)
    after = replace(
        before,
        state=LeaseState.SUSPENDING,
        holdings=(replace(before.holdings[0], run_end=140, end=150),),
    )
    other = _lease("2", kind, 150, 300, 7)
    documents = {"1": _document("1", "ada"), "2": document}
    assert reason_of(before, after, [after, other], documents) == f"suspended for {cause}"
