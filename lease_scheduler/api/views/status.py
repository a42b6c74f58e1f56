"""The words of Blazar for what becomes of a lease (anchors A.6)."""

from __future__ import annotations

from lease_scheduler.api.interfaces import Document
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.states import LeaseState

_TERMINATED = frozenset({LeaseState.DONE.value, LeaseState.CANCELLED.value, LeaseState.REJECTED_BY_USER.value})
_ERROR = frozenset({LeaseState.FAILED.value, LeaseState.REJECTED.value})
_WAITING = frozenset(
    state.value
    for state in (
        LeaseState.NEW,
        LeaseState.PENDING,
        LeaseState.QUEUED,
        LeaseState.SCHEDULED,
        LeaseState.PREPARING,
        LeaseState.READY,
    )
)
_ALL = frozenset(state.value for state in LeaseState)


def lease_status(view: Document) -> str:
    """The status of a lease: PENDING, STARTING, ACTIVE, TERMINATING, TERMINATED or ERROR."""
    state, operation = view["state"], view["operation"]
    if state in _ERROR:
        return "ERROR"
    if state in _TERMINATED:
        return "TERMINATED"
    if operation == OperationKind.STOP.value:
        return "TERMINATING"
    if operation == OperationKind.START.value:
        return "STARTING"
    return "PENDING" if state in _WAITING and view["started"] is None else "ACTIVE"


def possible_states(status: str) -> list[str]:
    """The states in which a lease with this status may be."""
    if status == "ERROR":
        return sorted(_ERROR)
    if status == "TERMINATED":
        return sorted(_TERMINATED)
    if status == "PENDING":
        return sorted(_WAITING)
    return sorted(_ALL - _ERROR - _TERMINATED)
